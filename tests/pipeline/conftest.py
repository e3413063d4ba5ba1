"""One Spark session for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from thatch.pipeline import session


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """A session on two cores of this machine."""
    made = session("thatch tests", master="local[2]", settings={"spark.sql.shuffle.partitions": 2})
    yield made
    made.stop()
