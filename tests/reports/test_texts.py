"""No text can break out of the page, or make it unwritable."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tests.reports.specimen import HOSTILE
from thatch.reports.texts import attribute, json_block, markup, plain, plot_text, shorten

# Surrogates are left in on purpose: they come with file names and with broken JSON.
ANY_TEXT = st.text(st.characters(exclude_categories=[])) | st.sampled_from(HOSTILE)


class Reader(HTMLParser):
    """What a browser would find."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


@given(ANY_TEXT)
def test_a_text_in_an_element_is_read_back_and_nothing_else(text):
    read = Reader(f"<p>{markup(text)}</p>")
    assert read.tags == [("p", [])]
    assert read.words == plain(text)


@given(ANY_TEXT)
def test_a_text_in_an_attribute_is_read_back_and_nothing_else(text):
    assert Reader(f'<p title="{attribute(text)}">').tags == [("p", [("title", plain(text))])]


@given(ANY_TEXT)
def test_every_text_can_be_written_to_a_file(text):
    assert plain(text).encode().decode() == plain(text)


@given(ANY_TEXT)
def test_nothing_in_a_block_of_json_ends_its_script_element(text):
    block = json_block({text: [text]})
    assert not set("<>&") & set(block)
    assert json.loads(block) == {text: [text]}


@given(ANY_TEXT)
def test_a_text_in_a_figure_is_one_line(text):
    assert len(plot_text(text).splitlines()) <= 1


@given(ANY_TEXT, st.integers(1, 50))
def test_a_shortened_text_is_no_longer_than_asked(text, length):
    assert len(shorten(text, length)) <= length


def test_what_has_no_picture_is_spelled_out():
    assert plain("a\x00b\x1bc\ud800d\r\ne\tf") == "a\\x00b\\x1bc\\ud800d\ne\tf"


def test_marks_that_turn_the_direction_of_writing_are_spelled_out():
    assert plain("fdp.\u202eexe \u2066a\u2069 עברית") == "fdp.\\u202eexe \\u2066a\\u2069 עברית"
