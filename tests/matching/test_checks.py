"""A wildcard check's program says of every text what the check itself says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.matching.kernels import run_check
from tests.matching.modes import in_every_mode, run_in_mode
from thatch.matching.segments.parts import LONGEST, LONGEST_LOOSE, program
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import wildcard

# Characters of one to four bytes; é and ê, € and ₭ differ in one byte, ©, é and ﷩ end in the same.
CHARACTERS = "abéê©€₭﷩😀\0"
patterns = st.lists(st.sampled_from([*CHARACTERS, "%", "_", "\\%", "\\_", "\\\\"]), max_size=8).map("".join)
texts = st.text(st.sampled_from(CHARACTERS + "%_\\"), max_size=14)
checks = st.builds(WildcardCheck, st.just("x"), patterns.map(wildcard), st.booleans())


def answers(checks: list[WildcardCheck], texts: list[str]) -> list[list[bool]]:
    """What the programs say, with nothing in the arrays but programs and texts."""
    programs = [program(check) or b"" for check in checks]
    words = [text.encode("utf-8") for text in texts]
    programs_array = np.frombuffer(b"".join(programs), np.uint8)
    words_array = np.frombuffer(b"".join(words), np.uint8)
    rows, start = [], 0
    for each in programs:
        row, at = [], 0
        for word in words:
            row.append(bool(run_check(programs_array, start, words_array, at, len(word))))
            at += len(word)
        rows.append(row)
        start += len(each)
    return rows


def expected(checks: list[WildcardCheck], texts: list[str]) -> list[list[bool]]:
    return [[check.holds([(6, text, 0)]) for text in texts] for check in checks]


@example(WildcardCheck("x", wildcard("a%a")), ["a", "aa", "aba"])  # the ends may not overlap
@example(WildcardCheck("x", wildcard("a%a_")), ["a€", "aa€"])
@example(WildcardCheck("x", wildcard("a_%_a")), ["aa", "aéa", "aéêa", "a😀😀a"])
@example(WildcardCheck("x", wildcard("%a_b%b")), ["aabb", "aab", "a€bb", "aaab€bb"])
@example(WildcardCheck("x", wildcard("__")), ["😀", "😀😀", "ab", "abc"])
@example(WildcardCheck("x", wildcard("%_%")), ["", "\0"])
@example(WildcardCheck("x", wildcard("")), ["", "a"])
@example(WildcardCheck("x", wildcard("%")), ["", "a"])
@given(checks, st.lists(texts, min_size=1, max_size=6))
def test_a_program_holds_exactly_when_its_check_does(check: WildcardCheck, texts: list[str]) -> None:
    both = [check, check.opposite()]
    assert answers(both, texts) == expected(both, texts)


@given(checks, st.data())
def test_a_program_accepts_what_its_pattern_was_filled_in_with(
    check: WildcardCheck, data: st.DataObject
) -> None:
    """Random texts seldom have the form of a long pattern; these do, or would but for one character."""
    filled = ""
    for number, piece in enumerate(check.pattern.pieces):
        if number:
            filled += data.draw(texts)
        filled += "".join(data.draw(st.sampled_from(CHARACTERS)) if part is None else part for part in piece)
    at = data.draw(st.integers(0, len(filled)))
    spoiled = [filled[:at] + filled[at + 1 :], filled[:at] + "a" + filled[at:]]
    assert answers([check], [filled, *spoiled]) == expected([check], [filled, *spoiled])
    assert answers([check], [filled]) == [[not check.negated]]


@given(st.lists(checks, min_size=1, max_size=6), st.lists(texts, max_size=6))
def test_programs_lie_one_after_another(checks: list[WildcardCheck], texts: list[str]) -> None:
    assert answers(checks, texts) == expected(checks, texts)


@given(checks, texts, st.sampled_from(CHARACTERS), st.sampled_from([255, 256, 257, 70_000]))
def test_texts_may_be_long(check: WildcardCheck, text: str, filler: str, size: int) -> None:
    texts = [filler * size, text + filler * size, filler * size + text, text + filler * size + text]
    assert answers([check], texts) == expected([check], texts)


@pytest.mark.parametrize("character", ["a", "é", "€", "😀"])
def test_pieces_may_be_long(character: str) -> None:
    long = character * 300
    checks = [
        WildcardCheck("x", wildcard(form.replace("a", long)))
        for form in ("a", "a%", "%a", "%a%", "_a%a_", "%b%a%b")
    ]
    texts = [long[:-1], long, long + character, long + "b", f"b{long}b", f"é{long}{long}é", character * 899]
    assert answers(checks, texts) == expected(checks, texts)


def test_a_program_is_none_when_it_would_be_too_long() -> None:
    room = LONGEST - 5 - 3 * 3  # what the headers of a program with three pieces leave
    longest = program(WildcardCheck("x", wildcard("%" + "a" * room + "%")))
    assert longest is not None
    assert len(longest) == LONGEST
    assert program(WildcardCheck("x", wildcard("%" + "a" * (room + 1) + "%"))) is None
    assert program(WildcardCheck("x", wildcard("%" + "€" * (room // 3 + 1) + "%"))) is None
    assert program(WildcardCheck("x", wildcard("%a" * 20_000))) is None


def test_the_longest_program_gives_the_right_answers() -> None:
    room = LONGEST - 5 - 3 * 3
    long = "a" * (room - 1) + "b"
    checks = [
        WildcardCheck("x", wildcard(f"%{long}%")),
        WildcardCheck("x", wildcard(f"%{long}%"), negated=True),
    ]
    texts = ["", long[1:], long, "a" + long, "é" + long + "é", "a" * 70_000]
    assert answers(checks, texts) == expected(checks, texts)


repetitive = st.builds(
    lambda base, times, end: (base * times)[: 3 * times] + end,
    st.text("abé", min_size=1, max_size=5),
    st.integers(1, 60),
    st.sampled_from(["", "a", "b", "ab", "é"]),
)


@given(repetitive, repetitive, st.lists(repetitive, min_size=1, max_size=4))
def test_pieces_that_repeat_themselves_are_found_in_texts_that_do(
    start: str, end: str, texts: list[str]
) -> None:
    forms = [f"%{start}{end}%", f"%{start[-15:]}_{end[:15]}%"]
    checks = [WildcardCheck("x", wildcard(form)) for form in forms]
    filled = [f"{text}{text}{start}{each}{end}{text}" for text in texts for each in ("", "a")]
    texts = [text * 4 for text in texts] + filled
    assert answers(checks, texts) == expected(checks, texts)


def test_a_long_piece_with_an_underscore_is_left_to_python() -> None:
    assert program(WildcardCheck("x", wildcard("%" + "a" * (LONGEST_LOOSE - 1) + "_%"))) is not None
    assert program(WildcardCheck("x", wildcard("%" + "a" * LONGEST_LOOSE + "_%"))) is None
    assert (
        program(WildcardCheck("x", wildcard("_" + "a" * LONGEST_LOOSE + "%_" + "a" * LONGEST_LOOSE)))
        is not None
    )


# --- other ways to run the same source -----------------------------------------------------------------------------

PROGRAM = """
import random
from tests.matching.test_checks import CHARACTERS, answers, expected
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import wildcard

rng = random.Random(7)
parts = [*CHARACTERS, "%", "%", "%", "_", "_", "\\\\%"]
patterns = ["".join(rng.choices(parts, k=rng.randrange(8))) for _ in range(300)]
checks = [WildcardCheck("x", wildcard(each), rng.random() < 0.2) for each in patterns]
texts = ["".join(rng.choices(CHARACTERS + "%", k=rng.randrange(16))) for _ in range(80)]
rows = answers(checks, texts)
assert rows == expected(checks, texts)
print(sum(map(sum, rows)))
"""


@pytest.mark.slow
@in_every_mode
def test_the_kernel_is_right_as_plain_python_and_with_every_access_checked(mode: str, tmp_path: Path) -> None:
    assert int(run_in_mode(PROGRAM, mode, tmp_path)) > 1_000


COUNTING = """
from thatch.matching.segments.kernels.checks import check_holds
from thatch.matching.segments.parts import program
from thatch.model.residuals import WildcardCheck
from thatch.model.wildcards import wildcard

class Counted(list):
    looks = 0
    def __getitem__(self, at):
        self.looks += 1
        return list.__getitem__(self, at)

def looks(form, size, filler):
    text = Counted((filler * (20 * size)).encode())
    code = program(WildcardCheck("x", wildcard(form.format("a" * size, "ab" * (size // 2)))))
    assert not check_holds(code, 0, text, 0, len(text))
    return text.looks / len(text)

for form in ("%{0}b{0}%", "%{1}b{1}%", "%{1}b%{1}b%", "%{0}b{0}%{0}b{0}%", "%a{0}ba%"):
    for filler in ("a", "ab", "aab"):
        print(round(looks(form, 40, filler), 1), round(looks(form, 640, filler), 1))
"""


@pytest.mark.slow
def test_looks_at_each_byte_of_a_text_a_few_times_however_long_the_piece(tmp_path: Path) -> None:
    for line in run_in_mode(COUNTING, "NUMBA_DISABLE_JIT", tmp_path).splitlines():
        assert max(map(float, line.split())) < 12, line
