from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thatch.placement.flow import assign_flow, route


def most_served(supplies, is_allowed, capacities):
    """The largest flow, one subscriber at a time along augmenting paths: an independent, slow definition."""
    flow = np.zeros(is_allowed.shape, int)
    room = capacities.copy()

    def assign(group, seen):
        for leaf in np.flatnonzero(is_allowed[group]).tolist():
            if leaf in seen:
                continue
            seen.add(leaf)
            others = np.flatnonzero(flow[:, leaf]).tolist() if room[leaf] == 0 else [None]
            for other in others:
                if other is None:
                    room[leaf] -= 1
                elif other != group and assign(other, seen):
                    flow[other, leaf] -= 1
                else:
                    continue
                flow[group, leaf] += 1
                return True
        return False

    return sum(assign(group, set()) for group, count in enumerate(supplies) for _ in range(count))


instances = st.integers(1, 5).flatmap(
    lambda leaves: st.tuples(
        st.lists(
            st.tuples(st.integers(0, 6), st.lists(st.booleans(), min_size=leaves, max_size=leaves)),
            min_size=1,
            max_size=6,
        ),
        st.lists(st.integers(0, 7), min_size=leaves, max_size=leaves),
    )
)


@given(instances)
@examples(100)
def test_the_flow_serves_as_many_as_an_independent_one(instance):
    rows, capacities = instance
    supplies = np.array([count for count, _ in rows])
    is_allowed = np.array([row for _, row in rows])
    capacities = np.array(capacities)
    found = route(supplies, is_allowed, capacities)
    assert found.routed == found.amount.sum() == most_served(supplies, is_allowed, capacities)
    assert is_allowed[found.group, found.leaf].all()
    assert (np.bincount(found.group, found.amount, minlength=len(supplies)) <= supplies).all()
    assert (np.bincount(found.leaf, found.amount, minlength=len(capacities)) <= capacities).all()


def test_subscribers_are_spread_as_routed_and_neighbours_stay_together():
    routing = route(np.array([4, 2]), np.array([[True, True], [False, True]]), np.array([3, 2]))
    served_by = assign_flow(routing, np.array([0, 0, 0, 0, 1, 1]), np.array([3, 1, 0, 2, 0, 1]), 2)
    assert np.bincount(served_by + 1, minlength=3).tolist() == [1, 3, 2]
    assert (served_by[4:] == 1).sum() + (served_by[:4] == 1).sum() == 2
