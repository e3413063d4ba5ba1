"""Covering by diagrams: one pass finds who covers a box and whom it covers, as the definition has it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.reduction.references.diagrams import contains, covered_boxes
from thatch.errors import ParameterError
from thatch.reduction import Diagrams, ForwardingSet
from thatch.reduction.boxes import Boxes
from thatch.reduction.diagrams import DiagramJudge, box_diagrams, find_covers, judge

Sides = dict[int, tuple[int, int]]

_ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda ends: (min(ends), max(ends)))
_boxes = st.dictionaries(st.integers(0, 2), _ends, max_size=3)


def _box(sides: Sides) -> judge.Box:
    ends = np.array([sides[axis] for axis in sorted(sides)], np.int64).reshape(-1, 2)
    return np.array(sorted(sides), np.int32), ends[:, 0].copy(), ends[:, 1].copy()


def _boxes_of(some: list[Sides]) -> Boxes:
    columns = [np.concatenate(each) for each in zip(*map(_box, [*some, {}]), strict=True)]
    return Boxes(np.cumsum([0, *map(len, some)]), *columns)


@pytest.mark.parametrize("phases", [1, 2])
@given(some=st.lists(_boxes, max_size=10), asked=_boxes, data=st.data())
def test_every_pair_is_related_as_the_definition_says(
    phases: int, some: list[Sides], asked: Sides, data: st.DataObject
) -> None:
    known = DiagramJudge(phases)
    for number, sides in enumerate(some):
        known.add(number, *_box(sides))
    for number in data.draw(st.sets(st.sampled_from(range(len(some))))) if some else ():
        known.remove(number)
        some[number] = None
    live = {number: sides for number, sides in enumerate(some) if sides is not None}
    verdict = known.decide(*_box(asked))
    covering = {number for number, sides in live.items() if contains(sides, asked)}
    assert verdict.covered == bool(covering)
    assert set(verdict.used) <= covering
    if not covering:
        inside = {number for number, sides in live.items() if contains(asked, sides)}
        found = set(known.neighbours(*_box(asked)).tolist())
        assert found <= inside
        # What is missing hangs below a box that is not inside.
        assert all(
            any(contains(live[other], live[each]) for other in live if other != each)
            for each in inside - found
        )
    related = known._find_related(*_box(asked))
    if related[0] is None:
        assert all(contains(asked, live[each]) for each in related[1])


@pytest.mark.parametrize("phases", [1, 2])
@given(some=st.lists(_boxes, max_size=12))
def test_boxes_that_come_one_after_the_other_leave_an_antichain(phases: int, some: list[Sides]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(box_diagrams, "_LEAST", 4)  # so that everything must grow
        boxes = _boxes_of(some)
        above = find_covers(boxes, phases=phases)
    assert set(np.flatnonzero(above >= 0).tolist()) == covered_boxes(boxes)
    for inner, outer in enumerate(above.tolist()):
        assert outer < 0 or contains(some[outer], some[inner])


def test_many_groups_and_many_boxes_are_decided_as_each_pair_is() -> None:
    """Subsets of axes are asked for one by one, and axes share rows."""
    rng = np.random.default_rng(3)
    some = []
    for _ in range(400):
        axes = rng.choice([0, 1, 2, 3, 4, 64, 65, 66], rng.integers(0, 5), replace=False).tolist()
        lows, widths = rng.integers(0, 3, (2, len(axes))).tolist()
        some.append({axis: (low, low + width) for axis, low, width in zip(axes, lows, widths, strict=True)})
    some[0] = dict.fromkeys(range(30), (0, 9))
    for boxes in (_boxes_of(some), _boxes_of([each for each in some if len(each) > 1])):
        found = [find_covers(boxes, phases=phases) for phases in (1, 2)]
        assert set(np.flatnonzero(found[0] >= 0).tolist()) == covered_boxes(boxes)
        assert ((found[0] < 0) == (found[1] < 0)).all()


def test_diagrams_are_built_anew_when_most_of_their_groups_are_empty() -> None:
    known = DiagramJudge()
    for number in range(200):
        known.add(number, *_box({number: (0, 1), number + 1: (0, 1)}))
    for number in range(190):
        known.remove(number)
    assert known._diagrams.groups < 200
    assert known.decide(*_box({195: (0, 0), 196: (1, 1), 3: (0, 0)})).used == (195,)
    assert not known.decide(*_box({3: (0, 0), 4: (0, 0)})).covered


_conditions = st.dictionaries(
    st.sampled_from("abc"),
    st.tuples(st.sampled_from(["<", "<=", "=", ">=", ">", "!="]), st.integers(0, 4)),
    min_size=1,
)
_filters = _conditions.map(
    lambda found: thatch.parse(
        " and ".join(f"{name} {sign} {value}" for name, (sign, value) in found.items())
    )
)


@given(_filters, _filters)
def test_a_link_leaves_out_and_withdraws_what_the_other_filter_covers(
    old: thatch.Filter, new: thatch.Filter
) -> None:
    link = ForwardingSet(Diagrams())
    link.add("old", old)
    changes = link.add("new", new)
    assert bool(changes.forward) == (not old.covers(new))
    assert bool(changes.withdraw) == (new.covers(old) and not old.covers(new))


@pytest.mark.slow
def test_kernels_answer_the_same_as_plain_python() -> None:
    program = """
import numpy as np
from thatch.reduction.boxes import Boxes
from thatch.reduction.diagrams import DiagramJudge, find_covers
from tests.reduction.references.diagrams import covered_boxes

ends = np.sort(np.random.default_rng(2).integers(0, 4, (60, 5, 2)), axis=2)
boxes = Boxes.of(np.where(ends[..., 0] == 0, -(2**61), ends[..., 0]), np.where(ends[..., 1] == 3, 2**61 - 1, ends[..., 1]))
for phases in (1, 2):
    assert set(np.flatnonzero(find_covers(boxes, phases=phases) >= 0).tolist()) == covered_boxes(boxes)
judge = DiagramJudge()
for number, box in enumerate(boxes):
    judge.add(number, *box)
for number in range(60):
    judge.remove(number)
assert not judge._node_of
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=300)


def test_the_paper_s_new_subscription_is_covered() -> None:
    """li2005, section 4.2 and figure 6, with the price of the existing subscription below 150."""
    link = ForwardingSet(Diagrams())
    link.add("old", "price < 150 and day = 'July 20, 2004' and destination = 'Ottawa'")
    assert link.add("new", "price = 80 and day = 'July 20, 2004' and destination = 'Ottawa'").forward == ()
    assert link.proof("new") == ("old",)


def test_an_attribute_that_only_the_new_one_has_leaves_the_old_one_where_it_is() -> None:
    link = ForwardingSet(Diagrams())
    link.add("old", "price = 80")
    changes = link.add("new", "price < 150 and destination = 'Ottawa'")
    assert ([name for name, _ in changes.forward], changes.withdraw) == (["new"], ())


def test_a_new_one_that_covers_others_takes_their_place_and_gives_it_back() -> None:
    link = ForwardingSet(Diagrams())
    link.add("one", "price = 80 and destination = 'Ottawa'")
    link.add("two", "price = 90")
    assert link.add("both", "price between 50 and 100").withdraw == ("one", "two")
    changes = link.remove("both")
    assert (sorted(name for name, _ in changes.forward), changes.withdraw) == (["one", "two"], ("both",))


def test_one_pass_looks_at_less_than_two_where_boxes_are_wide_and_tails_few() -> None:
    looked_at = []
    ends = np.random.default_rng(5).integers(0, 100, (300, 3)).tolist()
    for phases in (1, 2):
        known = DiagramJudge(phases)
        for number, (low, width, tail) in enumerate(ends):
            known.add(number, *_box({0: (tail % 10, tail % 10), 1: (low, low + width)}))
        looked_at.append(known.looked_at)
    assert looked_at[0] < looked_at[1]


def test_other_numbers_of_phases_are_refused() -> None:
    with pytest.raises(ParameterError, match="phases"):
        Diagrams(phases=3)  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(ParameterError, match="phases"):
        find_covers(_boxes_of([]), phases=0)
