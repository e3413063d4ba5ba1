"""A small web service: clients leave filters with payloads, and post events to learn whose filters match.

Usage: python service.py FOLDER; it prints its port. All that it has confirmed is in the folder's databases.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import thatch


class AlertService:
    """Subscriptions in a `TieredEngine`, and what they carry in a table beside it."""

    def __init__(self, folder: Path) -> None:
        self.engine = thatch.TieredEngine(thatch.SqliteStore(folder / "alerts.db"), budget=40_000_000)
        self.payloads = sqlite3.connect(folder / "payloads.db")
        self.payloads.execute("create table if not exists payloads (id text primary key, payload text)")

    def subscribe(self, asked: dict[str, Any]) -> list[Any]:
        with self.payloads:
            self.payloads.execute(
                "insert or replace into payloads values (?, ?)", (asked["id"], json.dumps(asked["payload"]))
            )
        self.engine.subscribe(asked["id"], asked["filter"])
        return []

    def unsubscribe(self, asked: dict[str, Any]) -> list[Any]:
        self.engine.unsubscribe(asked["id"])
        return []

    def match(self, event: dict[str, Any]) -> list[Any]:
        return [[name, self._payload(name)] for name in self.engine.match(event)]

    def _payload(self, name: str) -> Any:
        (found,) = self.payloads.execute("select payload from payloads where id = ?", (name,)).fetchone()
        return json.loads(found)


def make_handler(service: AlertService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, answer = 200, getattr(service, self.path.strip("/"))(body)
            except thatch.ThatchError as error:
                status, answer = 400, [str(error)]
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    return Handler


def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), make_handler(AlertService(Path(sys.argv[1]))))
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
