"""Experiments on Spark, as people run them: the very results that one process gives."""

from __future__ import annotations

import pytest

from tests.app.here import run_here
from thatch.experiments.catalogue import EXPERIMENTS
from thatch.experiments.reporting import load_results

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

# One of each paper, and a column of its results that tells no time.
RUN = {
    "ouksel2006/fig5": "removed",
    "jafarpour2008/fig14": "redundant",
    "li2005/fig12": "size",
    "commonality/fig3c": "general",
    "yu2012/fig15": "candidates",
}


@pytest.mark.usefixtures("spark")
def test_spark_gives_what_this_process_gives(tmp_path):
    for where, more in (("here", ["--local"]), ("there", [])):
        ended = run_here(tmp_path, "experiments", "run", *RUN, "--quick", "--results", where, *more)
        assert ended.returncode == 0, ended.stderr
    for name, column in RUN.items():
        here, there = (
            sorted(load_results(EXPERIMENTS[name], tmp_path / where).results.values(column).tolist())
            for where in ("here", "there")
        )
        assert len(here) > 1
        assert here == there
