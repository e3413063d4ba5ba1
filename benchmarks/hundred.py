"""Rules of a hundred conditions, as Thatch, Python and rule-engine write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

__all__ = ["Rule", "hundred_rules"]

COUNT = 100
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Rule:
    """One rule in three languages."""

    name: str
    thatch: str
    python: str
    rule_engine: str


Leaf = tuple[str, str, str]
_Written = Callable[[int], Leaf]


def hundred_rules(seed: int) -> Iterator[Rule]:
    """A rule of each shape."""
    rng = Random(seed)
    words = ["".join(rng.choices(_LETTERS, k=rng.randint(5, 12))) for _ in range(COUNT)]

    def equal(attribute: Callable[[int], str]) -> _Written:
        return lambda at: _same(f"{attribute(at)} = '{words[at]}'", f"{attribute(at)} == '{words[at]}'")

    def contains(attribute: Callable[[int], str]) -> _Written:
        return lambda at: (
            f"{attribute(at)} like '%{words[at]}%'",
            f"'{words[at]}' in {attribute(at)}",
            f"{attribute(at)} =~~ '{words[at]}'",
        )

    def folded(at: int) -> Leaf:
        word = words[at]
        return f"lower(x) like '%{word}%'", f"'{word}' in x.lower()", f"x.as_lower =~~ '{word}'"

    def between(at: int) -> Leaf:
        low, high = 10 * at, 10 * at + 5
        return f"x between {low} and {high}", f"{low} <= x <= {high}", f"(x >= {low} and x <= {high})"

    def less(at: int) -> Leaf:
        return _same(f"{_own(at)} < {at}", f"{_own(at)} < {at}")

    shapes: dict[str, tuple[_Written, str]] = {
        "or of = on one attribute": (equal(_one), "or"),
        "or of = on ten attributes": (equal(_ten), "or"),
        "or of = on a hundred attributes": (equal(_own), "or"),
        "or of like": (contains(_one), "or"),
        "or of like on ten attributes": (contains(_ten), "or"),
        "or of like on lower(x)": (folded, "or"),
        "or of between": (between, "or"),
        "or of <": (less, "or"),
        "and of <": (less, "and"),
        "and of like": (contains(_own), "and"),
        "and of not =": (_negated(equal(_one)), "and"),
        "and of not like": (_negated(contains(_ten)), "and"),
    }
    for name, (leaf, word) in shapes.items():
        yield Rule(name, *_joined([leaf(at) for at in range(COUNT)], word))
    listed = ", ".join(f"'{word}'" for word in words)
    yield Rule("in", f"x in ({listed})", f"x in ({listed})", f"x in [{listed}]")
    yield Rule("and of ten or of ten", *_grouped([equal(_ten)(at) for at in range(COUNT)], 10, "or", "and"))
    yield Rule("or of fifty and of two", *_grouped([equal(_own)(at) for at in range(COUNT)], 2, "and", "or"))
    yield Rule("not of or", *_same_form("not ({})", _joined([equal(_ten)(at) for at in range(COUNT)], "or")))


def _one(_: int) -> str:
    return "x"


def _ten(at: int) -> str:
    return f"a{at // 10}"


def _own(at: int) -> str:
    return f"a{at}"


def _same(thatch: str, others: str) -> Leaf:
    return thatch, others, others


def _same_form(form: str, rule: Leaf) -> Leaf:
    first, second, third = (form.format(each) for each in rule)
    return first, second, third


def _negated(leaf: _Written) -> _Written:
    return lambda at: _same_form("not ({})", leaf(at)) if at % 2 else _same_form("not {}", leaf(at))


def _joined(leaves: list[Leaf], word: str) -> Leaf:
    first, second, third = (f" {word} ".join(each) for each in zip(*leaves, strict=True))
    return first, second, third


def _grouped(leaves: list[Leaf], size: int, inner: str, outer: str) -> Leaf:
    groups = [leaves[at : at + size] for at in range(0, len(leaves), size)]
    return _joined([_same_form("({})", _joined(each, inner)) for each in groups], outer)
