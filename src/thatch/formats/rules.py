"""Subscriptions in files, in every language: tables whose filters are in one, lines of text, and files that are rules.

Which language it is, the ending of a file tells (`.yml` is Sigma) or `Reading.language`. In a table it is that of the column
`filter`; in a `.txt` file every line is a filter, and its number the id; a file whose ending belongs to the language is
read as a whole, and so are all of a folder, with the folders in it. A `.json` file that begins as `aws events list-rules`
prints rules has the rules of EventBridge.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa

from thatch.errors import FilterError, TableError, ThatchError
from thatch.formats.contents import translate_damage
from thatch.formats.files import Rejects, open_text
from thatch.formats.reading import Reading
from thatch.formats.subscriptions import SubscriptionFile, is_loaded, read_subscriptions
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.registry import LANGUAGES, language_called, language_of_suffix
from thatch.model.schema import Schema

__all__ = ["holds_rules", "pipeline_given", "read_rules"]

_LINES = ".txt"
_EVENTBRIDGE = "eventbridge"
_RULE_LIST = re.compile(r'\s*\{\s*"(?:Rules"\s*:\s*\[|NextToken"\s*:)')
_START = 1_000  # characters that tell what a file is
_LONGEST_FILE = 32 << 20  # characters of a file that is rules as a whole; its reader refuses more


def holds_rules(path: str, reading: Reading) -> bool:
    """Whether filters are parsed as a path is read: those of every other language than Thatch's own in its tables."""
    return (
        reading.language not in (None, "text") or _rules_language(path, reading) is not None or _is_text(path)
    )


def read_rules(path: str, reading: Reading | None = None) -> SubscriptionFile:
    """The subscriptions of a file or, in languages whose files are rules, of a folder.

    Raises `TableError` if it cannot be read at all or lacks a column; single bad rows and rules are rejects.
    """
    reading = reading or Reading()
    language = _rules_language(path, reading)
    if language is not None:
        return _read_rules(path, language, reading)
    if reading.pipelines:
        raise TableError("files of Sigma rules beside `--pipeline`", path)
    found = _read_lines(path, reading) if _is_text(path) else read_subscriptions(path, reading)
    return found if reading.language in (None, "text") else _parsed(found, reading.language, reading.schema)


def _is_text(path: str) -> bool:
    return Path(path).suffix.lower() == _LINES


def _rules_language(path: str, reading: Reading) -> str | None:
    """The language of a path that is rules as a whole."""
    if Path(path).is_dir():
        names = [reading.language] if reading.language is not None else [*LANGUAGES]
        return next((name for name in names if _has_files(path, name)), None)
    suffix = Path(path).suffix
    if (
        reading.language in (None, _EVENTBRIDGE)
        and suffix.lower() == ".json"
        and _is_rule_list(path, reading)
    ):
        return _EVENTBRIDGE
    if reading.language is None:
        return language_of_suffix(suffix)
    return reading.language if suffix.lower() in language_called(reading.language).suffixes else None


def _is_rule_list(path: str, reading: Reading) -> bool:
    """Whether a file begins as a list of EventBridge rules, and not with a row."""
    if not Path(path).is_file():
        return False
    with open_text(path, reading) as stream:
        return _RULE_LIST.match(stream.read(_START)) is not None


def _has_files(path: str, language: str) -> bool:
    """Whether a folder has rules of a language, and is not one that a command wrote."""
    described = language_called(language)
    if not described.rules or is_loaded(path):
        return False
    return next(_files(path, described.suffixes), None) is not None


# --- rows that hold filters --------------------------------------------------------------------------------------------


def _read_lines(path: str, reading: Reading) -> SubscriptionFile:
    """A filter on each line."""
    with open_text(path, reading) as stream:
        lines = [(number, line.strip()) for number, line in enumerate(stream)]
    kept = [each for each in lines if each[1]]
    table = pa.table(
        {
            "subscription": pa.array([str(number + 1) for number, _ in kept], pa.string()),
            "filter": pa.array([_clean(line) for _, line in kept], pa.string()),
        }
    )
    return SubscriptionFile(table, [number for number, _ in kept], [])


def _clean(line: str) -> str:
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parsed(found: SubscriptionFile, language: str, schema: Schema | None) -> SubscriptionFile:
    """Rows with their filters parsed; those that cannot be are rejects."""
    filters: list[Filter] = []
    kept: list[int] = []
    rejects = list(found.rejects)
    for place, text in enumerate(found.table.column("filter").to_pylist()):
        try:
            if text is None:
                raise FilterError("a filter", "null")
            filters.append(parse(text, schema, language=language))
            kept.append(place)
        except ThatchError as error:
            rejects.append((found.rows[place], str(error)))
    table = found.table.take(pa.array(kept, pa.int64()))
    return SubscriptionFile(table, [found.rows[place] for place in kept], sorted(rejects), filters)


# --- files that are rules ------------------------------------------------------------------------------------------------


def _read_rules(path: str, language: str, reading: Reading) -> SubscriptionFile:
    """All rules of a file, or of the files in a folder; a row is a rule, and every bad rule a reject."""
    reader, rejects = language_called(language), Rejects()
    pipeline = pipeline_given(reading)
    filters: list[Filter] = []
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    files: dict[int, str] = {}
    seen: dict[str, int] = {}
    for number, rule in enumerate(reader.rules_of(_texts(path, reader.suffixes, reading), pipeline)):
        files[number] = rule.where
        try:
            if isinstance(rule.found, FilterError):
                raise rule.found
            if not rule.identity:
                raise FilterError("an id, a name or a title", "none")
            filters.append(Filter.of(rule.found, reading.schema))
        except ThatchError as error:
            rejects(number, f"{rule.identity}: {error}" if rule.identity else str(error))
            continue
        count = seen[rule.identity] = seen.get(rule.identity, 0) + 1
        payload = None if rule.payload is None else json.dumps({**rule.payload, "file": rule.where})
        identity = rule.identity if count == 1 else f"{rule.identity}#{count}"
        rows.append({"subscription": identity, "payload": payload, "tags": list(rule.tags)})
        numbers.append(number)
    return SubscriptionFile(_table(rows), numbers, rejects, filters, files)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table(
        {
            "subscription": pa.array([each["subscription"] for each in rows], pa.string()),
            "filter": pa.nulls(len(rows), pa.string()),
            "payload": pa.array([each["payload"] for each in rows], pa.string()),
            "tags": pa.array([each["tags"] for each in rows], pa.list_(pa.string())),
        }
    )


def _texts(path: str, suffixes: tuple[str, ...], reading: Reading) -> Iterator[tuple[str, str]]:
    """The name and content of each file; too long a content is cut, which its reader notices."""
    for name in _files(path, suffixes):
        with open_text(name, replace(reading, max_line=_LONGEST_FILE), None) as stream:
            yield name, stream.read(_LONGEST_FILE + 1)


def _files(path: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The files of a folder and of those in it, in order, but hidden ones; or the file itself."""
    if not Path(path).is_dir():
        yield from [path] if Path(path).exists() else sorted(glob(path)) or [path]  # noqa: PTH207 - it may be absolute
        return
    with translate_damage(path):
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for name in sorted(names):
                if not name.startswith(".") and Path(name).suffix.lower() in suffixes:
                    yield str(Path(folder, name))


def pipeline_given(reading: Reading) -> Any:
    """The pipelines that rules pass through as one; None if there are none."""
    if not reading.pipelines:
        return None
    from thatch.model.language.sigma.pipelines import pipeline_of

    texts = []
    for path in reading.pipelines:
        with open_text(path, reading) as stream:
            texts.append((path, stream.read(_LONGEST_FILE + 1)))
    return pipeline_of(texts)
