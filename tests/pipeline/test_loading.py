"""Loading on Spark accepts and refuses what the embedded engine does, row for row and word for word."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.examples import examples
from thatch.errors import TableError
from thatch.formats.subscriptions import read_subscriptions as read_embedded
from thatch.pipeline.sources import read_subscriptions
from thatch.pipeline.transforms.loading import check_subscriptions, list_conditions, load, split_checked

SCHEMA = thatch.Schema({"qty": thatch.Integer(0, 1000), "side": thatch.Enum("buy", "sell")})


def embedded(path: str, schema=None):
    """Accepted rows, and rejects by row, as the engine has them."""
    read = read_embedded(path)
    engine = thatch.Engine(schema)
    refused = engine.subscribe_many(read.table).to_pylist()
    rejects = dict(read.rejects) | {read.rows[each["row"]]: each["reason"] for each in refused}
    return sorted(set(read.rows) - set(rejects)), rejects, engine


def on_spark(spark, path: str, schema=None, parts: int = 2):
    table = read_subscriptions(spark, path)
    checked = check_subscriptions(table.repartition(parts), schema=schema).persist()  # as jobs do
    loaded = split_checked(checked)
    accepted = sorted(loaded.accepted.collect(), key=lambda each: each["row"])
    rejects = loaded.rejects.collect()
    checked.unpersist()
    assert len({each["row"] for each in rejects}) == len(rejects)
    return accepted, {each["row"]: each["reason"] for each in rejects}


def assert_same(spark, path: str, schema=None) -> None:
    rows, refused, engine = embedded(path, schema)
    accepted, rejects = on_spark(spark, path, schema)
    assert [each["row"] for each in accepted] == rows
    assert rejects == refused
    assert [each["subscription"] for each in accepted] == list(engine)
    found = engine.subscriptions().to_pylist()
    for each, expected in zip(accepted, found, strict=True):
        assert each["subscriber"] == expected["subscriber"]
        assert str(thatch.parse(each["filter"], schema)) == expected["filter"]
        assert each["expires"] == expected["expires"]


ROWS = st.fixed_dictionaries(
    {
        "subscription": st.sampled_from(["a", "b", "c", "é", "x" * 80, "", None, 5, "it's"]),
        "filter": st.sampled_from(
            [
                "x = 1",
                "x > ",
                "x = 1 and x = 2",
                "qty > 5",
                "qty > 5000",
                "side = 'hold'",
                "",
                None,
                7,
                "a~b",
                {"x": [1]},
                {"x": []},
                {"x": [{"numeric": [">", 5]}]},
                "not x",
                "y in (1, 2, 'z')",
                '{"x": [1]}',
                "\x00",
            ]
        ),
    },
    optional={
        "subscriber": st.sampled_from(["u", "v", None, 5]),
        "expires": st.sampled_from([0, 1.5, None, "soon", True, -1e300]),
    },
)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@examples(3)
@given(st.lists(ROWS, min_size=30, max_size=200))
def test_every_row_is_accepted_or_refused_as_the_engine_does(spark, tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "\nnot json\n")
    assert_same(spark, str(folder / "s.jsonl"))
    text = io.StringIO()
    writer = csv.DictWriter(text, ["subscription", "filter", "subscriber", "expires"])
    writer.writeheader()
    writer.writerows(rows)
    (folder / "s.csv").write_text(text.getvalue() + "too,few\n")
    assert_same(spark, str(folder / "s.csv"), SCHEMA)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_the_first_good_row_of_an_id_wins_wherever_the_others_are(spark):
    rows = [(n, "one" if n % 2 else f"id {n}", "x >" if n < 5 else f"x = {n}") for n in range(400)]
    rows += [(1_000, "late", "x >"), (1_001, "late", None)]
    table = spark.createDataFrame(rows, "row bigint, subscription string, filter string")
    loaded = load(table.repartition(7, "filter"))
    accepted = {each["row"]: each["subscription"] for each in loaded.accepted.collect()}
    rejects = {each["row"]: each for each in loaded.rejects.collect()}
    assert len(accepted) + len(rejects) == 402
    assert set(accepted) & set(rejects) == set()
    assert [row for row, name in accepted.items() if name == "one"] == [5]
    assert rejects[7]["reason"] == "Expected each id once in the table, got 'one' again"
    assert rejects[7]["filter"] == "x = 7"
    assert "line 1, column" in rejects[3]["reason"]
    assert rejects[1_001]["reason"] == "Expected filter text, got null"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_tables_of_the_user_need_no_numbers_and_may_hold_anything(spark):
    moment = "timestamp'2026-01-31 00:00:00'"
    table = spark.sql(
        f"""select * from values
        ('a', 'x = 1', {moment}), (null, 'x = 1', null), ('b', null, {moment}), ('c', cast(x'ff' as string), null),
        (cast(x'ff' as string), 'x = 1', null) as t(subscription, filter, expires)"""
    )
    loaded = load(table)
    assert [(each["subscription"], each["expires"]) for each in loaded.accepted.collect()] == [
        ("a", 1769817600.0)
    ]
    reasons = sorted(each["reason"] for each in loaded.rejects.select("reason").collect())
    assert len(reasons) == 4
    assert reasons[0].startswith("Expected UTF-8 text as filter")
    assert reasons[1:] == [
        "Expected a text as id that is not empty and has no NUL, got '\\udcff' of type str",
        "Expected a text as id that is not empty and has no NUL, got None of type NoneType",
        "Expected filter text, got null",
    ]
    nothing = load(table.where("false"))
    assert nothing.accepted.count() == nothing.rejects.count() == 0
    for wrong in (table.drop("filter"), table.selectExpr("1 as subscription", "filter")):
        with pytest.raises(TableError, match="column `"):
            load(wrong)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1 and y between 1 and 2", ["equal x", "between y"]),
        ("x in (1, 2) or lower(y) = 'a'", ["equal lower(y)", "in x"]),
        ("x > 5 and y <= 'z' and z != 3", ["one-sided x", "one-sided y", "intervals z"]),
        ("exists(x) and y is missing and z is null", ["present x", "missing y", "null z"]),
        ("x like 'abc%' and y like 'a%b%c'", ["prefix x", "wildcard y"]),
    ],
)
def test_conditions_have_kinds(text, found):
    told = list_conditions(thatch.parse(text))
    assert set(found) <= set(told)


@pytest.mark.slow
def test_nothing_of_spark_is_imported_before_it_is_needed():
    import subprocess
    import sys

    code = "import sys, thatch.pipeline.sources, thatch.pipeline.folders, thatch.pipeline.jobs.load; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
