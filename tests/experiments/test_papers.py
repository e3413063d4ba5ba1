"""Every experiment, in quick size, as people run it: through the command; and the shapes that it shows."""

from __future__ import annotations

import pytest

from tests.app.here import run_here
from tests.experiments.conftest import QUICK
from thatch.experiments.catalogue import EXPERIMENTS, PAPERS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]


def test_all_of_them_run_and_are_compared_with_the_papers_values(quick_run, shown):
    _, ended = quick_run
    assert ended.returncode == 0, ended.stderr
    assert "failed" not in ended.stderr
    for name, each in EXPERIMENTS.items():
        found = shown(each)
        assert found.quick
        assert found.results.done == found.results.trials > 0
        assert f"{name} (" in ended.stdout
        assert any(line.ours is not None for line in found.comparisons)


def test_nothing_is_run_again(quick_run):
    folder, _ = quick_run
    ended = run_here(folder, *QUICK)
    assert ended.returncode == 0
    told = [line for line in ended.stderr.splitlines() if line]
    assert len(told) == len(EXPERIMENTS)
    assert all(": 0 trials in " in line and "were already finished" in line for line in told)


def test_a_page_is_made_for_each_paper(quick_run):
    folder, _ = quick_run
    ended = run_here(folder, "experiments", "report", "--results", "here")
    assert ended.returncode == 0, ended.stderr
    for paper, title in PAPERS.items():
        page = (folder / "here" / f"{paper}.html").read_text()
        assert title in page
        for each in EXPERIMENTS.values():
            if each.paper == paper:
                assert f"{each.figure}: {each.title}" in page
    assert "There are no results yet" not in page


def test_mcs_removes_anchored_rows_and_hardly_any_two_sided_ones(ran):
    results = ran(EXPERIMENTS["ouksel2006/fig5"])
    assert results.mean("removed", form="anchored", rows=100) > 0.6
    assert results.mean("removed", form="two-sided", rows=100) < 0.1
    assert results.mean("removed", form="anchored", rows=10) > 0.9


def test_mcs_saves_random_points_where_it_removes_rows(ran):
    results = ran(EXPERIMENTS["ouksel2006/fig6"])
    where = {"form": "anchored", "rows": 100}
    assert results.mean("log_trials_reduced", **where) < results.mean("log_trials", **where) - 3
    assert results.mean("log_trials_corrected", **where) >= results.mean("log_trials_reduced", **where)


def test_what_is_not_covered_is_found_with_few_points_and_never_missed(ran):
    results = ran(EXPERIMENTS["ouksel2006/fig8"])
    assert results.mean("removed", form="anchored") > 0.9
    assert results.mean("guesses", form="anchored") < 0.5
    assert results.total("is_wrong") == 0


def test_the_literal_witness_probability_misses_narrow_gaps_and_the_corrected_one_does_not(ran):
    results = ran(EXPERIMENTS["ouksel2006/fig10"])
    where = {"form": "slabs", "delta": 1e-3, "gap": 0.005}
    assert results.mean("is_wrong", literal=True, **where) > 0.05
    assert results.mean("is_wrong", literal=False, **where) < 0.05
    assert results.mean("guesses", form="slabs", gap=0.02) == pytest.approx(50, rel=0.3)


def test_groups_leave_fewer_active_than_pairs(ran):
    results = ran(EXPERIMENTS["ouksel2006/fig11"])
    for attributes in (10, 20):
        where = {"attributes": attributes, "arrived": 400}
        assert results.mean("active", policy="group", **where) < results.mean(
            "active", policy="pairwise", **where
        )
    assert results.total("wrong", policy="group") == 0


def test_subsumption_finds_more_than_covering_and_less_in_more_dimensions(ran):
    results = ran(EXPERIMENTS["jafarpour2008/fig10"])
    found = {
        (method, dimensions): results.mean("redundant", method=method, dimensions=dimensions, arrived=300)
        for method in ("checker", "pairwise")
        for dimensions in (2, 3, 4)
    }
    assert all(found["checker", each] > found["pairwise", each] for each in (2, 3, 4))
    assert found["checker", 2] > found["checker", 3] > found["checker", 4]


def test_the_exact_checker_agrees_with_exact_negative_space(ran):
    results = ran(EXPERIMENTS["jafarpour2008/fig10"])
    for dimensions in (2, 3):
        told = [
            results.values("redundant", method=method, dimensions=dimensions).tolist()
            for method in ("checker", "exact")
        ]
        assert told[0] == told[1]


def test_a_larger_k_finds_more_with_more_boxes(ran):
    results = ran(EXPERIMENTS["jafarpour2008/fig13"])
    for name in ("redundant", "boxes"):
        told = [results.mean(name, method="approximate", k=k, arrived=300) for k in (10, 50, 100)]
        assert told == sorted(told)
        assert told[-1] <= results.mean(name, method="exact", arrived=300)


def test_a_rebuild_loses_nothing_and_drops_boxes(ran):
    results = ran(EXPERIMENTS["jafarpour2008/rebuild"])
    assert (results.values("rebuilt") <= results.values("exact")).all()
    assert results.mean("rebuilt", turn=2) > results.mean("passive", turn=2, reassigns=False)
    assert results.total("unsafe") == 0
    assert results.mean("boxes_rebuilt", turn=2) < results.mean("boxes", turn=2)
    assert results.total("forwards", turn=0) == results.total("withdrawals", turn=0) == 0


def test_gr_star_needs_less_than_those_that_ignore_event_space_and_more_than_who_ignores_the_network(ran):
    results = ran(EXPERIMENTS["yu2012/fig6"])
    told = [results.mean("bandwidth", algorithm=name) for name in ("Gr¬l", "Gr*", "Closest", "Balance")]
    assert told[0] < told[1] < min(told[2:])
    assert results.mean("late", algorithm="Gr¬l") > 0.5
    for name in ("SLP", "Gr*", "Gr"):
        assert results.total("late", algorithm=name) == 0
    for name in ("SLP", "Balance"):
        assert "infeasible" not in results.values("status", algorithm=name)


def test_no_placement_within_latencies_is_below_the_proved_bound(ran):
    for name in ("yu2012/table1", "yu2012/table2"):
        results = ran(EXPERIMENTS[name])
        assert (
            results.values("bound", algorithm="SLP") <= results.values("bandwidth", algorithm="SLP")
        ).all()


def test_slp_keeps_loads_between_balance_and_the_nearest_broker(ran):
    results = ran(EXPERIMENTS["yu2012/table3"])
    for ratio in results.choices("ratio"):
        told = [
            results.mean("load_factor", algorithm=name, ratio=ratio)
            for name in ("Balance", "SLP", "Closest¬b")
        ]
        assert told == sorted(told)


def test_slp_keeps_all_limits_on_two_levels(ran):
    for name in ("yu2012/fig9", "yu2012/fig13", "yu2012/fig14"):
        results = ran(EXPERIMENTS[name])
        assert "infeasible" not in results.values("status", algorithm="SLP", levels=2)


def test_gr_loads_brokers_more_than_slp_where_limits_are_tight(ran):
    results = ran(EXPERIMENTS["yu2012/fig9"])
    told = [
        results.mean("load_factor", algorithm=name, limits="tight")
        for name in ("Balance", "SLP", "Gr*", "Gr")
    ]
    assert told == sorted(told)
    assert told[1] < told[3]
    loads = ran(EXPERIMENTS["yu2012/fig10b"])
    assert loads.values("x", algorithm="SLP", limits="loose", part="load").max() <= 1.5


def test_more_super_interests_need_less_bandwidth(ran):
    results = ran(EXPERIMENTS["yu2012/fig14"])
    for levels in (1, 2):
        told = [results.mean("bandwidth", levels=levels, clusters=clusters) for clusters in (1, 5)]
        assert told[0] > told[1]


def test_larger_delays_and_larger_filters_need_less_bandwidth(ran):
    delays, filters = ran(EXPERIMENTS["yu2012/fig12"]), ran(EXPERIMENTS["yu2012/fig11b"])
    assert delays.mean("candidates", delay=0.3) < delays.mean("candidates", delay=1.0)
    for name in ("SLP", "Gr*"):
        assert delays.mean("bandwidth", algorithm=name, delay=0.3) > delays.mean(
            "bandwidth", algorithm=name, delay=1.0
        )
        assert filters.mean("bandwidth", algorithm=name, complexity=1) > filters.mean(
            "bandwidth", algorithm=name, complexity=3
        )


def test_loads_and_delays_of_every_algorithm_are_reported_one_by_one(ran):
    results = ran(EXPERIMENTS["yu2012/fig8"])
    for name in ("SLP", "Gr*", "Gr", "Gr¬l", "Closest", "Balance"):
        loads = results.values("x", algorithm=name, part="load")
        assert loads.mean() == pytest.approx(1)
        assert len(results.values("y", algorithm=name, part="delay")) == 400
    assert results.values("y", algorithm="Gr*", part="delay").max() <= 0.3 + 1e-6
    assert results.values("y", algorithm="Gr¬l", part="delay").max() > 0.3


def test_more_super_interests_make_more_candidate_boxes(ran):
    results = ran(EXPERIMENTS["yu2012/fig15"])
    assert results.mean("candidates", clusters=1) < results.mean("candidates", clusters=5)
