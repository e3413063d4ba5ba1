"""What Ctrl-C and SIGTERM end first when a command runs on Spark."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from thatch.app.cli import before_ending

__all__ = ["end_java_first"]


@contextmanager
def end_java_first(out: str) -> Iterator[None]:
    """While Spark starts: keep our handling of Ctrl-C, and let it end Java before the output folder is removed.

    Otherwise tasks would still write there, and calls to Java that were cut off would leave tracebacks, or hang. On other
    file systems only Java can remove the folder, so there Spark's own handling cancels the jobs.
    """
    if re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:", out):
        yield
        return
    before_ending.append(_end_java)
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if handler is not None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, handler)


def _end_java() -> None:
    """Kill Java, which would complain in many lines if it were asked, and remove its temporary files."""
    from thatch.pipeline.tasks import scratch_folder

    # Threads that talk to Java would complain, each in its way, that it is gone.
    logging.disable(logging.CRITICAL)
    threading.excepthook = _say_nothing
    setattr(socketserver.BaseServer, "handle_error", _say_nothing)  # noqa: B010 - that it may be set is not typed
    for number in _children():
        with suppress(OSError):
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
    shutil.rmtree(scratch_folder(), ignore_errors=True)


def _say_nothing(*_: object) -> None:
    pass


def _children() -> list[int]:
    """The processes that this one has started; where the system does not list them, Java, once it has answered."""
    found = [each.read_text().split() for each in Path("/proc/self/task").glob("*/children")]
    if found:
        return [int(number) for numbers in found for number in numbers]
    from pyspark import SparkContext

    process: Any = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - there is no public way
    return [] if process is None else [process.pid]
