"""Examples of covering: proofs, witnesses, gaps, checks, and arguments that are refused."""

from __future__ import annotations

from math import inf, nan, nextafter

import numpy as np
import pytest

from thatch import Engine, attr
from thatch.errors import (
    FilterError,
    FilterSyntaxError,
    ParameterError,
    SchemaError,
)
from thatch.model.expressions import And, Exists, Not, Or
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.types import Enum, Integer
from thatch.reduction.covering import covered_by


def used(filter, others, schema=None, **options):
    verdict = covered_by(parse(filter, schema), [parse(each, schema) for each in others], **options)
    assert verdict.covered, verdict
    return verdict.used


def test_present_and_missing_cover_all():
    assert used("a = 1", ["a = 1 and exists(b)", "a = 1 and not exists(b)"]) == (0, 1)


def test_null_and_nan_are_values_like_others():
    assert covered_by("exists(b)", ["b is null", "b is distinct from null"]).covered
    verdict = covered_by("exists(b)", ["b is null", "b < 5", "b >= 5", "b >= ''", "b in (true, false)"])
    assert verdict.witness.keys() == {"b"}
    assert verdict.witness["b"] != verdict.witness["b"]


def test_a_declared_range_is_covered_by_two_halves():
    schema = Schema({"n": Integer(0, 1000)})
    assert used("n >= 0", ["n <= 499", "n >= 500"], schema) == (0, 1)
    assert covered_by("n >= 0", ["n <= 499", "n >= 500"]).covered is False


def test_listed_values_of_an_enum_cover_it():
    schema = Schema({"side": Enum("buy", "sell", "short")})
    parts = ["side = 'buy'", "side in ('sell', 'short')", "side is null"]
    assert used("exists(side)", parts, schema) == (0, 1, 2)
    assert used("a = 1", [*parts, "not exists(side)"], schema) == (0, 1, 2, 3)


def test_a_gap_between_neighbouring_doubles_is_not_proved_and_not_refuted():
    verdict = covered_by("x > 0", ["x <= 1", f"x >= {nextafter(1, 2)!r}"])
    assert (verdict.covered, verdict.decided_by) == (None, "gap")
    verdict = covered_by("x > 0", ["x <= 9007199254740992", "x >= 9007199254740994.0"])
    assert verdict.witness == {"x": 9007199254740993}
    verdict = covered_by("x > 'a'", ["x <= 'ab'", "x >= 'ab\0'"])
    assert (verdict.covered, verdict.decided_by) == (None, "gap")


def test_a_proof_that_needs_no_gap_is_a_proof():
    others = ["x <= 1", f"x >= {nextafter(1, 2)!r}", "x between 0 and 5"]
    assert used("x > 0", others) == (1, 2)


def test_an_event_beside_a_gap_is_found():
    others = ["x <= 1 and y < 5", f"x >= {nextafter(1, 2)!r} and y < 5"]
    assert covered_by("x > 0", others).covered is False


def test_several_conjunctions_are_covered_by_the_union_of_their_proofs():
    assert used("a = 1 or b = 2", ["a < 5", "b < 5", "c = 1"]) == (0, 1)
    verdict = covered_by("a = 1 or b = 2", ["a < 5"])
    assert verdict.witness == {"b": 2}


def test_values_tell_about_derived_attributes_and_checks():
    assert used("s = 'IBM'", ["lower(s) = 'ibm'"]) == (0,)
    assert used("s in ('abc', 'ABD')", ["lower(s) like 'ab%'"]) == (0,)
    assert used("s = 'xaybz'", ["s like '%a%b%'"]) == (0,)
    assert used("ip(s) = '10.0.0.1'", ["cidr(s, '10.0.0.0/8')"]) == (0,)


def test_a_check_and_its_opposite_cover_all_texts():
    assert used("s >= ''", ["s like '%a%b%'", "s not like '%a%b%'"]) == (0, 1)
    assert used("a = 1 and exists(s)", ["s like '%a%b%'", "s is unlike '%a%b%'"]) == (0, 1)


def test_witnesses_for_derived_attributes_and_checks_are_found():
    for asked, others in [
        ("s like 'ab%'", ["lower(s) like 'abc%'"]),
        ("lower(s) = 'ibm'", ["s = 'ibm'", "s = 'IBM'"]),
        ("s like '%a%b%'", ["s like 'a%'"]),
        ("s like '%.txt'", ["s like 'a%'"]),
        ("s like 'a%z'", ["s like '%b%c%'"]),
        ("cidr(s, '10.0.0.0/8')", ["cidr(s, '10.0.0.0/9')"]),
        ("time(s) >= timestamp '2026-01-01'", ["time(s) > timestamp '2026-01-01T00:00:00.000001Z'"]),
        ("within(lat, lon, circle(10, 10, 100000))", ["lat > 10.5"]),
        ("within(lat, lon, circle(10, 10, 100000))", ["within(lat, lon, circle(10, 10, 50000))"]),
    ]:
        verdict = covered_by(asked, others)
        assert verdict.covered is False, (asked, verdict)
        assert parse(asked).matches(verdict.witness)
        assert not any(parse(each).matches(verdict.witness) for each in others)


def test_what_cannot_be_found_out_about_checks_is_not_proved():
    verdict = covered_by("s like '%b%c%'", ["s ~ 'b.*c'"])
    assert (verdict.covered, verdict.decided_by) == (None, "residual")


@pytest.mark.parametrize(
    ("asked", "others", "used"),
    [
        ("s like '%a%b%'", ["s like '%a%'"], (0,)),
        ("s like '%b%c%'", ["lower(s) like '%b%c%'"], (0,)),
        ("s like '%a%' and s like '%b%'", ["s like '%a%b%'", "t = 1", "s like '%b%a%'"], (0, 2)),
        ("s like '%ab%' and n = 1", ["s like '%a%' and n < 1", "s like '%b%' and n >= 1"], (1,)),
        ("s like '%ab%' and exists(n)", ["s like '%a%' and n = 1", "s like '%b%' and n is distinct from 1"], (0, 1)),
        ("s like '%ab%' or n = 1", ["n > 0 or s like '%a%' or s like '%c%'"], (0,)),
        ("s like 'ab%'", ["s like '%b%'"], (0,)),
        ("within(a, b, circle(10, 10, 1000))", ["within(a, b, circle(10.001, 10, 2000))"], (0,)),
    ],
)  # fmt: skip
def test_patterns_and_shapes_are_contained_in_others(asked, others, used):
    assert covered_by(asked, others).used == used
    engine = Engine(background=False)
    for number, each in enumerate(others):
        engine.subscribe(str(number), each)
    assert covered_by(asked, engine).used == tuple(map(str, used))


def test_a_product_of_many_alternatives_is_covered_without_multiplying_it_out():
    group = " and ".join(
        "(" + " or ".join(f"{name}{other} like '%{number}%'" for name in "ab" for number in range(20)) + ")"
        for other in range(5)
    )
    narrow = group.replace("%'", "-%'")
    assert covered_by(narrow, [group]).decided_by == "pairwise"
    verdict = covered_by(group, [narrow])
    assert verdict.covered is False
    assert parse(group).matches(verdict.witness)
    assert not parse(narrow).matches(verdict.witness)


def test_witnesses_are_easy_to_read():
    assert covered_by("price > 100 and symbol = 'IBM'", ["price > 150"]).witness == {
        "price": 110,
        "symbol": "IBM",
    }
    assert covered_by("price between 0.1 and 0.25", ["price < 0.2"]).witness == {"price": 0.2}
    assert covered_by("s like 'ab%'", ["s = 'ab'"]).witness == {"s": "aba"}
    assert covered_by("o.p = 1", []).witness == {"o.p": 1}


def test_nothing_covers_but_what_is_given():
    verdict = covered_by("a = 1", [])
    assert (verdict.covered, verdict.certain, verdict.decided_by) == (False, True, "empty")
    assert verdict.witness == {"a": 1}


def test_a_filter_of_very_many_boxes_covers_box_by_box():
    many = ", ".join(map(str, range(0, 120, 2)))
    wide = f"a in ({many}) and b in ({many})"  # 3,600 boxes
    assert covered_by("a = 4 and b = 6", [wide]).used == (0,)
    assert used("a = 4 and b between 6 and 7", [wide, "b > 6 and b <= 7"]) == (0, 1)
    verdict = covered_by("a = 4 and b between 6 and 8", [wide])
    assert verdict.covered is False
    assert not parse(wide).matches(verdict.witness)


@pytest.mark.slow
def test_a_question_of_very_many_boxes_is_only_compared_with_one_other():
    many = ", ".join(map(str, range(0, 120, 2)))
    wide = f"a in ({many}) and b in ({many})"
    assert used(wide, ["a < 500", wide]) == (0,)
    split = [
        f"a in ({many}) and b in ({many}) and exists(c)",
        f"a in ({many}) and b in ({many}) and not exists(c)",
    ]
    verdict = covered_by(wide, split)
    assert verdict.covered is True or verdict.decided_by == "budget"


def test_all_ways_to_write_a_filter_are_accepted():
    others = [{"price": [{"numeric": ["<", 60]}]}, attr("price") >= 50, "price is null"]
    assert covered_by(parse("price < 100"), others).used == (0, 1)
    assert covered_by(attr("price") == 5, others).used == (0,)


def test_subscriptions_of_an_engine_are_named_by_their_ids():
    engine = Engine()
    for number in range(200):
        engine.subscribe(f"s{number}", f"x >= {number} and x <= {number + 1} and y > {number % 3 - 5}")
    verdict = covered_by("x >= 10 and x <= 12.5 and y > 0", engine)
    assert (verdict.covered, verdict.used) == (True, ("s10", "s11", "s12"))
    assert covered_by("x = 3.5", engine).covered is False
    assert covered_by("x = 3.5 and y = 1", engine, algorithm="pairwise").used == ("s3",)
    assert covered_by("x = 3.5 and y = 1", Engine()).witness == {"x": 3.5, "y": 1}


def test_a_budget_that_is_too_small_proves_nothing():
    rng = np.random.default_rng(7)
    ends = rng.integers(0, 1000, (60, 5, 2))
    others = [
        " and ".join(
            f"a{axis} {'<' if low < high else '>'} {low}"
            for axis, (low, high) in enumerate(row)
            if axis % 2 == low % 2
        )
        or "a0 < 5"
        for row in ends.tolist()
    ]
    asked = " and ".join(f"a{axis} >= 0 and a{axis} <= 1000" for axis in range(5))
    verdicts = [covered_by(asked, others, budget=budget) for budget in (1, inf)]
    assert verdicts[1].covered is not None
    assert verdicts[0].covered in (None, verdicts[1].covered)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"algorithm": "magic"}, "algorithm"),
        ({"budget": 0}, "budget"),
        ({"budget": nan}, "budget"),
        ({"budget": "5"}, "budget"),
        ({"budget": True}, "budget"),
        ({"algorithm": "rspc", "delta": 0, "rng": np.random.default_rng(1)}, "delta"),
        ({"algorithm": "rspc", "delta": 1.0, "rng": np.random.default_rng(1)}, "delta"),
        ({"algorithm": "rspc", "delta": nan, "rng": np.random.default_rng(1)}, "delta"),
        ({"algorithm": "rspc", "rng": np.random.default_rng(1)}, "delta"),
        ({"algorithm": "rspc", "delta": 0.1}, "rng"),
        ({"algorithm": "rspc", "delta": 0.1, "rng": 5}, "rng"),
        ({"algorithm": "rspc", "delta": 0.1, "rng": np.random.default_rng(1), "cap": 0}, "cap"),
        ({"cap": 1.5}, "cap"),
    ],
)
def test_parameters_out_of_range_are_refused(options, where):
    with pytest.raises(ParameterError) as caught:
        covered_by("a = 1", ["a = 1"], **options)
    assert caught.value.where == where


def test_the_conjunctions_of_a_filter_share_the_error_that_is_accepted():
    def trials(filter, delta):
        verdict = covered_by(filter, rows, algorithm="rspc", delta=delta, rng=np.random.default_rng(1))
        assert (verdict.covered, verdict.decided_by) == (True, "rspc")
        return verdict.work.trials

    sides = [((0, 6), (0, 5)), ((5, 9), (0, 6)), ((3, 9), (5, 9)), ((0, 5), (4, 9))]  # around the middle
    rows = [
        f"{x} between {a} and {b} and {y} between {c} and {d}"
        for x, y in ("xy", "uv")
        for (a, b), (c, d) in sides
    ]
    one, other = (f"{x} between 0 and 9 and {y} between 0 and 9" for x, y in ("xy", "uv"))
    assert trials(f"{one} or {other}", 0.01) == trials(one, 0.005) + trials(other, 0.005)
    assert trials(one, 0.005) > trials(one, 0.01)


@pytest.mark.parametrize("others", ["a = 1", parse("a = 1"), {"a": [1]}, 5, None])
def test_others_must_be_several(others):
    with pytest.raises(ParameterError, match="a sequence of filters"):
        covered_by("a = 1", others)


def test_bad_filters_and_mixed_schemas_are_refused():
    with pytest.raises(FilterSyntaxError):
        covered_by("a =", ["a = 1"])
    with pytest.raises(FilterError):
        covered_by("a = 1", [5])
    declared = parse("a = 1", Schema({"a": Integer()}))
    with pytest.raises(SchemaError):
        covered_by(declared, [parse("a = 1")])
    with pytest.raises(SchemaError):
        covered_by(parse("a = 1"), Engine(Schema({"a": Integer()})))
    assert covered_by("a = 1", [declared]).covered


@pytest.mark.slow
def test_very_many_attributes_are_no_trouble():
    asked = parse(And(tuple(attr(f"a{number}") >= 0 for number in range(20_000))))
    others = [And((attr(f"a{number}") >= 0, attr("b") < 5)) for number in range(20)]
    verdict = covered_by(asked, [*others, Exists("b"), Not(Exists("b"))])
    assert verdict.used == (20, 21)
    assert covered_by(asked, others).covered is False
    assert covered_by(Or((asked_part := attr("a1") == 1, attr("a2") == 2)), [asked_part]).covered is False
