"""The job of `thatch match --spark` reads a log as often as it says, and parses each filter once."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thatch.pipeline.jobs import match as job
from thatch.pipeline.jobs.job import JobOutput
from thatch.pipeline.jobs.match import MatchOptions, match_files

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

ROWS = 4_000  # so many that all else that the job reads is less than a tenth of one pass


class RecordsRead:
    """How many records stages have read from files since this was made.

    Earlier stages do not count: Spark forgets them at some point, perhaps while the job runs.
    """

    def __init__(self, spark) -> None:
        self._context = spark.sparkContext
        self._last = max((stage.stageId() for stage in self._stages()), default=-1)

    def count(self) -> int:
        return sum(stage.inputRecords() for stage in self._stages() if stage.stageId() > self._last)

    def _stages(self) -> list:
        scala, java = self._context._jsc.sc(), self._context._jvm
        scala.listenerBus().waitUntilEmpty()
        nothing, statuses = self._context._gateway.new_array(java.double, 0), java.java.util.ArrayList()
        stages = scala.statusStore().stageList(None, False, False, nothing, statuses)
        return [stages.apply(number) for number in range(stages.size())]


def write_log(folder, kind: str, *, bad: bool) -> str:
    path = folder / f"log.{kind}"
    if kind == "jsonl":
        lines = [json.dumps({"x": number, "t": "a"}) for number in range(ROWS)]
        path.write_text("\n".join(["oops" if bad else lines[0], *lines[1:]]) + "\n")
    elif kind == "csv":
        path.write_text("x,t\n" + "0\n" * bad + "".join(f"{number},a\n" for number in range(ROWS)))
    else:
        pq.write_table(pa.table({"x": list(range(ROWS)), "t": ["a"] * ROWS}), path)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "bad", "passes"),
    [
        ("jsonl", False, 2),  # rows are numbered, then matched
        ("jsonl", True, 3),  # and those that are not events listed
        ("csv", False, 3),  # lines, then records are counted
        ("csv", True, 4),
        ("parquet", False, 2),  # one of them is the count by the footer
    ],
)
def test_the_log_is_read_as_often_as_the_job_says(spark, tmp_path, monkeypatch, kind, bad, passes):
    subscriptions = tmp_path / "s.csv"
    subscriptions.write_text("subscription,filter\na,x < 3\nbad,x <\na,x > 5\n")
    monkeypatch.setattr(job, "split_checked", pytest.fail)  # filters are parsed by the index alone
    log = write_log(tmp_path, kind, bad=bad)
    read = RecordsRead(spark)
    output = JobOutput(str(tmp_path / "out"))
    facts = match_files(spark, str(subscriptions), log, MatchOptions(strategy="mapped"), output)
    assert round(read.count() / ROWS) == passes
    assert facts.events == ROWS
    assert (facts.refused, facts.rejected) == (int(bad), 2)
    assert facts.matches == (2 if bad and kind == "jsonl" else 3)
    rejects = pq.read_table(tmp_path / "out" / "rejects").to_pylist()
    assert [(row["row"], row["subscription"]) for row in rejects] == [(1, "bad"), (2, "a")]
    assert rejects[1]["reason"] == "Expected each id once in the table, got 'a' again"
