"""A peer's process, seen from outside: requests as `session.py` takes them, costs, peak memory, and its end."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from timing import Cost

TIMEOUT_S = 600


class PeerFailed(Exception):
    """What a peer said instead of an answer."""


class PeerProcess:
    """Started by the first request, and again by the next one after it died. Each process has a folder of its own, which
    goes with it."""

    def __init__(self, command, cores, scratch):
        """`command` is made from the folder; `cores` are the processors that it may run on."""
        self.command = command
        self.cores = cores
        self.scratch = scratch
        self.opened = []
        self.version = None
        self.child = None

    def start(self):
        self.folder = tempfile.mkdtemp(dir=self.scratch)
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.child = subprocess.Popen(
            [str(word) for word in self.command(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=self.folder,
            env=dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parent)),
            preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
        )
        self.version = self.receive()["version"]
        for request in self.opened:
            self.exchange(request)

    def stop(self):
        if self.child is None:
            return
        self.child.kill()
        self.child.wait()
        for stream in [self.child.stdin, self.child.stdout, self.log]:
            stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.child = None

    def receive(self):
        timer = threading.Timer(TIMEOUT_S, self.child.kill)
        timer.start()
        line = self.child.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        code = self.child.wait()
        self.log.seek(0)
        last = self.log.read().strip().splitlines()[-1:] or ["no message"]
        self.stop()
        raise PeerFailed(f"died with code {code}: {last[0]}")

    def exchange(self, request):
        try:
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass  # There is no answer then, and the reason is found there.
        reply = self.receive()
        if "error" in reply:
            raise PeerFailed(reply["error"])
        return reply

    def ask(self, request):
        """Cost and rows."""
        if self.child is None:
            self.start()
        Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")
        reply = self.exchange(request)
        return Cost(reply["wall_ms"], reply["cpu_ms"], self.peak_mib()), reply["rows"]

    def open(self, table):
        """Opens a table, as described in `catalog.json`, in this process and in those that follow it."""
        request = {"open": table["name"], "metadata": table["metadata"], "location": table["location"]}
        cost, _ = self.ask(request)
        self.opened.append(request)
        return cost

    def peak_mib(self):
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
