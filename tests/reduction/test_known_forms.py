"""Which patterns and shapes follow from a conjunction, against the exact decision; links and tables omit what is covered."""

from __future__ import annotations

from random import Random

import pytest

import thatch
from thatch.model.language import parse
from thatch.reduction import Exact, ForwardingSet, Merging, Pairwise
from thatch.reduction.coordinates.implications import Implications

FORMS = [
    "%a%",
    "%ab%",
    "%b%a%",
    "a%",
    "%b",
    "a%b",
    "_b%",
    "%abc%",
    "%bca%",
    "%_c%",
    "abc",
    "%abcab%",
    "%A%",
    "%Ab%",
]
KEYS = ["x", "lower(x)", "reverse(x)"]


@pytest.mark.slow
def test_checks_that_are_said_to_follow_do_follow():
    rng = Random(4)
    conditions = [
        f"{key} like '{form}'" for key in KEYS for form in FORMS if key != "lower(x)" or form.islower()
    ]
    conditions += [f"not ({each})" for each in conditions] + [
        "x > 'ab'",
        "x = 'abc'",
        "x in ('a', 'b')",
        "exists(x)",
    ]
    known = Implications(None)
    for each in conditions:
        for conjunction in parse(each).conjunctions:
            for check in conjunction.residuals:
                known.add(check.opposite() if check.negated else check)
    found = 0
    for _ in range(300):
        parts = rng.sample(conditions, rng.randrange(1, 3))
        try:
            filter = parse(" and ".join(parts))
        except thatch.FilterError:
            continue
        for conjunction in filter.conjunctions:
            for check in known.checks_of(conjunction):
                if check not in conjunction.residuals:
                    found += 1
                    holds = f"{check.key} like '{check.pattern.text}'"
                    covering = parse(
                        f"x is missing or x is unlike '%' or not ({holds})" if check.negated else holds
                    )
                    assert covering.covers(filter), (parts, check)
    assert found > 200


LINK = {
    "a": "x like '%a%' and y < 3",
    "b": "x like '%b%' and y >= 3",
    "ab": "x like '%ab%' and y between 0 and 9",
    "end": "x like '%zab'",
    "z": "x like '%za%'",
    "longer": "x like 'zab%qq%'",
    "wide": "within(p, q, circle(10, 10, 2000))",
    "narrow": "within(p, q, circle(10.001, 10, 1000))",
}


@pytest.mark.parametrize("policy", [Exact(), Merging()], ids=["exact", "merging"])
def test_links_decide_text_and_shapes(policy):
    link = ForwardingSet(policy)
    for name, text in LINK.items():
        link.add(name, text)
    assert {name: link.proof(name) for name in link.passive} == {
        "ab": ("a", "b"),
        "longer": ("z",),
        "narrow": ("wide",),
    }
    assert {name for name, _ in link.remove("a").forward} == {"ab"}


def test_one_pattern_inside_another_is_covered_pairwise():
    link = ForwardingSet(Pairwise())
    for number in range(200):
        link.add(f"wide {number}", f"x like '%word{number}-%'")
        link.add(f"narrow {number}", f"x like '%a word{number}- of%' and y = {number}")
    assert len(link.active) == len(link.passive) == 200


def test_checks_of_one_attribute_that_are_no_patterns_are_kept_apart():
    link = ForwardingSet(Exact())
    link.add("arithmetic", "x * x > 2")
    link.add("pattern", "x like '%a%'")
    assert link.add("narrow", "x like '%ab%'").forward == ()
    assert link.add("same", "x * x > 2 and y = 1").forward == ()
