"""Stores of both kinds, and subscriptions to put in them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from itertools import count
from math import inf
from pathlib import Path

import pytest

from thatch import parse
from thatch.stores import EmbeddedPostgres, PostgresStore, SqliteStore
from thatch.tiering.problem import ClusterRecord, Home, StoredSubscription

KINDS = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param(
        "postgres",
        id="postgres",
        marks=[pytest.mark.postgres, pytest.mark.slow, pytest.mark.xdist_group("postgres")],
    ),
]
Opener = Callable[..., SqliteStore | PostgresStore]
_numbers = count()


def opener(kind: str, request, tmp_path_factory) -> Opener:
    """What opens one and the same store again and again; a new one for every call of this."""
    if kind == "sqlite":
        path = tmp_path_factory.mktemp("store") / "subscriptions.db"
        return lambda **more: SqliteStore(path, **more)
    where = request.getfixturevalue("postgres").where
    namespace = f"store_{next(_numbers)}"
    return lambda **more: PostgresStore(where, namespace=namespace, **more)


def made(identity: str, text: str, subscriber: str | None = None, expires: float = inf, schema=None):
    return StoredSubscription(identity, parse(text, schema), text, subscriber, expires)


def cold(number: int = 0) -> Home:
    return Home(number, is_cold=True)


def record(number: int = 0, *, is_cold: bool = True) -> ClusterRecord:
    return ClusterRecord(number, "k", is_cold, 1, 2)


def kill(server: EmbeddedPostgres) -> None:
    """End a server all at once: SIGKILL, to it and to what it started."""
    first = int((server.folder / "postmaster.pid").read_text().split()[0])
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(first)], stdout=subprocess.PIPE, text=True, check=False
    )
    processes = [first, *map(int, listed.stdout.split())]
    for each in processes:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue
    while any(map(_runs, processes)):
        pass
    (server.folder / "postmaster.pid").unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for counts as ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
