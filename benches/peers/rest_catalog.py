"""The least of a REST catalog over PyIceberg's SQLite catalog, for peers that write through REST alone.

usage: rest_catalog.py DIR

Prints its address as the first line. Only for benches: no authentication, one request at a time.
"""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

from pyiceberg import exceptions
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder

STATUS = {
    exceptions.NoSuchTableError: (404, "NoSuchTableException"),
    exceptions.NoSuchNamespaceError: (404, "NoSuchNamespaceException"),
    exceptions.TableAlreadyExistsError: (409, "AlreadyExistsException"),
    exceptions.NamespaceAlreadyExistsError: (409, "AlreadyExistsException"),
    exceptions.CommitFailedException: (409, "CommitFailedException"),
}

NAMESPACE = r"/v1/namespaces/([^/]+)"


class NewTable:
    """What PyIceberg's catalog needs to know of a table that its first commit makes."""

    def __init__(self, identifier):
        self.identifier = identifier

    def name(self):
        return self.identifier


class RestCatalog:
    """One method per kind of request; each gives what is sent back, `None` for nothing."""

    def __init__(self, catalog):
        self.catalog = catalog
        self.routes = [
            ("GET", "/v1/config", lambda body: {"defaults": {}, "overrides": {}}),
            ("GET", "/v1/namespaces", self.namespaces),
            ("POST", "/v1/namespaces", self.create_namespace),
            ("GET|HEAD", NAMESPACE, self.namespace),
            ("GET", f"{NAMESPACE}/tables", self.tables),
            ("POST", f"{NAMESPACE}/tables", self.create_table),
            ("GET|HEAD", f"{NAMESPACE}/tables/([^/]+)", self.table),
            ("POST", f"{NAMESPACE}/tables/([^/]+)", self.commit),
            ("DELETE", f"{NAMESPACE}/tables/([^/]+)", self.drop_table),
            ("POST", f"{NAMESPACE}/tables/([^/]+)/metrics", lambda body, *name: None),
            ("POST", "/v1/transactions/commit", self.commit_transaction),
        ]

    def namespaces(self, body):
        return {"namespaces": [list(n) for n in self.catalog.list_namespaces()]}

    def create_namespace(self, body):
        self.catalog.create_namespace(tuple(body["namespace"]), body.get("properties") or {})
        return {"namespace": body["namespace"], "properties": {}}

    def namespace(self, body, name):
        return {"namespace": [name], "properties": self.catalog.load_namespace_properties(name)}

    def tables(self, body, namespace):
        tables = self.catalog.list_tables(namespace)
        return {"identifiers": [{"namespace": list(t[:-1]), "name": t[-1]} for t in tables]}

    def create_table(self, body, namespace):
        spec, order = body.get("partition-spec"), body.get("write-order")
        options = {
            "schema": Schema.model_validate(body["schema"]),
            "location": body.get("location"),
            "partition_spec": PartitionSpec.model_validate(spec) if spec else UNPARTITIONED_PARTITION_SPEC,
            "sort_order": SortOrder.model_validate(order) if order else UNSORTED_SORT_ORDER,
            "properties": body.get("properties") or {},
        }
        identifier = (namespace, body["name"])
        if not body.get("stage-create"):
            return self.described(self.catalog.create_table(identifier, **options))
        staged = self.catalog._create_staged_table(identifier, **options)
        for folder in ["metadata", "data"]:
            Path(staged.metadata.location.removeprefix("file://"), folder).mkdir(parents=True, exist_ok=True)
        return {"metadata": self.json(staged.metadata), "config": {}}

    def table(self, body, namespace, name):
        return self.described(self.catalog.load_table((namespace, name)))

    def drop_table(self, body, namespace, name):
        self.catalog.drop_table((namespace, name))

    def commit(self, body, namespace, name):
        body.setdefault("identifier", {"namespace": [namespace], "name": name})
        request = CommitTableRequest.model_validate(body)
        try:
            table = self.catalog.load_table((namespace, name))
        except exceptions.NoSuchTableError:
            table = NewTable((namespace, name))
        return self.described(self.catalog.commit_table(table, request.requirements, request.updates))

    def commit_transaction(self, body):
        for change in body["table-changes"]:
            identifier = change["identifier"]
            self.commit(change, ".".join(identifier["namespace"]), identifier["name"])

    def json(self, metadata):
        return json.loads(metadata.model_dump_json(by_alias=True, exclude_none=True))

    def described(self, table):
        return {"metadata-location": table.metadata_location, "metadata": self.json(table.metadata), "config": {}}

    def answer(self, method, path, body):
        """Status and what is sent."""
        for methods, pattern, action in self.routes:
            match = re.fullmatch(pattern, path)
            if match and re.fullmatch(methods, method):
                try:
                    reply = action(body, *map(unquote, match.groups()))
                except Exception as error:
                    code, kind = STATUS.get(type(error), (500, type(error).__name__))
                    return code, {"error": {"message": str(error), "type": kind, "code": code}}
                return (204, None) if reply is None or method == "HEAD" else (200, reply)
        return 404, {"error": {"message": f"no {method} {path}", "type": "NotFound", "code": 404}}


def handler(catalog):
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            """Says nothing."""

        def reply(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or "{}")
            with turn:
                code, reply = catalog.answer(self.command, urlparse(self.path).path, body)
            content = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_DELETE = reply

    return Handler


def main():
    directory = sys.argv[1]
    catalog = SqlCatalog("rest", uri=f"sqlite:///{directory}/catalog.db", warehouse=f"file://{directory}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(RestCatalog(catalog)))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


main()
