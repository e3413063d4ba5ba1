from __future__ import annotations

import json
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import PatternError
from thatch.model.language.json_places import place_of

NAMES = st.sampled_from(["a", "b", "a.b", "é\n", 'q"', ""])
DOCUMENTS = st.recursive(
    st.sampled_from(["text, [", 'q"}', "\\", 5, -0.5, True, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def paths_of(value, path=""):
    """The path of every field and element, and its value."""
    if isinstance(value, dict):
        for name, each in value.items():
            inner = (path + "." if path else "") + name
            yield inner, name, each
            yield from paths_of(each, inner)
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield f"{path}[{index}]", None, each
            yield from paths_of(each, f"{path}[{index}]")


@given(DOCUMENTS, st.sampled_from([None, 1]), st.booleans())
def test_a_path_leads_to_where_its_field_or_element_is_written(document, indent, ascii_only):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    found = [*paths_of(document)]
    seen = [path for path, _, _ in found]
    for path, name, value in found:
        if seen.count(path) > 1:
            continue
        line, column = place_of(text, path)
        place = sum(map(len, text.split("\n")[: line - 1])) + line - 1 + column - 1
        read, end = json.JSONDecoder().raw_decode(text, place)
        assert read == (value if name is None else name)
        if name is not None:
            assert text[end] == ":"


ERRORS = {
    '{"bool": {"must": [\n  {"term": {"x": 1}},\n  {"match": {"x": 1}}]}}': ("elasticsearch", "bool.must[1]", 3, 3),
    '{"query": {"range": {"a.b": {\n"gte": "now"}}}}': ("elasticsearch", "query.range.a.b.gte", 2, 1),
    '{"x": [{"numeric": [">",\n "a"]}]}': ("eventbridge", "x.numeric", 1, 9),
    '{"x": [1, {"numeric": [5]}]}': ("sns", "x[1].numeric", 1, 12),
    '{"x": ["a"],\n\n"\\u0078": ["b"]}': ("sns", "x", 3, 1),
    '{"o": [{"x": [1], "x": [2]}]}': ("eventbridge", "o[0].x", 1, 19),
    '{"x": ["a"]\n "y": ["b"]}': ("eventbridge", "", 2, 2),
    '{"x": ["NaN",\nNaN]}': ("sns", "", 2, 1),
    '{"x": [1,\n -Infinity]}': ("elasticsearch", "", 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_in_json_text_tells_line_and_column(text):
    language, where, line, column = ERRORS[text]
    with pytest.raises(PatternError) as caught:
        thatch.parse(text, language=language)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.where, error.line, error.column) == (where, line, column)
    assert f"line {line}, column {column}" in str(error)


def test_an_error_in_an_object_tells_its_path_alone():
    with pytest.raises(PatternError) as caught:
        thatch.parse({"x": [{"numeric": [5]}]}, language="sns")
    assert caught.value.line is None
    assert str(caught.value).endswith(" - at x.numeric")


@pytest.mark.slow
def test_many_names_of_which_the_last_is_there_twice_are_refused_in_time():
    names = ",".join(f'"{number}":[1]' for number in range(50_000))
    began = time.process_time()
    with pytest.raises(PatternError, match="'49999' twice"):
        thatch.parse(f'{{{names},"49999":[1]}}', language="sns")
    assert time.process_time() - began < 5
