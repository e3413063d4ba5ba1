"""The `thatch` command: one file for each subcommand, and how a command ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["before_ending", "main"]

# Nothing else is imported here: Ctrl-C must be heeded while imports run, which take most of the first second.

_UNREAD = 128 + signal.SIGPIPE

before_ending: list[Callable[[], None]] = []  # what Ctrl-C and SIGTERM do first, as ending other processes
_asked: list[int] = []  # the signals that asked the command to end


def main() -> None:
    """Run the command line. Expected errors are printed as one message, without a traceback."""
    with _signals():
        try:
            _run()
        except BaseException:
            if _asked:  # whatever was raised, this is why
                _leave(_asked[0])
            raise


def _run() -> None:
    from thatch.app.cli.commands import app
    from thatch.app.cli.output import discard_output, fail
    from thatch.errors import ThatchError

    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, _end)
        signal.signal(signal.SIGTERM, _end)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, so that its errors are handled below
    except ThatchError as error:
        if _asked:
            raise
        fail(str(error))
    except BrokenPipeError:  # the reader is gone, as after `| head`
        discard_output()
        sys.exit(_UNREAD)
    except OSError as error:
        if _asked:
            raise
        discard_output()
        fail(str(error))


@contextmanager
def _signals() -> Iterator[None]:
    """While a command runs, signals end it as an exception would, so that nothing half-written is left."""
    _asked.clear()
    before_ending.clear()
    try:
        before = {each: signal.signal(each, _leave_at_once) for each in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread, which gets all signals
        before = {}
    try:
        yield
    finally:
        for each, action in before.items():
            signal.signal(each, signal.SIG_IGN if _asked and action is _default(each) else action)


def _default(number: int) -> object:
    return signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL


def _leave_at_once(number: int, _: object) -> NoReturn:
    """Leave during imports: what an exception does there is for each module to say, and nothing is open yet."""
    _tell(number)
    os._exit(128 + number)


def _end(number: int, _: object) -> NoReturn:
    """Unwind; impatience does not disturb that."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    _asked.append(number)
    for do in before_ending:
        do()
    raise KeyboardInterrupt


def _leave(number: int) -> NoReturn:
    _tell(number)
    sys.exit(128 + number)


def _tell(number: int) -> None:
    if number == signal.SIGINT:
        sys.stderr.write("thatch: interrupted\n")
        sys.stderr.flush()
