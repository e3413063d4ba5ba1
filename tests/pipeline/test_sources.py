"""Files on Spark are read as the embedded readers read them: the same rows, numbers, types and rejects."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipeline.read_files import SPLITS, embedded, events_of, rejects_of, typed, written
from thatch.errors import TableError
from thatch.formats.subscriptions import read_subscriptions as read_embedded_subscriptions
from thatch.model.events import read_event
from thatch.pipeline.sources import read_events, read_subscriptions

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

# --- JSON lines ------------------------------------------------------------------------------------------------

NASTY_LINES = (
    b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": null}\n\t \xc2\xa0\n{"b": "x\\n"}\rnot json\n{"a": \xff}\n[1]\n'
    b'{"long": "' + b"x" * 200 + b'"}\n\n{"last": 1}'
)


@pytest.mark.parametrize("ending", ["jsonl", "ndjson.gz"])
def test_json_lines_keep_their_numbers_over_splits(small_splits, tmp_path, ending):
    path = written(tmp_path / f"a b%20[1].{ending}", NASTY_LINES)
    source = read_events(small_splits, path)
    lines = NASTY_LINES.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    texts = [(row, line.decode("utf-8", "surrogateescape")) for row, line in enumerate(lines)]
    assert source.json is not None
    assert events_of(source) == [each for each in texts if each[1].strip()]


def test_numbers_go_on_from_file_to_file_in_the_order_of_names(small_splits, tmp_path):
    for name, count in (("b", 40), ("a c", 3), ("ä", 25), ("c", 0), ("a", 30)):
        content = b"".join(b'{"file": "%s", "line": %d}\n' % (name.encode(), row) for row in range(count))
        written(tmp_path / "logs" / f"{name}.jsonl{'.gz' if name == 'b' else ''}", content)
    (tmp_path / "logs" / "_SUCCESS").touch()
    for path in (tmp_path / "logs", f"{tmp_path}/l*/*.jsonl*"):
        rows = events_of(read_events(small_splits, str(path)))
        assert [row for row, _ in rows] == list(range(98))
        files = [json.loads(text)["file"] for _, text in rows]
        assert files == ["a c"] * 3 + ["a"] * 30 + ["b"] * 40 + ["ä"] * 25
        assert [json.loads(text)["line"] for _, text in rows][3:33] == list(range(30))


# --- CSV -------------------------------------------------------------------------------------------------------

CSV = {
    "types": b"i,f,b,code,many,date,mixed,none\n"
    + b"".join(
        b"%d,%d.5,true,00%d,1234567890123456789%d,2026-01-01,%d,\n" % (n, n, n, n, n) for n in range(30)
    )
    + b"5,7,False,1,1.5,2026-01-02,x,\n",
    "late text": b"a\n" + b"1\n" * 60 + b"x\n",
    "bad rows": b"a,b\n1,2\nx\n3,4\n5,\xff\n7,8\n\xfe\n" + b"1,2,3\n9,10\n" * 20,
    "quotes": b'a,b\n"x, ""y""",1\n,2\n"",3\n5" pipe,4\n"a"b,5\n' + b'"long one",6\n' * 20,
    "line feeds in quotes": b"\xef\xbb\xbfa,b\r\n" + b'"x\n\ny\r\n, z",1\r\nplain,2\r\n' * 20,
    "a field longer than splits": b'a,b\n1,"' + b"line\n" * 60 + b'"\n2,x\n',
    "quotes that never close": b'a,b\n1,x\n2,"y\n' + b"3,z\n" * 20,
    "a header of two lines": b'\n\r\n"a\n1",b\n1,2\n',
    "carriage returns only": b"a,b\r1,2\r3,4\r",
    "only a header": b"a,b",
    "a column `row`": b"row,Row_2\n1,2\n",
}


@pytest.mark.parametrize("name", CSV)
def test_csv_is_read_as_the_embedded_reader_reads_it(small_splits, tmp_path, name):
    path = written(tmp_path / "events.csv", CSV[name])
    source = read_events(small_splits, path)
    events, rejects = embedded(path)
    assert typed(events_of(source)) == typed(events)
    assert rejects_of(source) == rejects
    if name == "a column `row`":
        assert source.row == "row_3"


def test_csv_of_several_files_has_types_that_hold_all_of_them(spark, tmp_path):
    folder = tmp_path / "day=1"
    written(folder / "a.csv", b"a,b\n1,x\n\n2,y\n")
    written(folder / "b.csv.gz", b'a,b\n0.5,"x\ny"\n1\n')
    written(folder / "c.csv", b"")
    source = read_events(spark, str(tmp_path / "day=1"))
    expected = [(0, {"a": 1.0, "b": "x"}), (1, {"a": 2.0, "b": "y"}), (2, {"a": 0.5, "b": "x\ny"})]
    assert typed(events_of(source)) == typed(expected)
    assert rejects_of(source) == [(3, "Expected 2 fields, got 1")]


BAD_CSV = {
    "an empty file": ({"a.csv": b""}, "is empty"),
    "nothing but line breaks": ({"a.csv": b"\n\r\n"}, "is empty"),
    "a column twice": ({"a.csv": b"a,a\n1,2\n"}, "unique column names"),
    "columns that differ in case": ({"a.csv": b"a,A\n1,2\n"}, "caseSensitive"),
    "a name that is not UTF-8": ({"a.csv": b"a,\xff\n1,2\n"}, "UTF-8"),
    "other columns in a second file": ({"a.csv": b"a,b\n1,2\n", "b.csv": b"a,c\n1,2\n"}, "b.csv"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_csv_without_a_proper_header_is_refused(spark, tmp_path, name):
    files, reason = BAD_CSV[name]
    for file, content in files.items():
        written(tmp_path / "x" / file, content)
    with pytest.raises(TableError, match=reason):
        read_events(spark, str(tmp_path / "x"))


# --- Parquet ---------------------------------------------------------------------------------------------------


def test_parquet_rows_are_numbered_over_files_and_row_groups(small_splits, tmp_path):
    (tmp_path / "p").mkdir()
    for name, start in (("b", 100), ("a", 0)):
        table = pa.table({"n": list(range(start, start + 100)), "a.b": ["x", None] * 50, "row": [1] * 100})
        pq.write_table(table, tmp_path / "p" / f"{name}.parquet", row_group_size=7)
    source = read_events(small_splits, str(tmp_path / "p"))
    assert source.row == "row_2"
    events = events_of(source)
    assert [row for row, _ in events] == [event["n"] for _, event in events] == list(range(200))
    assert events[:2] == [(0, {"n": 0, "a.b": "x", "row": 1}), (1, {"n": 1, "row": 1})]


def text_of(*values: bytes) -> pa.Array:
    plain = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(values), plain.buffers())


def test_parquet_text_that_is_not_utf8_is_a_reject(spark, tmp_path):
    path = str(tmp_path / "a.parquet")
    pq.write_table(
        pa.table({"a": [1, 2, 3], "b": text_of(b"x", b"\xff", b"y"), "c": pa.array([None, "x", "y"])}), path
    )
    source = read_events(spark, path)
    events, rejects = embedded(path)
    assert events_of(source) == events
    assert rejects_of(source) == rejects


def test_nested_parquet_is_read_as_structs_and_lists(spark, tmp_path):
    path = str(tmp_path / "a.pq")
    table = pa.table(
        {"o": [{"p": 1, "q": None}, None], "x": [[{"y": 1}, {"y": None}], []], "t": [[1.5], None]}
    )
    pq.write_table(table, path)
    assert events_of(read_events(spark, path)) == embedded(path)[0]


def test_timestamps_in_nanoseconds_are_cut_as_the_embedded_reader_cuts_them(spark, tmp_path):
    path = str(tmp_path / "a.parquet")
    moments = pa.array([1_769_817_600_123_456_789, -1_500, None], pa.int64())
    columns = {
        "n": [1, 2, 3],
        "t": moments.cast(pa.timestamp("ns")),
        "z": moments.cast(pa.timestamp("ns", "UTC")),
    }
    pq.write_table(pa.table(columns), path)
    source = read_events(spark, path)
    texts = [(row, flat_event(event)) for row, event in events_of(source)]
    assert texts == [(row, flat_event(event)) for row, event in embedded(path)[0]]
    assert events_of(read_events(spark, path)) == events_of(
        source
    )  # also in a session that has seen such files
    pq.write_table(pa.table({"t": pa.array([[1]], pa.list_(pa.timestamp("ns")))}), path)
    with pytest.raises(TableError, match="column `t`"):
        read_events(spark, path)


def flat_event(event: dict) -> object:
    return read_event(event).points


REFUSED = {
    "binary": pa.array([b"x"]),
    "map": pa.array([[(1, "a")]], pa.map_(pa.int64(), pa.string())),
    "inside of a list": pa.array([[{"y": b"x"}]]),
    "time": pa.array([1], pa.time64("us")),
    "half": pa.array([1.0], pa.float16()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_events_cannot_have_are_refused_before_anything_runs(spark, tmp_path, name):
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"good": [1], "bad": REFUSED[name]}), path)
    with pytest.raises(TableError) as caught:
        read_events(spark, path, names={"bad", "bad.y"})
    if name in ("binary", "map", "inside of a list"):
        assert "column `bad" in caught.value.where


# --- files that cannot be read ---------------------------------------------------------------------------------


def test_what_cannot_be_read_is_told_with_its_path(spark, tmp_path):
    (tmp_path / "empty").mkdir()
    written(tmp_path / "mixed" / "a.csv", b"a\n1\n")
    written(tmp_path / "mixed" / "b.jsonl", b"{}\n")
    written(tmp_path / "other" / "a.txt", b"a\n")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "cut.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "cut.parquet").read_bytes()[:-6])
    whole = gzip.compress(b'{"a": 1}\n' * 10_000)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    (tmp_path / "cut.csv.gz").write_bytes(b"hello")
    expected = {
        "missing.jsonl": "does not exist",
        "*.nothing": "does not exist",
        "empty": "no files in",
        "mixed": "files of one kind",
        "other": "a.txt",
        "cut.parquet": "cut.parquet",
        "cut.jsonl.gz": "cut.jsonl.gz",
        "cut.csv.gz": "cut.csv.gz",
    }
    for name, reason in expected.items():
        with pytest.raises(TableError) as caught:
            read_events(spark, str(tmp_path / name))
        assert reason in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(TableError, match="a format of"):
        read_events(spark, str(tmp_path / "other"), format="xml")
    assert events_of(read_events(spark, str(tmp_path / "other"), format="csv")) == []


def test_splits_that_changed_since_lines_were_counted_are_an_error_and_never_wrong_numbers(spark, tmp_path):
    path = written(tmp_path / "a.jsonl", b'{"a": 1}\n' * 100)
    source = read_events(spark, path)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "100b")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    try:
        with pytest.raises(Exception, match="changed after their lines were counted"):
            source.table.collect()
    finally:
        for key in SPLITS:
            spark.conf.unset(key)


# --- subscriptions ---------------------------------------------------------------------------------------------

SUBSCRIPTION_LINES = b"".join(
    json.dumps(each).encode() + b"\n" if not isinstance(each, bytes) else each
    for each in (
        {
            "subscription": "a",
            "filter": "x = 1",
            "subscriber": "u",
            "expires": 5,
            "row": 99,
            "reason": "mine",
        },
        b"\n",
        {"subscription": "b", "filter": {"x": [1, {"prefix": "é"}]}},
        {"subscription": 5, "filter": "x = 1"},
        {"subscription": "c"},
        {"subscription": "d", "filter": "x = 1", "subscriber": 5},
        {"subscription": "e", "filter": "x = 1", "expires": "soon"},
        {"subscription": "e", "filter": "x = 1", "expires": 10**400},
        {"subscription": "\ud800", "filter": "x = 1"},
        b'{"subscription": "f", "subscription": "g", "filter": "x = 1"}\n',
        b'{"subscription": "\xff", "filter": "x = 1"}\n',
        b"[]\nnot json\n",
        {"subscription": "h", "filter": "y >", "expires": None},
    )
)
SUBSCRIPTIONS = {
    "s.jsonl": SUBSCRIPTION_LINES,
    "s.jsonl.gz": SUBSCRIPTION_LINES,
    "s.csv": b"filter,other,subscription,expires\n"
    b'x = 1,,a,5\n"x = 1\nand y = 2",?,b,\nx,y\n,,c,1e3\nx = 1,,,soon\n\n"x = \'\xff\'",,d,\nx = 1,,e,inf\n',
    "t.csv": b"subscription,subscriber,filter\n1,007,x = 1\n2,,x = 2\n",
}


@pytest.mark.parametrize("name", SUBSCRIPTIONS)
def test_subscriptions_are_read_as_the_embedded_reader_reads_them(small_splits, tmp_path, name):
    assert_same_subscriptions(small_splits, written(tmp_path / name, SUBSCRIPTIONS[name]))


PARQUET = {
    "plain": pa.table({"filter": ["x = 1", None], "subscription": pa.array(["a", "b"]).dictionary_encode()}),
    "moments": pa.table(
        {"subscription": ["a"], "filter": ["x"], "expires": pa.array([1_500], pa.timestamp("ms"))}
    ),
    "moments as text": pa.table({"subscription": ["a", "b"], "filter": ["x", "y"], "expires": ["1", "soon"]}),
    "not UTF-8": pa.table({"subscription": ["a", "b"], "filter": text_of(b"x", b"\xff"), "expires": [1, 2]}),
    "not UTF-8 elsewhere": pa.table(
        {"subscription": ["a", "b"], "filter": ["x", "y"], "other": text_of(b"\xff", b"")}
    ),
    "nobody": pa.table({"subscription": pa.array([], pa.string()), "filter": pa.array([], pa.string())}),
}


@pytest.mark.parametrize("name", PARQUET)
def test_subscriptions_of_parquet_are_read_as_the_embedded_reader_reads_them(spark, tmp_path, name):
    pq.write_table(PARQUET[name], tmp_path / "s.parquet")
    assert_same_subscriptions(spark, str(tmp_path / "s.parquet"))


def assert_same_subscriptions(spark, path: str) -> None:
    read = read_embedded_subscriptions(path)
    table = read.table
    for name in ("subscription", "subscriber", "filter", "expires"):
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows))
    columns = ("subscription", "subscriber", "filter", "expires")
    expected = [(row, *each) for row, each in zip(read.rows, zip(*(table.column(name).to_pylist() for name in columns), strict=True), strict=True)]  # fmt: skip
    found = sorted(read_subscriptions(spark, path).collect(), key=lambda each: each["row"])
    good = [(each["row"], *(each[name] for name in columns)) for each in found if each["reason"] is None]
    assert good == expected
    assert [(each["row"], each["reason"]) for each in found if each["reason"] is not None] == read.rejects


def test_tables_that_hold_no_subscriptions_are_refused(spark, tmp_path):
    cases = {
        "subscription": pa.table({"filter": ["x = 1"]}),
        "filter": pa.table({"subscription": ["x"]}),
        "column `subscription`": pa.table({"subscription": [1], "filter": ["x = 1"]}),
    }
    for reason, table in cases.items():
        pq.write_table(table, tmp_path / "s.parquet")
        with pytest.raises(TableError, match=reason):
            read_subscriptions(spark, str(tmp_path / "s.parquet"))
    with pytest.raises(TableError, match="a column `filter`"):
        read_subscriptions(spark, written(tmp_path / "s.csv", b"subscription,Filter\n"))
