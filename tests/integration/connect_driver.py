"""A match over Spark Connect, with a server of its own; what was found, and what is refused, as JSON on the output."""

from __future__ import annotations

import json
import sys

from thatch import pipeline
from thatch.errors import SparkError
from thatch.pipeline.adapter import is_connect
from thatch.pipeline.folders import atomic_folder


def main(folder: str) -> None:
    spark = pipeline.session("thatch connect test")
    events = spark.createDataFrame([(n, float(n % 40)) for n in range(200)], "id long, x double")
    queries = spark.createDataFrame(
        [(f"s{n}", f"x > {n}") for n in range(300)], "subscription string, filter string"
    )
    found = pipeline.match(events, queries, event="id").toArrow()
    counted = pipeline.match(events, queries, event="id", give="counts").toArrow()
    try:
        with atomic_folder(spark, folder):
            refused = ""
    except SparkError as error:
        refused = str(error)
    answer = {
        "is_connect": is_connect(spark),
        "pairs": sorted(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)),
        "counted": sum(counted["events"].to_pylist()),
        "refused": refused,
    }
    print("ANSWER " + json.dumps(answer))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
