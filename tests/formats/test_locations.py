"""Where subscribers are, in files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thatch.errors import TableError
from thatch.formats.locations import read_locations
from thatch.placement import BrokerTree

TREE = BrokerTree.of(np.array([-1, 0]), np.array([[0.0, 0.0], [3.0, 4.0]]), ["hub", "north"])


def read(path, text: str):
    path.write_text(text)
    return read_locations(str(path), TREE)


def test_csv_has_a_column_for_each_coordinate_and_perhaps_limits(tmp_path):
    homes = read(tmp_path / "at.csv", "subscriber,x,limit,y\n007,1,9.5,2\nb,-1.5,,0\n")
    assert dict(homes.row_of) == {"007": 0, "b": 1}
    assert homes.points.tolist() == [[1.0, 2.0], [-1.5, 0.0]]
    assert homes.limits[0] == 9.5
    assert np.isnan(homes.limits[1])


def test_json_lines_have_a_location_or_a_broker(tmp_path):
    text = '{"subscriber": "a", "location": [1, 2]}\n{"subscriber": "b", "broker": "north"}\n'
    homes = read(tmp_path / "at.jsonl", text)
    assert homes.points.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert homes.limits is None


def test_parquet_may_have_a_list(tmp_path):
    path = tmp_path / "at.parquet"
    pq.write_table(pa.table({"subscriber": ["a"], "location": [[1.0, 2.0]]}), path)
    assert read_locations(str(path), TREE).points.tolist() == [[1.0, 2.0]]


def test_a_file_may_hold_nobody(tmp_path):
    homes = read(tmp_path / "at.csv", "subscriber,x,y\n")
    assert (len(homes.row_of), homes.points.shape, homes.limits) == (0, (0, 2), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n", "a column `subscriber`"),
        ("subscriber,x\na,1\n", "a location of 2 finite numbers"),
        ("subscriber,x,y\na,1,\n", "a location of 2 finite numbers"),
        ("subscriber,x,y\na,1,nan\n", "a location of 2 finite numbers"),
        ("subscriber,x,y\na,1,two\n", "a location of 2 finite numbers"),
        ("subscriber,x,y\n,1,2\n", "text as `subscriber`"),
        ("subscriber,x,y\na,1,2\na,1,2\n", "Duplicate subscriber.*row 1"),
        ("subscriber,broker\na,west\n", "a broker of the tree"),
        ("subscriber,x,y,limit\na,1,2,-3\n", "a latency from 0"),
        ("subscriber,x,y\na,1,2,3\n", "Cannot read a row"),
    ],
)
def test_who_is_nowhere_is_refused_with_the_file(text, message, tmp_path):
    with pytest.raises(TableError, match=message):
        read(tmp_path / "at.csv", text)
