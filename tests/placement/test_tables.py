"""Problems from tables."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from thatch.errors import ParameterError, TableError
from thatch.placement import BrokerTree
from thatch.placement.tables import problem_from_table

TREE = BrokerTree.star([0.0, 0.0], [[1.0, 0.0], [-1.0, 0.0]])
COLUMNS = {
    "who": ["a", "b", "a"],
    "x": [0.5, -1, 9],
    "y": [0, 0, 9],
    "low": [1, 2, 3],
    "high": [2, 3, 4],
    "most": [5.0, 4.0, 0.0],
}
HOW = {"locations": ["x", "y"], "boxes": {"price": ("low", "high")}}


def test_each_row_is_a_subscriber_unless_a_column_names_them():
    problem, names = problem_from_table(TREE, pd.DataFrame(COLUMNS), **HOW, max_delay=1.0)
    assert names == (0, 1, 2)
    assert problem.interests.boxes.tolist() == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
    problem, names = problem_from_table(
        TREE, pa.table(COLUMNS), **HOW, subscriber="who", limit="most", beta=1.2
    )
    assert names == ("a", "b")
    assert problem.locations.tolist() == [[0.5, 0.0], [-1.0, 0.0]]
    assert problem.interests.of(int(problem.interest_of[0])).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert problem.limits.tolist() == [5.0, 4.0]
    assert problem.beta == 1.2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"subscriber": "name"}, TableError, "a column `name`"),
        ({"locations": ["x", "who"]}, TableError, "numbers, got string - at column `who`"),
        ({"boxes": {"price": ("low", "top")}}, TableError, "a column `top`"),
        ({"locations": ["x"]}, ParameterError, "with 2 coordinates each"),
        ({"subscriber": "gap"}, TableError, "a subscriber in every row"),
    ],
)
def test_columns_that_are_missing_or_no_numbers_are_refused(change, error, message):
    table = pa.table({**COLUMNS, "gap": ["a", None, "b"]})
    with pytest.raises(error, match=message):
        problem_from_table(TREE, table, **{**HOW, **change})
