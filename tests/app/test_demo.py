"""The later parts of the demonstration: brokers, and a log on Spark in a process of its own, as people run it."""

from __future__ import annotations

import re
from itertools import count, cycle
from types import SimpleNamespace

import pytest

from tests.app.here import run_here
from thatch.app.cli import demo_network
from thatch.app.cli.demo_network import alerts_at_brokers
from thatch.formats.folders import read_manifest
from thatch.formats.profile import read_profile

VENUES = ("NYSE", "LSE")


@pytest.fixture
def ticking(monkeypatch):
    """Few quotes in a round, and a clock on which a quarter of a second passes whenever somebody looks."""
    monkeypatch.setattr(demo_network, "_ROUND", 64)
    ticks = count()
    monkeypatch.setattr(demo_network, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 4))


def quotes():
    return ({"price": 100 + number % 10, "venue": VENUES[number % 2]} for number in count())


def numbers(line):
    return [int(each.replace(",", "")) for each in re.findall(r"(?<![\w-])\d[\d,]*", line)]


@pytest.mark.usefixtures("ticking")
def test_quotes_reach_alerts_at_seven_brokers_and_the_rates_are_reported(capsys):
    alerts = cycle(["price < 105", "price between 103 and 108", "price >= 105", "price = 104"])
    alerts_at_brokers(alerts, quotes(), VENUES, subscriptions=60, seconds=3.0)
    told = capsys.readouterr()
    live = [numbers(line) for line in told.err.splitlines() if "alerts sent" in line]
    assert [len(line) for line in live] == [11, 11]  # quotes, a second, alerts, messages, and seven tables
    published, _, sent, messages = numbers(told.out.splitlines()[1])
    assert published > live[1][0] > live[0][0] > 0
    assert sent > published  # everything is wanted by many
    assert messages > live[1][3] > live[0][3] > 0
    # Four filters at each of seven brokers are all there is to know, whichever of the equal ones was first.
    count_of_alerts, beyond = numbers(told.out.splitlines()[2])
    assert 0 < beyond < 40 < count_of_alerts == 60
    assert re.search(r"Where would .* go, and why\?\nb[67]: published here\n", told.out)
    assert "  delivered to desk-" in told.out


def test_brokers_without_alerts_report_of_quotes_alone(capsys):
    alerts_at_brokers(cycle(["price > 0"]), quotes(), VENUES, subscriptions=0, seconds=0.0)
    assert capsys.readouterr().out == (
        "\n0 quotes through seven brokers, 0 per second: 0 alerts sent, 0 messages between brokers\n"
    )


@pytest.mark.slow
def test_the_demo_prints_its_rates_and_explains_a_quote(tmp_path):
    ran = run_here(tmp_path, "demo", "--subscriptions", "500", "--seconds", "0.2")
    assert ran.returncode == 0
    assert "quotes against 500 alerts" in ran.stdout
    assert "Subscribing 500 alerts" in ran.stderr


@pytest.mark.slow
def test_the_demo_runs_without_alerts_and_without_time(tmp_path):
    ran = run_here(tmp_path, "demo", "--subscriptions", "0", "--seconds", "0")
    assert (ran.returncode, ran.stdout.partition(":")[0]) == (0, "0 quotes against 0 alerts")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
def test_the_demo_profiles_and_matches_a_log_and_prints_where_the_pages_are(tmp_path):
    arguments = ["--subscriptions", "500", "--seconds", "0.2", "--spark", "demo", "--events", "2000"]
    ran = run_here(tmp_path, "demo", *arguments)
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    live, brokers, spark = (
        ran.stdout.index(told)
        for told in (
            "quotes against 500 alerts:",
            "quotes through seven brokers",
            "2,000 logged quotes against 500 alerts on Spark",
        )
    )
    assert live < brokers < spark
    pages = [line.split()[0] for line in ran.stdout.splitlines() if line.strip().startswith("file://")]
    assert pages == [(tmp_path / "demo" / name / "report.html").as_uri() for name in ("profile", "matches")]
    assert read_profile(tmp_path / "demo" / "profile").events == 2_000
    assert read_manifest(tmp_path / "demo" / "matches", "match")["rows"]["matches"] > 0
