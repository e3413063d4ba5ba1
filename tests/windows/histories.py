"""Rules and histories of events: few users, few seconds, so that things meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from thatch.model.names import key_of
from thatch.windows.problem import Rule

STEPS = ("a", "b", "c")

rules = st.builds(
    lambda kind, at_least, seconds, by, steps, pooled: Rule(
        kind=kind,
        at_least=len(steps) if kind == "sequence" else at_least,
        within=seconds * 10**6,
        by=by,
        attribute=key_of("ip") if kind == "distinct" else "",
        steps=steps if kind == "sequence" or pooled else (),
    ),
    st.sampled_from(["count", "distinct", "sequence"]),
    st.integers(1, 4),
    st.integers(1, 8),
    st.sampled_from([(), ("user",), ("user", "host")]),
    st.lists(st.sampled_from(STEPS), min_size=2, max_size=4).map(tuple),
    st.booleans(),
)

_values = st.sampled_from([1, 1.0, 2, "x", None, True])
_events = st.fixed_dictionaries(
    {"time": st.integers(0, 20), "ip": st.one_of(_values, st.lists(_values, max_size=3))},
    optional={"user": st.sampled_from(["ann", "bob"]), "host": st.sampled_from(["h", 5])},
)
_matched = st.tuples(_events, st.lists(st.sampled_from(STEPS), unique=True, max_size=3))

# In the order of arrival: an event and the ids of those who want it. None comes `lateness` or more after a later one.
Arrivals = list[tuple[dict[str, Any], list[str]]]


@st.composite
def arrivals(draw: st.DrawFn, lateness: int) -> Arrivals:
    some = draw(st.lists(_matched, max_size=30))
    delays = st.integers(0, 4 * lateness - 1)
    delayed = [(each[0]["time"] + draw(delays) / 4, each) for each in some]
    return [each for _, each in sorted(delayed, key=lambda pair: pair[0])]
