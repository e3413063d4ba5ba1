"""Questions about the texts of one attribute against all short texts."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise, product
from operator import and_, or_
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.model.lines import (
    BOTTOM,
    EMPTY,
    TEXTS,
    TOP,
    WHOLE,
    above,
    below,
    complement,
    point,
    prefix_interval,
    union,
    value_at,
)
from thatch.model.regexes import regex
from thatch.model.texts import find_value, lies_inside, opposite, passes
from thatch.model.texts.letters import between, fresh_letter
from thatch.model.texts.reference import passing_texts, texts_of
from thatch.model.texts.sets import TextSet
from thatch.model.trees import ValueTest
from thatch.model.types import Enum, Integer, Text
from thatch.model.wildcards import wildcard

KEYS = ["x", "lower(x)", "reverse(x)", "reverse(lower(x))"]


def like(*forms, key="x"):
    return ValueTest(key, EMPTY, frozenset(map(wildcard, forms)))


def unlike(*forms, key="x"):
    return ValueTest(key, WHOLE, frozenset(map(wildcard, forms)), negated=True)


def found_text(*tests, line=None):
    answer = find_value(tests, line)
    assert answer.is_empty is not None
    return None if answer.place is None else value_at(answer.place)


def agree(tests, letters, longest):
    """The answer is right: a witness passes all tests, and where there is none no short text does."""
    answer = find_value(tests)
    if answer.place is not None:
        assert answer.is_empty is False
        assert all(passes(test, answer.place) for test in tests)
    if answer.is_empty:
        assert next(passing_texts(tests, letters, longest), None) is None
        assert not any(all(passes(test, (rank,)) for test in tests) for rank in range(5))
    return answer


# --- everything against everything -----------------------------------------------------------------------------


def forms(letters):
    return st.text([*letters, "%", "%", "_"], max_size=5).map(wildcard)


def constraints(letters):
    """Unions of intervals between texts, beginnings and single texts, with and without what is no text."""
    text = st.text(letters, max_size=3)
    single = text.map(lambda each: (below(each), above(each)))
    between_texts = st.tuples(text, text).map(sorted).map(lambda ends: (below(ends[0]), above(ends[1])))
    above_text = text.map(lambda each: (above(each), TOP))
    parts = st.lists(st.one_of(single, between_texts, above_text, text.map(prefix_interval)), max_size=3)
    return st.one_of(
        st.just(EMPTY), st.just(WHOLE), st.just(TEXTS), parts.map(union), parts.map(union).map(complement)
    )


def value_tests(letters, keys):
    return st.builds(
        ValueTest,
        st.sampled_from(keys),
        constraints(letters),
        st.frozensets(forms(letters), max_size=3),
        st.booleans(),
    )


@given(st.lists(value_tests("ab", ["x"]), min_size=1, max_size=4))
def test_answers_are_exact_on_short_texts(tests):
    assert agree(tests, "ab~", 5).is_empty is not None


@given(st.lists(value_tests("ab", ["x", "reverse(x)"]), min_size=1, max_size=3))
def test_a_text_and_its_reverse_are_one_text(tests):
    agree(tests, "ab~", 5)


@given(st.lists(value_tests("aAsSß", KEYS), min_size=1, max_size=3))
def test_case_folding_is_seen_letter_by_letter(tests):
    agree(tests, "aAsSßſ~", 3)


@given(st.lists(value_tests("iİK\u212a\u0307\ufb03", ["x", "lower(x)"]), min_size=1, max_size=3))
def test_letters_that_fold_to_several(tests):
    agree(tests, "iIfKk\u0130\u212a\u0307\ufb03", 3)


@given(st.lists(value_tests("a\ud7ff\ue000\U0010ffff", ["x", "reverse(x)"]), min_size=1, max_size=3))
def test_the_ends_of_the_order_of_texts(tests):
    agree(tests, "\0a\ud7ff\ue000\U0010ffff", 3)


@given(
    st.lists(value_tests("ab", ["x", "lower(x)"]), min_size=1, max_size=3),
    st.sampled_from([Enum("a", "B", 1), Integer(0, 3), Text()]),
)
def test_declared_types_narrow_what_there_is(tests, line):
    answer = find_value(tests, line)
    values = [each for each in ["a", "B", "b", 0, 1, 2, 3, "", "ab"] if line.holds(each)]
    places = [BOTTOM, (1,), *map(point, values)]
    if any(all(passes(test, place) for test in tests) for place in places):
        assert answer.is_empty is not True
    if answer.place is not None:
        assert answer.place <= (1,) or line.holds(value_at(answer.place))
        assert all(passes(test, answer.place) for test in tests)
    elif not isinstance(line, Text):
        assert answer.is_empty


@given(value_tests("ab", KEYS), st.text("abAB", max_size=4))
def test_a_test_and_its_opposite_divide_all_values(test, text):
    for place in [BOTTOM, (1,), point(1), point(text)]:
        assert passes(test, place) != passes(opposite(test), place)


@given(forms("ab"), forms("ab"), st.booleans(), st.booleans())
def test_short_proofs_are_right(inner, outer, is_folded, is_wide_folded):
    if lies_inside(TextSet(inner, is_folded), TextSet(outer, is_wide_folded)):
        first = ValueTest("lower(x)" if is_folded else "x", EMPTY, frozenset([inner]))
        second = ValueTest("lower(x)" if is_wide_folded else "x", EMPTY, frozenset([outer]))
        assert next(passing_texts([first, opposite(second)], "abA~", 4), None) is None


@given(
    st.lists(st.sampled_from(["a+b", "^a.*b$", "[ab]b", "ab", "(a|b)c?"]), min_size=1, max_size=3), st.data()
)
def test_regular_expressions_are_never_wrong(texts, data):
    own = [ValueTest("x", EMPTY, frozenset([regex(each)])) for each in texts]
    tests = [opposite(each) if data.draw(st.booleans()) else each for each in own]
    agree([*tests, data.draw(value_tests("ab", ["x"]))], "abc", 5)


@given(st.sets(st.sampled_from("\0aAbzZ\ud7ff\ue000ß\U0010ffff")))
def test_letters_between_others_are_between_them(letters):
    every = tuple(sorted(letters))
    others = between(every)
    assert not letters & set(others)
    assert fresh_letter(every) not in letters
    for low, high in pairwise(every):
        is_room = any(
            low < chr(code) < high and chr(code).casefold() == chr(code)
            for code in range(ord(low) + 1, min(ord(high), ord(low) + 3_000))
            if not 0xD800 <= code < 0xE000
        )
        assert not is_room or any(low < each < high for each in others)


# --- examples --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inner", "outer", "text"),
    [
        ([like("%ab%")], [like("%a%")], None),
        ([like("%ab%", "%cab")], [like("%ab%")], None),
        ([like("a%"), like("%b")], [like("a%b")], None),
        ([like("a%"), like("%a")], [like("a%a")], "a"),
        ([like("%a%"), like("%b%")], [like("%a%b%", "%b%a%")], None),
        ([like("%ab%"), like("%ba%")], [like("%ab%ba%", "%ba%ab%")], "aba"),
        ([like("_%")], [like("_", "__%")], None),
        ([like("%")], [like("_%")], ""),
        ([like("%AB%")], [like("%ab%", key="lower(x)")], None),
        ([like("%ab%", key="lower(x)")], [like("%ab%")], "Ab"),
        ([like("%ss%", key="lower(x)")], [like("%ss%", "%SS%", "%sS%", "%Ss%")], "\u1e9e"),
        ([like("%A%", key="lower(x)")], [like("%no%")], None),
        ([like("_")], [unlike("__", key="lower(x)")], "\u00df"),
        ([like("%xa", key="reverse(x)")], [like("ax%")], None),
        ([ValueTest("x", (below("a"), below("b")))], [like("a%")], None),
        ([ValueTest("x", (below("a"), above("b")))], [like("a%", "_")], None),
        ([ValueTest("reverse(x)", (below("ab"), below("ad")))], [like("%ba", "%ca")], None),
    ],
)  # fmt: skip
def test_containment(inner, outer, text):
    (test,) = outer
    found = found_text(*inner, opposite(test))
    if text is None:
        assert found is None
    else:
        assert len(found) == len(text)
        assert not passes(test, point(found))


def test_the_work_is_bounded():
    rng = Random(1)
    ones = ["".join(rng.choice("ab____") for _ in range(14)) for _ in range(60)]
    letters = [unlike("_" * at + "~%") for at in range(14)]
    tests = [like("_" * 14), *letters, unlike(*ones), ValueTest("x", (below("a"), below("c")))]
    assert find_value(tests, budget=1_000).is_empty is None


def test_constraints_of_texts_and_of_their_reverse_together_are_undecided():
    tests = [
        ValueTest("x", (below("ab"), below("cb"))),
        ValueTest("reverse(x)", (below("ab"), below("cb"))),
        unlike("%a%", "%b%", "%c%"),
    ]
    assert find_value(tests).is_empty is not False


# --- many --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_containment_of_unions_is_exact_on_a_hundred_thousand_questions():
    """Sets of texts as bits of one number, so that brute force is quick."""
    rng = Random(20)
    texts = list(texts_of("abc", 6))
    every = sorted({"".join(rng.choice("ab%%_") for _ in range(rng.randrange(6))) for _ in range(400)})
    bits = {
        each: sum(1 << at for at, text in enumerate(texts) if form.matches(text))
        for each in every
        for form in [wildcard(each)]
    }
    contained = 0
    for _ in range(100_000):
        needed = [rng.choices(every, k=rng.randrange(1, 3)) for _ in range(rng.choice((1, 1, 2)))]
        outer = rng.choices(every, k=rng.randrange(1, 4))
        inside = reduce(and_, (reduce(or_, (bits[each] for each in clause)) for clause in needed))
        left = inside & ~reduce(or_, (bits[each] for each in outer))
        answer = find_value([*(like(*clause) for clause in needed), unlike(*outer)])
        if answer.place is not None:
            text = value_at(answer.place)
            assert all(any(wildcard(each).matches(text) for each in clause) for clause in needed)
            assert not any(wildcard(each).matches(text) for each in outer)
        else:
            assert answer.is_empty
            assert not left
            contained += 1
    assert contained > 10_000


@pytest.mark.slow
def test_every_pair_of_short_patterns():
    texts = list(texts_of("ab~", 5))
    every = sorted(
        {wildcard("".join(each)).text for size in range(4) for each in product("ab%_", repeat=size)}
    )
    bits = {
        each: sum(1 << at for at, text in enumerate(texts) if form.matches(text))
        for each in every
        for form in [wildcard(each)]
    }
    for inner, outer in product(every, every):
        is_inside = not bits[inner] & ~bits[outer]
        assert find_value([like(inner), unlike(outer)]).is_empty == is_inside
