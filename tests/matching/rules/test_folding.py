"""Text that kernels fold is what `fold` makes of it."""

from __future__ import annotations

import sys
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.matching.rules.drawn import TEXTS
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.rules.folding import MOST_GROWTH, fold_tables
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.derived import fold


@cache
def letters() -> list[str]:
    """All code points that a text may have."""
    return [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]


def folded(*texts: str) -> list[str]:
    """These texts as a kernel folds them, one attribute each."""
    encoder, workspace = Encoder(), RuleWorkspace()
    names = [f"a{number}" for number in range(len(texts))]
    encoder.attributes = Attributes(names)
    rows = encoder.plain(dict(zip(names, texts, strict=True)))
    assert rows == len(texts)
    workspace.attach(())
    workspace.search_encoded(encoder, rows, 1)
    found, words = workspace.event.rows.reshape(-1, 6)[:rows], workspace.event.words.tobytes()
    assert [words[row[1] : row[2]].decode() for row in found.tolist()] == [*texts]
    return [words[row[3] : row[4]].decode() for row in found.tolist()]


def test_every_code_point_is_folded() -> None:
    size = 1 << 14
    for first in range(0, len(letters()), size):
        text = "".join(letters()[first : first + size])
        assert folded(text) == [fold(text)]


@pytest.mark.slow
def test_folding_takes_code_points_one_by_one() -> None:
    """So a kernel may: what comes before and after changes nothing, as it does for `str.lower` of a last sigma."""
    assert fold("".join(letters())) == "".join(map(fold, letters()))


@pytest.mark.slow
def test_no_text_grows_more_than_there_is_room_for() -> None:
    growth = max(len(fold(letter).encode()) / len(letter.encode()) for letter in letters())
    assert growth == MOST_GROWTH
    assert sum(table.nbytes for table in fold_tables()) < 200_000
    assert {fold(letter) == letter for letter in letters() if ord(letter) >= 0x20000} == {True}


@given(
    texts=st.lists(st.one_of(TEXTS, st.text(), st.text("aZ\u0390\u0149ß\U00010400")), min_size=1, max_size=5)
)
@example(texts=["ASCII", "", "\u0390" * 2_000, "@[`{", "Z"])
@example(texts=["ΑΣ", "\u212a", "ẞß", "ŉ"])
def test_texts_are_folded_side_by_side(texts: list[str]) -> None:
    assert folded(*texts) == [*map(fold, texts)]


@pytest.mark.parametrize("text", ["\u0390" * 4_000, "A" * 50_000, "é" * 20_000, ""])
def test_buffers_grow_for_text_that_grows(text: str) -> None:
    assert folded(text, "B", text) == [fold(text), "b", fold(text)]
