"""A program that `spark-submit` starts uses the session that is meant for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from thatch.pipeline.java import cache_folder, find_java, make_java_home

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

PROGRAM = """
from thatch import pipeline

spark = pipeline.session("submitted")
queries = [(f"s{number}", f"x > {number}") for number in range(300)]
found = pipeline.match(
    spark.range(50).selectExpr("id", "id * 10.0 as x"),
    spark.createDataFrame(queries, "subscription string, filter string"),
    event="id",
)
print("FOUND", found.count(), spark.sparkContext.master, spark.sparkContext.appName)
"""


def test_a_submitted_program_matches_on_the_master_it_is_given(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    environ = {
        **os.environ,
        "JAVA_HOME": str(make_java_home(find_java(os.environ), cache_folder())),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    told = subprocess.run(
        [submit, "--master", "local[1]", "--name", "by hand", program],
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    expected = sum(10 * event > number for event in range(50) for number in range(300))
    lines = [line for line in told.stdout.splitlines() if line.startswith("FOUND")]
    assert lines == [f"FOUND {expected} local[1] submitted"], told.stderr[-3000:]
