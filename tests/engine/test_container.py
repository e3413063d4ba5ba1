"""Containers: round trips, writing whole or not at all, mappings."""

from __future__ import annotations

import errno
import gc
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from thatch.engine.container import container, dumps, loads, read, write
from thatch.engine.container.checksums import CHUNK
from thatch.engine.container.directory import DTYPES
from thatch.errors import IndexFileError, OutputError

HEADER = {"kind": "index", "places": [1, 2.5, None, True, "ä"], "deep": {"er": {}}}


def small() -> dict[str, NDArray[Any]]:
    """Arrays that make a file of some 1.5 kB."""
    return {
        "segments/0/codes": np.arange(37, dtype=np.uint16),
        "bits": np.array([True, False, True]),
        "": np.array([[1.5, np.nan], [-0.0, np.inf]]),
        "none": np.empty((0, 7), np.int32),
        "\ud800 ü": np.arange(-4, 4).reshape(4, 2),
    }


def same(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> bool:
    """Whether two sets of arrays are equal in order, names, types, shapes and every bit."""
    facts = [[(n, a.dtype, a.shape, a.tobytes()) for n, a in each.items()] for each in (one, other)]
    return facts[0] == facts[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "engine.thatch"


@pytest.fixture
def written(path: Path) -> Path:
    write(path, HEADER, small())
    return path


# --- round trips -------------------------------------------------------------------------------------------------

ARRAYS = st.dictionaries(
    st.text(max_size=9),
    st.sampled_from(sorted(DTYPES)).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9))
    ),
    max_size=5,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=9,
)


@given(header=st.dictionaries(st.text(), JSON, max_size=3), arrays=ARRAYS, writable=st.booleans())
def test_what_is_written_is_read(
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    writable: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("container") / "file"
    write(path, header, arrays)
    content = dumps(header, arrays)
    assert path.read_bytes() == content
    for facts, found in (read(path, writable=writable), loads(content, writable=writable)):
        assert facts == header
        assert same(found, arrays)
        assert all(each.ctypes.data % 64 == 0 or each.size == 0 for each in found.values())
        assert all(each.flags.writeable == writable or each.size == 0 for each in found.values())
    for handle in path.parent.iterdir():
        handle.unlink()


def test_a_container_may_be_empty(path: Path) -> None:
    write(path, {}, {})
    assert read(path) == ({}, {}) == loads(dumps({}, {}))


def test_arrays_of_any_strides_and_alignment_are_read_in_c_order(path: Path) -> None:
    grid = np.arange(24).reshape(4, 6)
    odd = np.arange(41, dtype=np.uint8)[1:].view(np.int64)
    arrays = {"turned": grid.T, "steps": grid[::2, ::-3], "column": grid[:, 1], "odd": odd}
    write(path, {}, arrays)
    assert same(read(path)[1], arrays)


@pytest.mark.parametrize("large", [0, 1 << 40])
def test_compiled_and_plain_checksums_write_and_read_the_same_files(
    large: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = small() | {
        "wide": np.arange(3 * CHUNK + 5, dtype=np.int32)[1:],
        "rows": np.ones((CHUNK, 3))[:, ::2],
    }
    write(path, HEADER, arrays)
    before = path.read_bytes()
    monkeypatch.setattr(container, "LARGE", large)
    assert same(read(path)[1], arrays)
    write(path, HEADER, arrays, overwrite=True)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_small_content_does_not_load_numba(written: Path) -> None:
    program = (
        "import sys, pathlib; from thatch.engine.container import read, write; path = pathlib.Path(sys.argv[1]);"
        "write(path, *read(path), overwrite=True); print('numba' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(written)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"
    assert same(read(written)[1], small())


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}], object),
        np.zeros(2, [("a", "<i4")]),
        np.array(["text"]),
        np.array([b"text"]),
        np.zeros(2, ">i4"),
        np.zeros(2, np.float16),
        np.zeros(2, complex),
        np.zeros(2, "M8[s]"),
        np.array(1),
        np.zeros((1, 1, 1)),
        [1, 2],
        None,
    ],
)
def test_arrays_of_other_kinds_are_not_written(array: Any, written: Path) -> None:
    before = written.read_bytes()
    with pytest.raises(IndexFileError, match="'culprit'") as caught:
        write(written, {}, {"fine": np.ones(3), "culprit": array}, overwrite=True)
    assert caught.value.where == str(written)
    with pytest.raises(IndexFileError):
        dumps({}, {"culprit": array})
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def test_headers_that_are_not_json_and_names_that_are_not_text_are_not_written(path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (float("nan"), {1, 2}, b"bytes", np.int64(1), loop):
        with pytest.raises(IndexFileError, match="a header of JSON values"):
            write(path, {"culprit": value}, {})
    with pytest.raises(IndexFileError, match="text as the name"):
        write(path, {}, {7: np.ones(1)})  # type: ignore[dict-item]  # wrong on purpose
    assert not path.exists()


# --- writing whole or not at all ---------------------------------------------------------------------------------


class Stop(BaseException):
    """Something that ends a process."""


@pytest.mark.parametrize("name", ["replace", "fsync", "fchmod"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), Stop(), KeyboardInterrupt()])
def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(
    name: str, error: BaseException, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    before = written.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(OutputError if isinstance(error, OSError) else type(error)):
            write(written, {}, {"a": np.ones(9)}, overwrite=True)
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def test_an_error_in_the_middle_of_the_arrays_leaves_the_old_file(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = container._parts

    def cut(*args: Any) -> Iterator[bytes | memoryview]:
        every = parts(*args)
        yield next(every)
        yield next(every)
        raise OSError(errno.ENOSPC, "No space left")

    before = written.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(container, "_parts", cut)
        with pytest.raises(OutputError, match="No space left") as caught:
            write(written, {}, {"a": np.ones(99_999)}, overwrite=True)
    assert caught.value.where == str(written)
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def failing_for_folders(code: int) -> Callable[[int], None]:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, os.strerror(code))
        real(handle)

    return fsync


def test_a_folder_that_cannot_be_synchronised_is_told_with_the_new_file_in_place(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", failing_for_folders(errno.EIO))
    with pytest.raises(OutputError, match="the new file is in its place"):
        write(written, {"new": True}, {}, overwrite=True)
    monkeypatch.setattr(os, "fsync", failing_for_folders(errno.EINVAL))
    write(written, {"newer": True}, {}, overwrite=True)
    assert read(written)[0] == {"newer": True}


def test_file_and_folder_are_synchronised_around_the_replacement(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real_fsync, real_replace, real_link = os.fsync, os.replace, os.link

    def fsync(handle: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real_fsync(handle)

    def replace(source: Path, target: Path) -> None:
        calls.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)

    def link(source: Path, target: Path) -> None:
        calls.append("link")
        real_link(source, target)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "link", link)
    write(path, {}, {})
    write(path, {}, {}, overwrite=True)
    assert calls == ["file", "link", "folder", "file", "replace", "folder"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_of_any_new_file(umask: int, path: Path) -> None:
    before = os.umask(umask)
    try:
        write(path, {}, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(mode: int, written: Path) -> None:
    written.chmod(mode)
    write(written, {}, {}, overwrite=True)
    assert stat.S_IMODE(written.stat().st_mode) == mode
    assert read(written) == ({}, {})


def test_a_file_that_may_not_be_opened_is_refused(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    before = written.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", deny)
        for call in (read, lambda each: write(each, {}, {}, overwrite=True)):
            with pytest.raises((IndexFileError, OutputError), match="Permission denied") as caught:
                call(written)
            assert caught.value.where == str(written)
    assert written.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_permissions_of_files_and_folders_are_respected(written: Path) -> None:
    written.chmod(0)
    with pytest.raises(IndexFileError, match="Permission denied"):
        read(written)
    written.chmod(0o600)
    written.parent.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="Permission denied"):
            write(written, {}, {}, overwrite=True)
    finally:
        written.parent.chmod(0o700)
    assert same(read(written)[1], small())


def test_long_names_and_names_without_a_folder_are_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 255, "ü" * 127, "plain"):
        write(Path(name), {"name": name}, {})
        assert read(tmp_path / name)[0] == {"name": name}


# --- mappings ----------------------------------------------------------------------------------------------------


def test_a_read_only_mapping_refuses_changes(written: Path) -> None:
    for _, arrays in (read(written), loads(written.read_bytes())):
        array = arrays["segments/0/codes"]
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_changes_of_a_writable_mapping_stay_private(written: Path) -> None:
    before = written.read_bytes()
    arrays = read(written, writable=True)[1]
    other = read(written, writable=True)[1]
    for array in arrays.values():
        array[:] = 1
    assert written.read_bytes() == before
    assert same(other, small())
    write(written, {}, arrays, overwrite=True)
    assert same(read(written)[1], arrays)


def test_changes_of_writable_copies_do_not_reach_the_bytes() -> None:
    content = dumps(HEADER, small())
    before = bytes(bytearray(content))
    loads(content, writable=True)[1]["bits"][:] = False
    assert content == before


@pytest.mark.slow
def test_another_process_reads_a_file_that_is_mapped_here(written: Path) -> None:
    arrays = read(written)[1]
    program = (
        "import sys, pathlib; from thatch.engine.container import read;"
        "print(read(pathlib.Path(sys.argv[1]))[1]['segments/0/codes'].sum())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(written)], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) == arrays["segments/0/codes"].sum()


def test_a_mapped_file_may_be_removed_or_replaced(written: Path) -> None:
    removed = read(written)[1]
    written.unlink()
    assert same(removed, small())
    write(written, {}, small(), overwrite=True)
    replaced = read(written)[1]
    write(written, {}, {"other": np.zeros(2000)}, overwrite=True)
    assert same(replaced, small())
    assert list(read(written)[1]) == ["other"]


@pytest.mark.slow
def test_one_array_outlives_everything_else(written: Path) -> None:
    array = read(written)[1]["segments/0/codes"][3:9:2]
    written.unlink()
    gc.collect()
    assert array.tolist() == [3, 5, 7]
