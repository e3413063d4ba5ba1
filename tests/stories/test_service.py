"""A web service whose process is killed: whoever had a confirmation is still there, with the payload."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SERVICE = Path(__file__).with_name("service.py")


@contextmanager
def running(folder: Path) -> Iterator[HTTPConnection]:
    """A connection to the service, which is killed at the end."""
    process = subprocess.Popen([sys.executable, SERVICE, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    connection = HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=60)
    try:
        yield connection
    finally:
        connection.close()
        process.kill()
        process.wait()
        process.stdout.close()


def ask(connection: HTTPConnection, what: str, body: Any) -> tuple[int, Any]:
    connection.request("POST", f"/{what}", json.dumps(body))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def wanted(rules: dict[str, tuple[str, int]], event: dict[str, Any]) -> list[list[Any]]:
    """What a service must answer, in plain Python."""
    return [
        [name, {"mail": f"{name}@example.org"}]
        for name, (symbol, limit) in rules.items()
        if event["symbol"] == symbol and event["price"] < limit
    ]


def test_a_service_that_is_killed_and_started_again_gives_the_same_answers(tmp_path):
    rng = Random(5)
    rules: dict[str, tuple[str, int]] = {}
    events = [{"symbol": f"S{rng.randrange(5)}", "price": rng.randrange(100)} for _ in range(40)]
    before: list[tuple[int, Any]] = [(200, []) for _ in events]
    for begun in (0, 150, 300):  # each time on what the one before has left
        with running(tmp_path) as service:
            assert [ask(service, "match", event) for event in events] == before
            if begun == 300:
                break
            for number in range(begun, begun + 150):
                symbol, limit = f"S{rng.randrange(5)}", rng.randrange(100)
                filter = f"symbol = '{symbol}' and price < {limit}"
                payload = {"mail": f"alert-{number}@example.org"}
                body = {"id": f"alert-{number}", "filter": filter, "payload": payload}
                assert ask(service, "subscribe", body) == (200, [])
                rules[f"alert-{number}"] = (symbol, limit)
            for name in rng.sample(sorted(rules), 30):
                assert ask(service, "unsubscribe", {"id": name})[0] == 200
                del rules[name]
            status, (reason,) = ask(service, "subscribe", {"id": "x", "filter": "price <", "payload": None})
            assert status == 400
            assert "Expected" in reason
            before = [ask(service, "match", event) for event in events]
        assert before == [(200, wanted(rules, event)) for event in events]
        assert any(found for _, found in before)
