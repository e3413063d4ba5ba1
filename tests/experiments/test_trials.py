"""Grids of parameters, and the trials they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thatch.experiments.trials import Trial, grid, random_of

names = st.text("abcdef_", min_size=1, max_size=5)
values = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=5) | st.booleans()


@given(st.dictionaries(names, values), st.integers(0, 2**40))
def test_a_trial_is_known_by_its_key(parameters, seed):
    trial = Trial(tuple(sorted(parameters.items())), seed)
    assert Trial.of(trial.key) == trial
    assert Trial.of(trial.key).key == trial.key


def test_a_grid_has_every_combination_as_often_as_there_are_seeds():
    made = grid(3, rows=(10, 20), form=("x", "y"))
    trials = list(made)
    assert len(made) == len(trials) == len({trial.key for trial in trials}) == 12
    assert all(trial in made for trial in trials)
    assert Trial(trials[0].parameters, 3) not in made
    assert Trial((("form", "z"), ("rows", 10)), 0) not in made
    assert {trial.seed for trial in trials} == {0, 1, 2}


def test_grids_that_overlap_have_each_trial_once():
    both = grid(3, rows=(10, 20)) + grid(5, rows=(20, 30))
    assert len(both) == len(set(both)) == 3 + 5 + 5


def test_random_numbers_depend_on_the_seed_and_the_parameters():
    first = random_of(1, "anchored", 10).random(4).tolist()
    assert first == random_of(1, "anchored", 10).random(4).tolist()
    assert first != random_of(2, "anchored", 10).random(4).tolist()
    assert first != random_of(1, "anchored", 11).random(4).tolist()
    assert first != random_of(1, "wide", 10).random(4).tolist()
