"""Everything the command line prints: results on standard output, remarks about them on standard error."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from thatch.app.cli.ending import end_java_first
from thatch.app.cli.progress import Meter, console, progress, tasks
from thatch.errors import MissingPackageError

if TYPE_CHECKING:
    from thatch.pipeline.columns import SparkSession
    from thatch.pipeline.jobs.job import JobOutput

__all__ = [
    "SHOWN",
    "FirstRows",
    "Meter",
    "chooses_spark",
    "command_line",
    "discard_output",
    "fail",
    "flush",
    "json_line",
    "json_text",
    "local_job",
    "note",
    "note_rows",
    "progress",
    "require",
    "require_spark",
    "say",
    "say_files",
    "spark_job",
    "tasks",
    "this_moment",
]

Progressed = Callable[[int, int], None]  # how much is done, and known

SHOWN = 5  # rows that a remark lists
_MOST_HERE = 100_000_000  # bytes of input that jobs read without Spark


def command_line() -> str:
    """The command that is running, as people type it."""
    return shlex.join(["thatch", *sys.argv[1:]])


def this_moment() -> datetime:
    """Now, for a page to say when it was made."""
    return datetime.now(UTC)


def say(text: str) -> None:
    """Print a line of the result."""
    try:
        sys.stdout.write((text if text.isprintable() else _visible(text)) + "\n")
    except BrokenPipeError:
        _end_unread()


def json_line(value: Any) -> None:
    """Print a line of the result as JSON."""
    say(json_text(value))


def json_text(value: Any) -> str:
    """A value as JSON in which nothing is invisible; what JSON does not know is text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else json.dumps(value, default=str)


def _visible(text: str) -> str:
    """Text in which names from outside cannot steer a terminal or turn the direction of writing."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )


def flush() -> None:
    """Let readers see what was printed."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _end_unread()


def _end_unread() -> NoReturn:
    """End the command in silence, since nobody reads the output any more, as after `| head`."""
    discard_output()
    sys.exit(128 + signal.SIGPIPE)


def discard_output() -> None:
    """Discard further output, so that Python does not fail again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require(extra: str, what: str, *packages: str) -> None:
    """Raise `MissingPackageError` if a package that an extra brings is not installed; call it before work begins."""
    for each in packages:
        if find_spec(each) is None:
            raise MissingPackageError(each, extra, what)


def note(text: str) -> None:
    """Print a remark about the result."""
    console.print(_visible(text), markup=False, emoji=False, soft_wrap=True)


def say_files(folder: str, files: Mapping[str, str]) -> None:
    """Print what each file of an output folder holds."""
    for name, what in files.items():
        say(f"  {folder.rstrip('/')}/{name}: {what}")


def note_rows(
    what: str,
    rows: Sequence[tuple[int, str]],
    count: int | None = None,
    place: Callable[[int], str] = "row {}".format,
) -> None:
    """Print how many rows have a problem, and the first of them with their reasons; nothing if there are none.

    Parameters
    ----------
    what : follows the number of rows, such as `rows of events.csv are not events`
    rows : row numbers and reasons, the first ones
    count : the number of all rows, if `rows` are not all
    place : what a row is called
    """
    count = len(rows) if count is None else count
    if not count:
        return
    note(f"{count:,} {what}:")
    for row, reason in rows[:SHOWN]:
        note(f"  {place(row)}: {reason}")
    if count > SHOWN:
        note(f"  ... and {count - SHOWN:,} more")


class FirstRows(list[tuple[int, str]]):
    """The first rows that were refused, and how many there are: a stream may have any number."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def append(self, row: tuple[int, str]) -> None:
        """Count a row, and keep it if it is one of the first."""
        self.total += 1
        if self.total <= SHOWN:
            super().append(row)


def fail(message: str) -> NoReturn:
    """Print what is wrong and exit with status 2."""
    note(f"thatch: {message}")
    sys.exit(2)


def require_spark() -> None:
    """Raise `MissingPackageError` if something that a job on Spark needs is not installed."""
    require("spark", "work on Spark", "pyspark", "pandas")


@contextmanager
def spark_job(
    command: str,
    doing: str,
    out: str,
    *,
    master: str | None,
    overwrite: bool,
    schema: Path | None = None,
) -> Iterator[tuple[SparkSession, JobOutput]]:
    """Start Spark for a job of a command that writes a folder, and show its progress.

    Parameters
    ----------
    schema : the file of declared types, which the folder will not replace
    """
    from thatch.pipeline import session
    from thatch.pipeline.adapter import translate_spark_errors

    require_spark()
    with progress("starting Spark", grows=True) as meter:
        with end_java_first(out):
            spark = session(f"thatch {command}", master=master)
        meter.describe(doing)
        with translate_spark_errors(doing):
            yield spark, _job_output(out, overwrite=overwrite, schema=schema, report=meter.report)


def chooses_spark(wanted: bool | None, master: str | None, inputs: Sequence[str]) -> bool:
    """Whether a job runs on Spark: as asked, or by the size of its input; says which, and why."""
    from thatch.pipeline.embedded.files import is_remote, size_of

    if wanted is not None or master is not None:
        return wanted is not False
    far = next(filter(is_remote, inputs), None)
    size = size_of(each for each in inputs if not is_remote(each))
    megabytes = f"{size / 1e6:,.1f} MB of input"
    if far is not None:
        note(f"Running on Spark, which can read {far}.")
    elif size <= _MOST_HERE:
        note(
            f"Running in this process: {megabytes} (on Spark from {_MOST_HERE // 10**6} MB on, or with --spark)."
        )
    elif find_spec("pyspark") is None:
        note(
            f"Running in this process although there are {megabytes}: PySpark is not installed (pip install 'thatch[spark]')."
        )
        return False
    else:
        note(f"Running on Spark: {megabytes} (--no-spark runs it in this process).")
    return far is not None or size > _MOST_HERE


@contextmanager
def local_job(doing: str, out: str, *, overwrite: bool, schema: Path | None = None) -> Iterator[JobOutput]:
    """Show the progress of a job in this process that writes a folder."""
    with tasks(doing) as report:
        yield _job_output(out, overwrite=overwrite, schema=schema, report=report)


def _job_output(out: str, *, overwrite: bool, schema: Path | None, report: Progressed) -> JobOutput:
    from thatch.pipeline.jobs.job import JobOutput

    inputs = (str(schema),) if schema else ()
    return JobOutput(
        out,
        overwrite=overwrite,
        inputs=inputs,
        command=command_line(),
        made=this_moment(),
        progress=report,
        tell=note,
    )
