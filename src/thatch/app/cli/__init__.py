"""The `thatch` command: one file for each subcommand, and how a command ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["main"]

# Nothing else is imported here: Ctrl-C must be heeded while imports run, which take most of the first second.

_INTERRUPTED, _ENDED, _UNREAD = (128 + each for each in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE))


def main() -> None:
    """Run the command line. Expected errors are printed as one message, without a traceback."""
    with _signals():
        try:
            _run()
        except BaseException as error:
            if not _is_interrupt(error):
                raise
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # impatience must not disturb the end
            _tell_interrupted()
            sys.exit(_INTERRUPTED)


def _run() -> None:
    from thatch.app.cli.commands import app
    from thatch.app.cli.output import discard_output, fail
    from thatch.errors import ThatchError

    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, so that its errors are handled below
    except ThatchError as error:
        if _is_interrupt(error):
            raise
        fail(str(error))
    except BrokenPipeError:  # the reader is gone, as after `| head`
        discard_output()
        sys.exit(_UNREAD)
    except OSError as error:
        discard_output()
        fail(str(error))


@contextmanager
def _signals() -> Iterator[None]:
    """While a command runs, SIGTERM ends it as an exception would, so that nothing half-written is left."""
    try:
        before = {
            each: signal.signal(each, action)
            for each, action in ((signal.SIGINT, _leave_at_once), (signal.SIGTERM, _end))
        }
    except ValueError:  # not the main thread, which gets all signals
        before = {}
    try:
        yield
    finally:
        for each, action in before.items():
            if signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, action)


def _leave_at_once(*_: object) -> NoReturn:
    """Leave during imports: what an exception does there is for each module to say, and nothing is open yet."""
    _tell_interrupted()
    os._exit(_INTERRUPTED)


def _end(_: int, __: FrameType | None) -> NoReturn:
    sys.exit(_ENDED)


def _tell_interrupted() -> None:
    sys.stderr.write("thatch: interrupted\n")
    sys.stderr.flush()


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is, or was raised because of, Ctrl-C; typer makes it an exit."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
