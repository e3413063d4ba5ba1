"""`thatch profile`, as people run it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import thatch
from tests.app.here import run_here
from tests.integration.browser import browser, browser_process  # noqa: F401 - fixtures
from thatch.formats.folders import read_manifest
from thatch.formats.profile import read_profile
from thatch.model.profile import ErrorBounds, Profile

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.usefixtures("spark"),
]

EVENTS = [
    {"symbol": f"S{number % 7}", "price": number % 50, **({"note": None} if number % 3 else {})}
    for number in range(200)
]
FILTERS = {
    "cheap": "symbol = 'S1' and price < 10",
    "dear": "price > 40",
    "never": "price < 0 and symbol = 'S1'",
    "noted": "note is null",
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here(folder, "profile", *arguments)


@pytest.fixture(scope="module", params=["--no-spark", "--spark"])
def profiled(spark, tmp_path_factory, request) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("profile")
    lines = [*map(json.dumps, EVENTS), "{broken", "[]"]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    rows = "".join(f'{identity},"{text}"\n' for identity, text in FILTERS.items())
    (folder / "subscriptions.csv").write_text("subscription,filter\n" + rows + "bad,price <\n")
    return folder, run(folder, "events.jsonl", "subscriptions.csv", "--out", "profile", request.param)


def test_a_folder_is_written_and_reported(profiled):
    folder, ended = profiled
    assert ended.returncode == 0, ended.stderr
    total = profile_here().matches.total
    asked = f"4 subscriptions with 5 distinct predicates: {total} matches, 1 subscriptions never matched"
    assert ended.stdout.splitlines()[:2] == ["200 events with 3 attributes", asked]
    assert "profile/report.html" in ended.stdout
    assert "2 rows of events.jsonl are not events" in ended.stderr
    assert "1 rows of subscriptions.csv are not valid subscriptions" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(each.name for each in folder.iterdir()) == ["events.jsonl", "profile", "subscriptions.csv"]


def profile_here() -> Profile:
    return Profile.of(EVENTS, {identity: thatch.parse(text) for identity, text in FILTERS.items()})


def test_the_folder_holds_the_profile(profiled):
    found, exact = read_profile(profiled[0] / "profile"), profile_here()
    assert found.rejected == 2
    assert found.events == 200
    assert found.sets == exact.sets
    assert found.predicates == exact.predicates
    assert found.matches.distribution == exact.matches.distribution
    assert found.attribute("price").heavy == exact.attribute("price").heavy


def test_the_manifest_reports_what_made_it(profiled):
    manifest = read_manifest(profiled[0] / "profile", "profile")
    assert manifest["command"].startswith("thatch profile events.jsonl subscriptions.csv --out profile")
    assert manifest["parameters"]["fraction"] == 1.0
    assert manifest["rows"]["attributes"] == 3


def test_the_report_shows_pictures_and_asks_nobody(profiled, browser):  # noqa: F811 - a fixture
    page = browser.open((profiled[0] / "profile" / "report.html").as_uri())
    assert not page.problems
    assert page.hosts == set()
    assert page.evaluate("document.querySelectorAll('.plot svg.drawing').length") > 5
    for title in ("Attributes", "Values", "Attributes that occur together", "Predicates", "Matches"):
        assert title in page.evaluate("document.body.innerText")


def test_the_page_says_what_is_exact(profiled):
    text = (profiled[0] / "profile" / "report.html").read_text()
    is_exact = read_profile(profiled[0] / "profile").bounds == ErrorBounds()
    assert ("All counts, numbers of distinct values and quantiles are exact." in text) == is_exact
    assert ("relative standard error of 0.00%" in text, "after 0 characters" in text) == (False, False)


def test_a_folder_that_is_there_is_not_replaced_unless_asked(profiled):
    ended = run(profiled[0], "events.jsonl", "--out", "profile")
    assert ended.returncode == 2
    assert "already exists" in ended.stderr
    assert read_profile(profiled[0] / "profile").matches is not None
