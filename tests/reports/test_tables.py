"""Tables of Arrow and lists of mappings, as HTML."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pytest

from thatch.reports.tables import read_rows, table_markup


def html(table, *, most=200, total=None, caption="", **formats):
    return table_markup(read_rows(table, most, total), caption=caption, formats=formats)


def cells(text: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", text)


def test_a_table_of_arrow_and_a_list_of_mappings_give_the_same_page():
    rows = [{"name": "a", "n": 1, "list": [[1], [2, 3]]}, {"name": None, "n": 2, "list": None}]
    assert html(pa.Table.from_pylist(rows)) == html(rows) == html(pa.RecordBatch.from_pylist(rows))


def test_columns_come_in_the_order_of_their_first_use_and_gaps_are_missing():
    read = read_rows([{"b": 1}, {"a": 2, "b": 3}], 10, None)
    assert read.names == ["b", "a"]
    assert read.rows == [[1, None], [3, 2]]


def test_columns_of_the_same_name_are_both_shown():
    assert cells(html(pa.table([[1], [2]], names=["a", "a"]))) == ["1", "2"]


def test_a_column_of_numbers_is_right_aligned_and_one_with_a_text_is_not():
    text = html([{"n": 1, "mixed": 1, "empty": None}, {"n": math.nan, "mixed": "x", "empty": None}])
    assert re.findall(r"<th scope=\"col\"( class=\"n\")?>", text) == [' class="n"', "", ""]


def test_cells_carry_what_they_are_sorted_by():
    text = html([{"n": value} for value in (1234.5678, -math.inf, None, math.nan, 10**400)])
    assert re.findall(r'data-v="([^"]*)"', text) == ["1234.5678", "-Infinity", "", "", "Infinity"]


def test_a_long_table_is_cut_and_says_so():
    text = html([{"n": number} for number in range(300)], most=200)
    assert len(cells(text)) == 200
    assert "200 of 300 rows shown; 100 left out." in text


def test_a_table_that_was_cut_before_reports_how_many_rows_there_were():
    assert "2 of 5,000,000 rows shown; 4,999,998 left out." in html([{"n": 1}, {"n": 2}], total=5_000_000)


@pytest.mark.parametrize("table", [[], pa.table({"a": pa.array([], pa.int64())}), pa.table({})])
def test_an_empty_table_says_so(table):
    assert "No rows." in html(table)


def test_formats_are_for_columns():
    assert cells(html([{"share": 0.5, "n": 0.5}], share="percent")) == ["50 %", "0.5"]


def test_a_long_text_is_folded_and_a_very_long_one_cut():
    text = html([{"a": "word " * 100}, {"a": "w" * 100_000}])
    assert text.count("<details>") == 2
    assert "… (100,000 characters)" in text
    assert len(text) < 10_000


def test_values_that_python_has_not_are_shown_as_text():
    far = pa.array([2**62], pa.timestamp("s"))
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], "int32")), pa.py_buffer(b"\xffa")]
    )
    shown = cells(html(pa.table({"far": far, "broken": broken})))
    assert shown == ["4611686018427387904 timestamp[s]", "\\xffa"]


def test_a_caption_names_the_table_for_those_who_do_not_see_it():
    text = html([{"a": 1}], caption='A "quoted" <caption>')
    assert 'aria-label="A &quot;quoted&quot; &lt;caption&gt;"' in text
    assert '<caption>A "quoted" &lt;caption&gt;</caption>' in text


def test_columns_of_a_wide_table_that_say_the_same_everywhere_are_a_line_above_it():
    rows = [
        {"name": f"b{number}", "n": number, "seed": 7, "note": "<b>", "none": None, "x": 0.5}
        for number in (1, 2)
    ]
    text = html(rows, x="percent")
    assert '<p class="same">In every row shown, seed: 7; note: &lt;b&gt;; none: –; x: 50 %.</p>' in text
    assert cells(text) == ["b1", "1", "b2", "2"]


def test_a_narrow_table_a_single_row_and_a_first_column_stay_whole():
    narrow = [{"a": 1, "b": 1}, {"a": 1, "b": 1}]
    assert len(cells(html(narrow))) == 4
    single = [dict.fromkeys("abcdefgh", 1)]
    assert len(cells(html(single))) == 8
    same = [dict.fromkeys("abcdefgh", 1)] * 2
    assert cells(html(same)) == ["1", "1"]
