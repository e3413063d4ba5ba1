"""Files as people have them: words for missing values, other encodings, bombs, rows that are refused."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.app.here import run_here
from tests.engine.test_pruning import TABLE

PRICES = "symbol,price\nIBM,3\nIBM,n/a\nIBM,7\nIBM,4.5\n"


@pytest.fixture
def run(tmp_path: Path):
    """Runs `thatch` in a folder with one subscription, `price < 5`."""
    (tmp_path / "subs.csv").write_text("subscription,filter\ncheap,price < 5\n")
    return partial(run_here, tmp_path)


def rows(stdout: str) -> list[int]:
    return [json.loads(line)["event"] for line in stdout.splitlines()]


def test_one_n_a_does_not_hide_the_matches_of_a_column(run, tmp_path):
    (tmp_path / "events.csv").write_text(PRICES)
    ran = run("match", "subs.csv", "events.csv")
    assert (ran.returncode, rows(ran.stdout), ran.stderr) == (0, [0, 3], "")


def test_a_column_that_is_nearly_numbers_is_told_and_a_declaration_reads_it(run, tmp_path):
    (tmp_path / "events.csv").write_text(PRICES.replace("n/a", "soon"))
    ran = run("match", "subs.csv", "events.csv")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "column `price` is read as text" in ran.stderr
    assert "'soon' in row 1" in ran.stderr
    assert "docs/reference/files.md" in ran.stderr
    (tmp_path / "schema.json").write_text('{"price": {"type": "Number"}}')
    ran = run("match", "subs.csv", "events.csv", "--schema", "schema.json")
    assert (ran.returncode, rows(ran.stdout)) == (0, [0, 3])
    assert "1 of 4 cells are no Number() and count as missing; the first is 'soon' in row 1" in ran.stderr
    ran = run("match", "subs.csv", "events.csv", "--missing", "soon")
    assert (ran.returncode, rows(ran.stdout), ran.stderr) == (0, [0, 3], "")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_files_with_marks_are_read_and_others_by_their_encoding(run, tmp_path, ending):
    text = PRICES if ending == "csv" else '{"symbol": "é", "price": 3}\n{"price": 9}\n'
    first = rows(run("match", "subs.csv", write(tmp_path, text.encode(), ending)).stdout)
    for encoding in ("utf-8-sig", "utf-16"):
        assert rows(run("match", "subs.csv", write(tmp_path, text.encode(encoding), ending)).stdout) == first
    bare = write(tmp_path, text.encode("utf-16-le"), ending)
    subs = (tmp_path / "subs.csv").read_text()
    (tmp_path / "subs16.csv").write_text(subs, encoding="utf-16-le")
    assert rows(run("match", "subs16.csv", bare, "--encoding", "utf-16-le").stdout) == first
    ran = run("match", "subs.csv", bare)
    assert ran.returncode == 2
    assert "--encoding" in ran.stderr


def write(folder: Path, content: bytes, ending: str) -> str:
    path = folder / f"events.{ending}"
    path.write_bytes(content)
    return path.name


def test_subscriptions_of_another_encoding_are_checked(run, tmp_path):
    (tmp_path / "subs.csv").write_bytes("subscription,filter\na,x = 'é'\n".encode("cp1252"))
    ran = run("check", "subs.csv")
    assert (ran.returncode, "UTF-8" in ran.stdout) == (1, True)
    assert run("check", "subs.csv", "--encoding", "cp1252").returncode == 0


LINES = '{"price": 1}\nno event\n{"price": 2}\n{"price": 3}\n'


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--strict"], 2),
        (["--max-rejects", "0"], 2),
        (["--max-rejects", "1"], 0),
        (["--max-rejects", "24%"], 2),
        (["--max-rejects", "25%"], 0),
        (["--strict", "--max-rejects", "1"], 2),
        (["--max-rejects", "some"], 2),
    ],
)
def test_refused_rows_fail_a_command_that_does_not_allow_them(run, tmp_path, options, code):
    (tmp_path / "events.jsonl").write_text(LINES)
    ran = run("match", "subs.csv", "events.jsonl", "--out", "found.jsonl", *options)
    assert ran.returncode == code
    assert (tmp_path / "found.jsonl").exists() == (code == 0)


def test_refused_subscriptions_fail_a_strict_command(run, tmp_path):
    (tmp_path / "events.jsonl").write_text('{"price": 1}\n')
    (tmp_path / "subs.csv").write_text("subscription,filter\ncheap,price < 5\nbad,price <\n")
    assert run("match", "subs.csv", "events.jsonl").returncode == 0
    ran = run("match", "subs.csv", "events.jsonl", "--strict")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "at most 0 refused subscriptions, got 1 of 2" in ran.stderr


def test_a_bomb_ends_in_one_sentence(run, tmp_path):
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a" * (1 << 20)) * 2_000)
    ran = run("match", "subs.csv", "bomb.csv.gz")
    assert ran.returncode == 2
    assert ran.stderr.startswith("thatch: Expected lines of at most 16,777,216 bytes (`--max-line`")
    assert ran.stderr.count("\n") == 1
    (tmp_path / "many.jsonl.gz").write_bytes(gzip.compress(b"{}\n" * 100_000))
    ran = run("match", "subs.csv", "many.jsonl.gz", "--max-unpacked", "100K")
    assert (ran.returncode, "--max-unpacked" in ran.stderr) == (2, True)


def test_columns_that_no_filter_names_do_not_matter(run, tmp_path):
    pq.write_table(TABLE, tmp_path / "events.parquet")
    ran = run("match", "subs.csv", "events.parquet")
    assert (ran.returncode, rows(ran.stdout), ran.stderr) == (0, [0], "")
    (tmp_path / "raw.csv").write_text("subscription,filter\na,raw = 'x'\n")
    ran = run("match", "raw.csv", "events.parquet")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "column `raw`" in ran.stderr


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
class TestOnSpark:
    """The same commands with `--spark`."""

    def test_columns_and_encodings_are_read_as_without_spark(self, run, tmp_path):
        (tmp_path / "events.csv").write_text(PRICES.replace("n/a", "soon"), encoding="utf-16")
        (tmp_path / "schema.json").write_text('{"price": {"type": "Number"}}')
        ran = run("match", "subs.csv", "events.csv", "--schema", "schema.json", "--spark", "--out", "found")
        assert ran.returncode == 0, ran.stderr
        assert sorted(pq.read_table(tmp_path / "found" / "matches")["event"].to_pylist()) == [0, 3]
        assert "1 of 4 cells are no Number() and count as missing; the first is 'soon' in row 1" in ran.stderr

    def test_columns_that_no_filter_names_do_not_matter(self, run, tmp_path):
        pq.write_table(TABLE, tmp_path / "events.parquet")
        ran = run("match", "subs.csv", "events.parquet", "--spark", "--out", "found")
        assert ran.returncode == 0, ran.stderr
        assert pq.read_table(tmp_path / "found" / "matches")["event"].to_pylist() == [0]
        pq.write_table(TABLE.drop_columns(["text"]), tmp_path / "events.parquet")
        ran = run("profile", "events.parquet", "--out", "profile")
        assert ran.returncode == 0, ran.stderr
        assert "column `raw`: binary is no type of values in events, and is left out" in ran.stderr

    def test_refused_rows_fail_and_no_folder_appears(self, run, tmp_path):
        (tmp_path / "events.jsonl").write_text(LINES)
        ran = run("match", "subs.csv", "events.jsonl", "--spark", "--out", "found", "--strict")
        assert ran.returncode == 2
        assert "at most 0 refused rows, got 1 of 4" in ran.stderr
        assert not (tmp_path / "found").exists()
        (tmp_path / "bad.csv").write_text("subscription,filter\na,price <\n")
        ran = run("load", "bad.csv", "--out", "loaded")
        assert (ran.returncode, (tmp_path / "loaded").exists()) == (2, False)
        assert "All 1 subscriptions were refused" in ran.stderr
