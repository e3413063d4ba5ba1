"""The job of `thatch load`: what it leaves when it fails, and when there is nothing to load."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import thatch
from thatch.errors import OutputError
from thatch.formats.folders import read_manifest
from thatch.pipeline.jobs import load as job
from thatch.pipeline.jobs.job import JobOutput

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


def test_a_job_that_fails_midway_leaves_nothing_and_what_was_there_stays(spark, tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"subscription": "a", "filter": "qty > 5"}) + "\n")
    schema = thatch.Schema({"qty": thatch.Integer(0, 10)})
    facts = job.load_files(
        spark, str(path), JobOutput(str(tmp_path / "out")), schema=schema, with_index=False
    )
    assert (facts.accepted, facts.refused) == (1, 0)
    assert not (tmp_path / "out" / "index.thatch").exists()
    assert read_manifest(tmp_path / "out")["parameters"]["schema"] == schema.describe()

    with pytest.raises(OutputError, match="already exists"):
        job.load_files(spark, str(path), JobOutput(str(tmp_path / "out")))

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(job, "build_engine", fails)
    with pytest.raises(OutputError, match=r"can be written, .* disk is full"):
        job.load_files(spark, str(path), JobOutput(str(tmp_path / "out"), overwrite=True))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "s.jsonl"]
    assert read_manifest(tmp_path / "out")["rows"] == {"subscriptions": 1, "rejects": 0}


def test_tables_of_nothing_are_loaded_and_progress_is_told(spark, tmp_path):
    (tmp_path / "s.jsonl").write_text("")
    told = []
    output = JobOutput(str(tmp_path / "out"), progress=lambda *each: told.append(each))
    facts = job.load_files(spark, str(tmp_path / "s.jsonl"), output)
    assert (facts.accepted, facts.refused) == (0, 0)
    assert pq.read_table(tmp_path / "out" / "subscriptions").schema.names[:2] == ["row", "subscription"]
    assert pq.read_table(tmp_path / "out" / "rejects").num_rows == 0
    assert len(thatch.Engine.open(tmp_path / "out" / "index.thatch")) == 0
    assert told
    assert all(0 <= done <= known for done, known in told)
