"""The benchmark of rules runs on a folder of rules and events, and without one on made-up words."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pytest

from benchmarks import store
from benchmarks.rules.command import main

RULE = """
title: Shell {number}
id: 00000000-0000-4000-8000-{number:012}
logsource: {{product: windows, category: process_creation}}
detection:
  selection:
    Image|endswith: '\\shell{number}.exe'
    CommandLine|contains: [' -enc', 'word{number}']
  condition: selection
"""
BAD = RULE.format(number=99).replace("condition: selection", "condition: nothing")


@pytest.fixture
def data(tmp_path):
    with tarfile.open(tmp_path / "sigma-rules.tar.xz", "w:xz") as archive:
        for number, text in enumerate([*(RULE.format(number=number) for number in range(40)), BAD]):
            info = tarfile.TarInfo(f"rules/rule{number}.yml")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    events = [
        {
            "EventID": number % 3,
            "Image": f"C:\\shell{number % 80}.exe",
            "CommandLine": f"run word{number % 80} -ENC",
        }
        for number in range(200)
    ]
    with gzip.open(tmp_path / "windows-events.json.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
    return tmp_path


@pytest.mark.slow
def test_rules_are_counted_loaded_matched_and_multiplied(data, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", data)
    rows = main(
        [
            "--quick",
            "--data",
            str(data),
            "--times",
            "3",
            "--only",
            "loading",
            "events",
            "process",
            "peers",
            "scaled",
        ]
    )
    by_name = {row.what: row for row in rows}
    assert by_name["rules accepted"].ours == pytest.approx(100 * 40 / 41)
    assert by_name["one event, dict to ids"].matches == pytest.approx(0.6)
    assert 40 < by_name["3 times as many rules"].subscriptions <= 120  # those that match often are there once
    assert {"rule-engine", "zen-engine, one expression"} <= {row.peer for row in rows}
    assert "json.loads" in capsys.readouterr().out


@pytest.mark.slow
def test_words_need_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "STORE", tmp_path)
    rows = main(["--quick"])
    assert [row.what for row in rows] == ["like '%word%'"] * 2
    assert rows[1].ratio > 1
    with pytest.raises(SystemExit):
        main(["--quick", "--only", "events"])
    assert "need --data FOLDER" in capsys.readouterr().err
