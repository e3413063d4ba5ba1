"""Spark that splits small files."""

from __future__ import annotations

import pytest

from tests.pipeline.read_files import SPLITS


@pytest.fixture
def small_splits(spark):
    """Spark with splits of 64 bytes, so that every file has many."""
    for key, value in SPLITS.items():
        spark.conf.set(key, value)
    yield spark
    for key in SPLITS:
        spark.conf.unset(key)
