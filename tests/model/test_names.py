"""Keys: any name can be written, and is read back as itself."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.errors import FilterError
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.model.names import DERIVATIONS, KEYWORDS, base_of, derived_key, key_of, name_of, split

names = st.one_of(
    st.text(max_size=8),
    st.text("ab_.0-\" ()[]'", max_size=8),
    st.sampled_from(sorted(KEYWORDS)),
    st.sampled_from(
        ["", '"', '""', "lower(x)", 'lower("x")', ")", "(", "a)", '"a"', "x.", ".x", "0x", "é", "ſ", "K"]
    ),
)
chains = st.sampled_from([(), *sorted(DERIVATIONS)])


@given(names)
def test_a_name_comes_back_from_its_key(name):
    assert name_of(key_of(name)) == name
    assert base_of(key_of(name)) == key_of(name)
    assert split(key_of(name)) == ((), key_of(name))


@given(names, names)
def test_two_names_have_two_keys(one, other):
    assert (key_of(one) == key_of(other)) == (one == other)


@given(names, chains)
@example("a)", ("lower",))
@example('")', ("reverse", "lower"))
def test_the_functions_around_an_attribute_are_split_off_again(name, chain):
    key = key_of(name)
    assert split(derived_key(chain, key)) == (chain, key)
    assert base_of(derived_key(chain, key)) == key


@given(names, chains)
def test_a_key_is_what_a_filter_text_calls_the_attribute(name, chain):
    key = derived_key(chain, key_of(name))
    made = Filter.of(expression_of_text(f"exists({key})"))
    assert base_of(made.conjunctions[0].constraints[0][0]) == key_of(name)


@given(names)
def test_an_attribute_can_have_any_name(name):
    made = Filter.of(expression_of_text(f"{key_of(name)} = 1"))
    assert made.matches({name: 1})
    assert not made.matches({name: 2})
    assert Filter.of(expression_of_text(str(made))) == made


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("price", "price"),
        ("detail.price", "detail.price"),
        ("_x1", "_x1"),
        ("detail-type", '"detail-type"'),
        ("", '""'),
        ("1x", '"1x"'),
        (".x", '".x"'),
        ("a b", '"a b"'),
        ("in", '"in"'),
        ("In", '"In"'),
        ("in.x", "in.x"),
        ('say "x"', '"say ""x"""'),
        ("é", '"é"'),
        ("x\n", '"x\n"'),
    ],
)
def test_which_names_stand_in_quotes(name, key):
    assert key_of(name) == key


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_a_keyword_stands_in_quotes_in_any_case(word):
    for name in (word, word.upper(), word.title()):
        assert key_of(name) == f'"{name}"'


@pytest.mark.parametrize(
    ("functions", "key", "wanted"),
    [
        ((), "x", "x"),
        (("lower",), "x", "lower(x)"),
        (("reverse",), "lower(x)", "reverse(lower(x))"),
        (("reverse", "lower"), '"a-b"', 'reverse(lower("a-b"))'),
    ],
)
def test_functions_are_put_around_what_is_there(functions, key, wanted):
    assert derived_key(functions, key) == wanted


@pytest.mark.parametrize(
    ("functions", "key"),
    [
        (("lower",), "lower(x)"),
        (("lower",), "reverse(x)"),
        (("ip",), "lower(x)"),
        (("time",), "ip(x)"),
        (("upper",), "x"),
        (("reverse", "reverse"), "x"),
    ],
)
def test_nestings_that_say_nothing_new_are_refused(functions, key):
    with pytest.raises(FilterError) as caught:
        derived_key(functions, key)
    assert "lower(x)" in caught.value.expected
    assert functions[0] in caught.value.got
