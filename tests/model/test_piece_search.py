"""Pieces of patterns are found where trying every place finds them, in time that grows with the text."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.model.piece_search import finder, first_by_transform
from thatch.model.wildcards import wildcard

characters = st.sampled_from("abé€😀\0\ud800")
pieces = st.lists(characters | st.none(), min_size=1, max_size=6).map(tuple)


def stands_at(piece, text, place):
    window = text[place : place + len(piece)]
    return len(window) == len(piece) and all(
        part in (None, each) for part, each in zip(piece, window, strict=True)
    )


@given(pieces, st.text(characters, max_size=40), st.integers(0, 6))
@example(("\0",), "\0", 0)  # the transform had no digits to look at
def test_a_piece_is_found_where_it_first_stands(piece, text, place):
    places = [at for at in range(place, len(text)) if stands_at(piece, text, at)]
    expected = places[0] + len(piece) if places else -1
    assert finder(piece).end_of_first(text, place) == expected
    if place + len(piece) <= len(text):
        found = first_by_transform(piece, text, place)
        assert (found + len(piece) if found >= 0 else -1) == expected
        assert finder(piece).stands_at(text, place) == stands_at(piece, text, place)


@pytest.mark.parametrize("filler", ["a", "é", "😀"])
def test_the_transform_is_exact_in_every_window_of_a_long_text(filler):
    piece = (filler, None, *(filler * 3_000), "b")
    for at in (0, 10_000, 70_000):
        text = filler * (at + 3_002) + "b" + filler * 100
        assert first_by_transform(piece, text, 0) == at
    assert first_by_transform(piece, filler * 80_000, 0) == -1


@pytest.mark.slow
@pytest.mark.parametrize("form", ["%a_{}b%", "%a_{}b_%", "%{}b{}%", "%a_{}b%a_{}b%", "%ab_{}%"])
def test_matching_takes_time_that_grows_with_the_text_and_not_with_text_times_pattern(form):
    """Sixteen times as much of both is about sixteen times the work; comparing at every place, it is 256 times."""

    def seconds(size):
        pattern, text = wildcard(form.format("a" * size, "a" * size)), "a" * (30 * size)
        best = []
        for _ in range(3):
            started = process_time()
            assert not pattern.matches(text)
            best.append(process_time() - started)
        return min(best)

    assert seconds(16 * 4_096) < 80 * max(seconds(4_096), 1e-4)
