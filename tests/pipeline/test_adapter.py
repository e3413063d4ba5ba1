"""Errors of Spark end in a sentence; traces of Java go to a file."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest

from thatch.errors import SparkError
from thatch.pipeline.adapter import DEBUG, translate_spark_errors

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

FAILING = "select raise_error('no luck') as x"


def failure(spark) -> SparkError:
    with pytest.raises(SparkError) as caught, translate_spark_errors("trying"):
        spark.sql(FAILING).collect()
    return caught.value


def test_a_trace_of_java_is_in_a_file_that_the_sentence_names(spark, capfd):
    error = failure(spark)
    shown = "".join(traceback.format_exception(error))
    assert "no luck" in str(error)
    assert "trying" in str(error)
    assert "pyspark.errors" not in shown
    assert capfd.readouterr().err == ""
    log = Path(re.search(r"the trace is in (\S+);", str(error))[1])
    assert "pyspark.errors" in log.read_text(encoding="utf-8")
    log.unlink()


def test_the_trace_is_shown_where_it_is_asked_for(spark, monkeypatch):
    monkeypatch.setenv(DEBUG, "1")
    error = failure(spark)
    assert "the trace is in" not in str(error)
    assert "pyspark.errors" in "".join(traceback.format_exception(error))


def test_a_query_that_spark_refuses_prints_nothing(spark, capfd):
    frame = spark.range(1)
    with pytest.raises(SparkError, match="nothing"), translate_spark_errors():
        frame.select(frame["id"] + frame["nothing"]).collect()
    assert capfd.readouterr().err == ""


def test_a_spark_that_has_ended_is_a_sentence():
    with (
        pytest.raises(SparkError, match=r"^Spark has ended, probably for lack of memory"),
        translate_spark_errors(),
    ):
        raise ConnectionRefusedError(111, "Connection refused")
