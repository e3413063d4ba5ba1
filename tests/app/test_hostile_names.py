"""Names and values that mean something to HTML, SQL, YAML, spreadsheets, shells, paths or terminals are only text."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from tests.app.here import run_here
from thatch.errors import TableError
from thatch.formats.profile import read_profile, write_profile
from thatch.formats.topology import read_topology
from thatch.model.profile import Profile
from thatch.reports import Report

NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; drop table subscriptions; --",
    "!!python/object/apply:os.system [id]",
    "=cmd|' /C calc'!A0",
    "two\nlines\r\n",
    "\u202etxt.exe",
    "../../x",
    "\x1b[2J\x1b]0;title\x07",
    "{{7*7}} ${id} `id` %s %n",
    "*&anchor",
)
EVENT = {name: name for name in NAMES}


def filters() -> dict[str, thatch.Filter]:
    return {name: thatch.parse(thatch.attr(name) == name) for name in NAMES}


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def test_in_filters_and_saved_engines(tmp_path):
    engine = thatch.Engine()
    for name, each in filters().items():
        assert thatch.parse(str(each)) == each
        assert thatch.parse(each.to_pattern()) == each
        engine.subscribe(name, each, subscriber=name)
    engine.save(tmp_path / "engine")
    again = thatch.Engine.open(tmp_path / "engine")
    assert again.match(EVENT) == again.match(EVENT, by="subscriber") == list(NAMES)


def test_in_a_store(tmp_path):
    with thatch.TieredEngine(thatch.SqliteStore(tmp_path / "store.db"), budget=4_000_000) as engine:
        for name, each in filters().items():
            engine.subscribe(name, each, subscriber=name)
        assert sorted(engine.match(EVENT)) == sorted(NAMES)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_in_files_of_subscriptions_and_of_matches(ending, tmp_path):
    path = tmp_path / f"subscriptions.{ending}"
    rows = [
        {"subscription": name, "subscriber": name, "filter": str(each)} for name, each in filters().items()
    ]
    if ending == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    (tmp_path / "events.jsonl").write_text(json.dumps(EVENT), encoding="utf-8")
    ran = run_here(tmp_path, "match", path.name, "events.jsonl", "--with-event")
    assert json.loads(ran.stdout) == {"event": 0, "matches": list(NAMES), "content": EVENT}
    assert ran.stdout.rstrip("\n").isprintable()
    run_here(tmp_path, "match", path.name, "events.jsonl", "--out", "found.parquet")
    assert pq.read_table(tmp_path / "found.parquet").column("subscription").to_pylist() == list(NAMES)


def test_on_a_terminal(tmp_path):
    rows = [{"subscription": name, "filter": "price <"} for name in NAMES]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    checked = run_here(tmp_path, "check", "bad.jsonl")
    matched = run_here(
        tmp_path, "match", "bad.jsonl", "-", "--max-rejects", "100", stdin='{"\\u001b[2J": ]}\n'
    )
    explained = run_here(
        tmp_path, "explain", str(filters()["\u202etxt.exe"]), json.dumps({"\u202etxt.exe": "\x1b[2J"})
    )
    for ran in (checked, matched, explained):
        assert all(line.isprintable() for line in (ran.stdout + ran.stderr).split("\n"))


def test_in_reports():
    def page(names: tuple[str, ...]) -> list[str]:
        report = Report(names[0], command=names[1])
        report.facts(dict.fromkeys(names, names[2]))
        report.table([{name: name for name in names}], caption=names[3])
        report.bars(list(names), {"x": [1.0] * len(names)}, title=names[4], label=names[5], value=names[6])
        return Tags(report.html()).found

    assert page(NAMES) == page(tuple(f"plain {number}" for number in range(len(NAMES))))


def test_in_profiles(tmp_path):
    profile = Profile.of([EVENT], filters())
    write_profile(tmp_path / "profile", profile)
    assert read_profile(tmp_path / "profile") == profile


def test_in_topologies(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_text(json.dumps({"brokers": list(NAMES), "links": [[NAMES[0], each] for each in NAMES[1:]]}))
    assert read_topology(path).brokers == NAMES
    path.write_text(f"brokers: !!python/object/apply:pathlib.Path.touch [{tmp_path}/made]\n")
    with pytest.raises(TableError):
        read_topology(path)
    assert not (tmp_path / "made").exists()


def test_as_names_of_outputs(tmp_path):
    for name in NAMES:
        engine, path = thatch.Engine(), Path(tmp_path, "a", name.replace("/", "_"))
        engine.save(path)
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        path.unlink()


def test_in_windows_and_their_alerts(tmp_path):
    for name in NAMES:
        quoted = "'" + name.replace("'", "''") + "'"
        window = thatch.Window.count(1, 5, by=name, of=[name])
        assert (
            thatch.Window.parse(f"count 1 of {quoted} in 5s by {thatch.attr(name).key}").rule == window.rule
        )
        window.save(tmp_path / "window", overwrite=True)
        (alert,) = thatch.Window.open(tmp_path / "window").add({"time": 1, name: name}, [name])
        assert alert.key == {name: name}
    rows = [{"subscription": name, "filter": str(each)} for name, each in filters().items()]
    (tmp_path / "subs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "events.jsonl").write_text(json.dumps({"time": 1, **EVENT}), encoding="utf-8")
    asked = (
        "match",
        "subs.jsonl",
        "events.jsonl",
        "--window",
        f"count 1 in 5s by {thatch.attr(NAMES[0]).key}",
    )
    ran = run_here(tmp_path, *asked)
    alerts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {each["subscription"] for each in alerts} == set(NAMES)
    assert all(each["key"] == {NAMES[0]: NAMES[0]} for each in alerts)
    assert all(line.isprintable() for line in ran.stdout.split("\n"))
    run_here(tmp_path, *asked, "--out", "alerts.parquet")
    found = pq.read_table(tmp_path / "alerts.parquet").column("subscription").to_pylist()
    assert sorted(found) == sorted(NAMES)


def test_in_rules():
    engine = thatch.Engine(background=False)
    for number in range(300):  # so many that filters are kept as rules
        engine.subscribe(f"other {number}", f"x like '%a_{number}%'")
    for name in NAMES:
        engine.subscribe(name, thatch.attr(name).lower().contains(name.casefold()))
    for _ in range(40):
        assert engine.match(EVENT) == list(NAMES)
    engine.compact()
    assert engine.match(EVENT) == list(NAMES)
