"""Plans as folders."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.subscribers import homes, people, sites
from tests.strategies import expressions, schemas
from thatch import Integer, Schema, parse
from thatch.errors import FilterError, OutputError, TableError
from thatch.formats.folders import read_manifest
from thatch.formats.plan import read_plan, write_plan
from thatch.model.expressions import Compare, Distinct, Or
from thatch.model.filters import Filter
from thatch.placement import PlacementOptions, SubscriptionList, place

QUICK = PlacementOptions(algorithm="gr_star", max_delay=3.0)


@pytest.fixture(scope="module")
def plan():
    rows, places = people(5, 40)
    return place(SubscriptionList(rows), sites(inner=2), places, QUICK)


def test_a_plan_comes_back_from_its_folder(plan, tmp_path):
    write_plan(tmp_path / "plan", plan, report="<p>", command="thatch place", parameters={"seed": 0})
    again = read_plan(tmp_path / "plan")
    assert again.subscribers == plan.subscribers
    assert again.tree.names == plan.tree.names
    assert again.axes == plan.axes
    assert again.certificate == plan.certificate
    assert dict(again.statistics) == dict(plan.statistics)
    assert again.yardsticks == plan.yardsticks
    for name in ("shares", "loads", "complexities", "assignment", "distances", "delays", "volumes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(plan, name))
    for mine, theirs in zip(again.boxes, plan.boxes, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert again.filters == plan.filters
    manifest = read_manifest(tmp_path / "plan", "plan")
    assert manifest["rows"]["assignment"] == 40
    assert manifest["command"] == "thatch place"


@pytest.mark.slow
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(expressions, min_size=1, max_size=3), schemas)
@example([Distinct("x", 5)], None)  # an interval from below 5 to the end of texts
@example([Or((Compare("x", "<", 5), Compare("x", ">", 7)))], None)
def test_any_filters_make_a_plan_whose_filters_come_back_equal(tmp_path, written, schema):
    rows = []
    for each in written:
        with suppress(FilterError):  # it never matches, or is too large
            rows.append((f"s{len(rows)}", Filter.of(each, schema)))
    if not rows:
        return
    names = [name for name, _ in rows]
    places = homes(names, np.zeros(len(names)))
    plan = place(SubscriptionList(rows), sites(leaves=2), places, QUICK, schema=schema)
    described = {"schema": None if schema is None else schema.describe()}
    write_plan(tmp_path / "plan", plan, parameters=described, overwrite=True)
    assert read_plan(tmp_path / "plan").filters == plan.filters


def test_an_infeasible_plan_keeps_its_reasons(tmp_path):
    rows = [(f"s{number}", parse("price < 5")) for number in range(40)]
    places = homes([name for name, _ in rows], np.full(40, 3.0))
    near = PlacementOptions(algorithm="closest", max_delay=0.1, latency="last_hop")
    plan = place(SubscriptionList(rows), sites(), places, near)
    assert plan.certificate.broken
    assert plan.certificate.shortage is not None
    assert plan.certificate.relaxations
    write_plan(tmp_path / "plan", plan)
    assert read_plan(tmp_path / "plan").certificate == plan.certificate
    assert pq.read_table(tmp_path / "plan/certificate.parquet").column("reasons").to_pylist() == [
        list(plan.certificate.reasons)
    ]


def test_a_plan_keeps_its_schema(tmp_path):
    schema = Schema({"qty": Integer(0, 9)})
    rows = [("a", parse("qty <= 4", schema=schema))]
    plan = place(SubscriptionList(rows), sites(), homes("a", [0.0]), QUICK, schema=schema)
    write_plan(tmp_path / "plan", plan, parameters={"schema": schema.describe()})
    asked = [each for each in read_plan(tmp_path / "plan").filters if each is not None]
    assert asked == [rows[0][1]]
    assert plan.statistics["bandwidth"] == pytest.approx(0.5)


def test_folders_are_replaced_only_when_asked_and_only_if_a_command_wrote_them(plan, tmp_path):
    write_plan(tmp_path / "plan", plan)
    with pytest.raises(OutputError, match="already exists"):
        write_plan(tmp_path / "plan", plan)
    write_plan(tmp_path / "plan", plan, overwrite=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="what no command"):
        write_plan(tmp_path / "other", plan, overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="what no command"):
        write_plan(tmp_path / "file", plan, overwrite=True)
    with pytest.raises(OutputError, match="can be written"):
        write_plan(tmp_path / "file" / "plan", plan)
    assert {each.name for each in tmp_path.iterdir()} == {"plan", "other", "file"}


def test_a_plan_that_was_changed_is_refused(plan, tmp_path):
    write_plan(tmp_path / "plan", plan)
    pq.write_table(pq.read_table(tmp_path / "plan/tree.parquet").slice(1), tmp_path / "plan/tree.parquet")
    with pytest.raises(TableError, match="the size in the manifest"):
        read_plan(tmp_path / "plan")
    manifest = json.loads((tmp_path / "plan/manifest.json").read_text())
    manifest["kind"] = "profile"
    (tmp_path / "plan/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableError, match="a folder of kind plan"):
        read_plan(tmp_path / "plan")
