"""A Python environment for each peer, made once, with pinned versions."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYARROW = "pyarrow==26.0.1"


@dataclass(frozen=True)
class Environment:
    name: str
    packages: tuple
    python: tuple = (3, 10)
    """The oldest version of Python that the packages take."""


DUCKDB = ("duckdb==1.5.5",) + tuple(f"duckdb-extension-{name}==1.5.5" for name in ["avro", "httpfs", "iceberg"])

WRITER = "pyiceberg[sql-sqlite,pyiceberg-core]==0.12.0"

ENVIRONMENTS = [
    Environment("generator", ("tpchgen-cli==4.0.0", "duckdb==1.5.5", WRITER, PYARROW)),
    Environment("duckdb", DUCKDB + (PYARROW,)),
    Environment("polars", ("polars==2.1.0", "pyiceberg==0.12.0", PYARROW)),
    Environment("repark", ("repark==1.5.5", PYARROW), python=(3, 12)),
    Environment("sail", ("pysail==0.7.2", "pyspark-client==4.2.0", PYARROW)),
    Environment("chdb", ("chdb==4.4.0", "chdb-core==26.9.0", PYARROW)),
    Environment("datafusion", ("datafusion==55.0.0", PYARROW)),
]


class Unavailable(Exception):
    """Why a peer cannot be measured here."""


def version_of(python):
    """Major and minor version of an interpreter that runs; `None` of one that doesn't."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        output = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(map(int, output.stdout.split())) if output.returncode == 0 else None


def interpreter(oldest):
    """The first Python that is new enough: this one, those on the path, those of pyenv."""
    names = ["python3"] + [f"python3.{minor}" for minor in range(oldest[1], 15)]
    found = [sys.executable] + [path for path in map(shutil.which, names) if path]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found += sorted(str(path) for path in pyenv.glob("versions/3.*/bin/python"))
    for python in found:
        version = version_of(python)
        if version and version >= oldest:
            return python
    raise Unavailable("needs Python {}.{} or later".format(*oldest))


def prepare(environment, cache):
    """The interpreter of an environment, which is made where it is missing or of other versions."""
    folder = cache / "venvs" / environment.name
    python, stamp = folder / "bin/python", folder / "packages.txt"
    packages = "\n".join(environment.packages)
    if stamp.exists() and stamp.read_text() == packages:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {environment.name}", file=sys.stderr)
    commands = [
        [interpreter(environment.python), "-m", "venv", folder],
        [python, "-m", "pip", "install", "--quiet", *environment.packages],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr[-300:]]
            raise Unavailable(f"cannot be installed: {lines[-1]}")
    stamp.write_text(packages)
    return python
