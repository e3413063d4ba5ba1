"""What went wrong in a worker, told as if it had gone wrong here: one of our errors, not a Java stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from thatch import errors
from thatch.errors import SparkError

__all__ = ["failures_told"]

_OURS = re.compile(
    r"^thatch\.errors\.(\w+): (Expected .*?)(?=\n\n|\n\tat |\n[A-Z]\w+ stacktrace:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PARTS = re.compile(r"Expected (.*), got (.*)", re.DOTALL)


@contextmanager
def failures_told(what: str = "") -> Iterator[None]:
    """Raise an error of ours for what Spark raises inside.

    Parameters
    ----------
    what : what was being done, for errors that are Spark's own
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _told(str(error), what) from error


def _told(text: str, what: str) -> errors.ThatchError:
    found = list(_OURS.finditer(text))
    if found:
        kind = getattr(errors, found[-1][1], SparkError)
        parts = _PARTS.fullmatch(found[-1][2].strip())
        if parts is not None:
            try:
                return kind(parts[1], parts[2])
            except TypeError:  # one with other fields
                return SparkError(parts[1], parts[2])
    lines = [line for line in text.splitlines() if line.strip()]
    # A Python exception ends with its message; of a Java one the first line tells most.
    is_python = any(line.startswith("Traceback") for line in lines)
    last = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception)\b", line)), None)
    told = last if is_python and last else (lines[0] if lines else "nothing")
    return SparkError("Spark to finish its work", told[:500], what)
