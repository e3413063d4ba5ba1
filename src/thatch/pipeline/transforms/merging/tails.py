"""What a filter has in common with those it may be merged with: all but its condition on one attribute.

Any attribute may be the one that differs, not only the topmost of a diagram as in paper L: a filter has as many tails as
attributes. Tasks compare tails by numbers of 64 bits; whoever merges looks at the conditions themselves, so that two
tails that share a number by chance are never taken for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.names import base_of
from thatch.pipeline.transforms.reducing.cuts import encoded
from thatch.reduction.merging.rules import predicates_in

__all__ = ["Tail", "tails_of"]

_ALL = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Tail:
    """A conjunction seen from one of its attributes.

    Parameters
    ----------
    number : of what it has in common with others, from -2**63 up
    key : the attribute in which it may differ from them
    """

    number: int
    key: str


def tails_of(filter: Filter) -> Iterator[Tail]:
    """The tails of a filter; none if it has alternatives, since mergers are of conjunctions.

    An attribute does not count on which the filter has several intervals, or more than one condition (on `x` and on
    `lower(x)`, say): what is merged there would change what the others mean.
    """
    if len(filter.conjunctions) != 1:
        return
    (conjunction,) = filter.conjunctions
    sides = [_number(_told(key, constraint)) for key, constraint in conjunction.constraints]
    together = sum(sides) + sum(_number(b"\0" + repr(check).encode()) for check in conjunction.residuals)
    named = _named(conjunction)
    for side, (key, constraint) in zip(sides, conjunction.constraints, strict=True):
        if named[base_of(key)] == 1 and predicates_in(constraint) == 1:
            number = (together - side + _number(key.encode())) & _ALL
            yield Tail(number - (1 << 63), key)


def _named(conjunction: Conjunction) -> Counter[str]:
    """How many conditions speak of each attribute."""
    named = Counter(base_of(key) for key, _ in conjunction.constraints)
    named.update(base_of(key) for check in conjunction.residuals for key in check.keys)
    return named


def _told(key: str, constraint: Constraint) -> bytes:
    """A condition as bytes; no two have the same, since cuts end where they say."""
    return b"\xff".join((key.encode(), *map(encoded, constraint)))


def _number(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest())
