from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from thatch.model.expressions import And, Compare, Expression, In, IsNull, Matches
from thatch.model.language.text import expression_of_text
from thatch.workloads import Kind, TextConditions, TextEvents, Workload, generate
from thatch.workloads.columns import WORDS
from thatch.workloads.sampling import zipf_weights
from thatch.workloads.wording import KIND_SHARES


@pytest.fixture(scope="module")
def workload() -> Workload:
    return generate("W5", 5_000, 300, 4)


def conditions(workload: Workload) -> TextConditions:
    assert isinstance(workload.subscriptions, TextConditions)
    return workload.subscriptions


def kind_of(condition: Expression) -> Kind:
    """What a parsed condition is."""
    match condition:
        case Compare(operator=operator):
            return {"=": Kind.EQUAL, "!=": Kind.UNEQUAL}[operator]
        case In():
            return Kind.IN
        case IsNull():
            return Kind.NULL
        case Matches(pattern=pattern):
            is_open = (pattern.text.startswith("%"), pattern.text.endswith("%"))
            return {(False, True): Kind.PREFIX, (True, False): Kind.SUFFIX, (True, True): Kind.CONTAINS}[
                is_open
            ]
        case _:
            raise AssertionError(condition)


def holds(columns: TextConditions, place: int, value: object) -> bool:
    """Whether one condition holds for one value, said from its columns alone."""
    kind, size, rank = Kind(columns.kind[place]), int(columns.size[place]), columns.rank[place]
    order = columns.orders[columns.attribute[place]]
    words = [WORDS[order[(rank + step) % 1_000]] for step in range(size)]
    if not isinstance(value, str):
        return kind is Kind.NULL and value is None
    answers: dict[Kind, bool] = {
        Kind.EQUAL: value == words[0],
        Kind.IN: value in words,
        Kind.UNEQUAL: value != words[0],
        Kind.PREFIX: value.startswith(words[0][: 2 * size]),
        Kind.SUFFIX: value.endswith(words[0][-2 * size :]),
        Kind.CONTAINS: words[0][-2 * size :] in value,
        Kind.NULL: False,
    }
    return answers[kind]


def is_matched(
    columns: TextConditions, subscription: int, event: Mapping[str, object], names: tuple[str, ...]
) -> bool:
    """Whether every condition holds for some element of its attribute's value."""
    for place in range(columns.offsets[subscription], columns.offsets[subscription + 1]):
        value = event.get(names[columns.attribute[place]], [])
        elements = value if isinstance(value, list) else [value]
        if not any(holds(columns, place, element) for element in elements):
            return False
    return True


def test_there_are_a_thousand_different_words() -> None:
    assert len(set(WORDS)) == 1_000


def test_the_shares_of_all_kinds_make_a_whole_with_5_percent_contains() -> None:
    assert set(KIND_SHARES) == set(Kind)
    assert sum(KIND_SHARES.values()) == pytest.approx(1)
    assert KIND_SHARES[Kind.CONTAINS] == 0.05


def test_filter_text_has_every_kind_of_condition_in_its_share(workload: Workload) -> None:
    kinds = []
    for text in workload.filter_texts():
        expression = expression_of_text(text)
        assert isinstance(expression, And)
        kinds += [kind_of(condition) for condition in expression.children]
    shares = np.bincount(kinds, minlength=len(Kind)) / len(kinds)
    assert shares == pytest.approx([KIND_SHARES[kind] for kind in Kind], abs=0.012)
    assert np.array_equal(kinds, conditions(workload).kind)


def test_subscriptions_have_w1_s_shape(workload: Workload) -> None:
    columns = conditions(workload)
    assert len(workload.attributes) == 20
    assert set(np.diff(columns.offsets)) == {3, 4, 5, 6}
    first = np.bincount(columns.attribute[columns.offsets[:-1]], minlength=20) / len(columns)
    assert first == pytest.approx(zipf_weights(20, 0.8), abs=0.02)
    assert np.mean(columns.rank == 0) == pytest.approx(zipf_weights(1_000, 0.9)[0], rel=0.15)


def test_in_has_two_to_five_words_and_like_one_or_two_syllables(workload: Workload) -> None:
    columns = conditions(workload)
    sizes = {kind: set(columns.size[columns.kind == kind].tolist()) for kind in Kind}
    assert sizes[Kind.IN] == {2, 3, 4, 5}
    assert sizes[Kind.PREFIX] == sizes[Kind.SUFFIX] == sizes[Kind.CONTAINS] == {1, 2}
    assert sizes[Kind.EQUAL] == sizes[Kind.UNEQUAL] == sizes[Kind.NULL] == {1}


def test_events_carry_ten_to_twenty_words_nulls_and_lists(workload: Workload) -> None:
    events = workload.events()
    assert {len(event) for event in events} == set(range(10, 21))
    values = [value for event in events for value in event.values()]
    lists = [value for value in values if isinstance(value, list)]
    assert len(lists) / len(values) == pytest.approx(0.05, abs=0.015)
    assert sum(value is None for value in values) / len(values) == pytest.approx(0.05, abs=0.015)
    assert {len(words) for words in lists} == {2, 3, 4}
    words = {value for value in values if isinstance(value, str)} | {
        word for words in lists for word in words
    }
    assert words <= set(WORDS)
    assert len(words) > 900


def test_filters_match_the_events_that_the_columns_say() -> None:
    workload = generate("W5", 1_000, 12, 9)
    columns, filters = conditions(workload), workload.filters()
    for event in workload.events():
        expected = [is_matched(columns, number, event, workload.attributes) for number in range(len(columns))]
        assert [each.matches(event) for each in filters] == expected


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_condition_holds_for_some_values_and_not_for_others(kind: Kind) -> None:
    workload = generate("W5", 400, 30, 9)
    columns = conditions(workload)
    assert isinstance(workload.publications, TextEvents)
    values = {value for event in workload.events() for value in event.values() if not isinstance(value, list)}
    places = np.flatnonzero(columns.kind == kind)[:20]
    assert {holds(columns, place, value) for place in places for value in values} == {True, False}


@pytest.mark.slow
def test_about_as_few_subscriptions_match_as_in_w1() -> None:
    workload = generate("W5", 20_000, 40, 2)
    columns = conditions(workload)
    matches = sum(
        is_matched(columns, number, event, workload.attributes)
        for event in workload.events()
        for number in range(0, len(columns), 8)
    )
    assert 0.004 < 100 * matches / (40 * 2_500) < 0.08
