"""Subscriptions in every language, from tables, lines, rule files and folders."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import thatch
from thatch.errors import FilterError, TableError
from thatch.formats.reading import Reading
from thatch.formats.rules import holds_rules, read_rules

RULE = """title: {title}
id: {id}
status: test
level: high
logsource: {{category: process_creation, product: windows}}
tags: [attack.t1059]
detection:
  sel: {{f: {value}}}
  condition: sel
"""


def rule(number, value="a"):
    return RULE.format(title=f"rule {number}", id=f"00000000-0000-4000-8000-{number:012}", value=value)


def texts_of(found):
    return dict(
        zip(found.with_texts().table["subscription"].to_pylist(), map(str, found.filters), strict=True)
    )


def test_a_folder_of_sigma_rules_is_read_with_the_folders_in_it(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b.yml").write_text(f"{rule(2, 'b')}---\n{rule(3, 'c')}---\n")
    (tmp_path / "deep" / "er" / "a.yaml").write_text(rule(1))
    (tmp_path / "deep" / "notes.txt").write_text("no rule")
    (tmp_path / ".hidden" / "c.yml").write_text("no rule either")
    found = read_rules(str(tmp_path))
    assert texts_of(found) == {
        f"00000000-0000-4000-8000-{n:012}": f"lower(f) = '{c}'" for n, c in ((2, "b"), (3, "c"), (1, "a"))
    }
    assert (found.rows, found.rejects) == ([0, 1, 2], [])
    (row, *_) = found.table.select(["payload", "tags"]).to_pylist()
    assert row["tags"] == [
        "attack.t1059",
        "level.high",
        "status.test",
        "product.windows",
        "category.process_creation",
    ]
    assert json.loads(row["payload"]) == {
        "title": "rule 2",
        "level": "high",
        "status": "test",
        "logsource": {"category": "process_creation", "product": "windows"},
        "file": str(tmp_path / "b.yml"),
    }


def test_the_rules_of_a_folder_are_subscriptions_with_payload_and_tags(tmp_path):
    (tmp_path / "a.yml").write_text(rule(1))
    found = read_rules(str(tmp_path))
    engine = thatch.Engine()
    assert engine.subscribe_many(found.table, filters=found.filters).num_rows == 0
    ((_, payload),) = engine.match({"f": "A"}, by="payload")
    assert payload["title"] == "rule 1"
    assert engine.subscriptions(tag="level.high").num_rows == 1


def test_actions_and_filters_of_a_collection_are_carried_out(tmp_path):
    text = f"""action: global
level: low
detection:
  common: {{g: 1}}
---
{rule(1).replace("condition: sel", "condition: sel and common")}---
action: reset
---
{rule(2, "b")}---
action: repeat
id: 00000000-0000-4000-8000-000000000003
detection:
  sel: {{f: c}}
---
title: only at night
logsource: {{category: process_creation, product: windows}}
filter:
  rules: any
  day: {{night: false}}
  condition: not day
"""
    (tmp_path / "a.yml").write_text(text)
    found = read_rules(str(tmp_path / "a.yml"))
    assert not found.rejects
    day = "(lower(night) is missing or lower(night) is distinct from false and lower(night) is distinct from 'false')"
    for (_, read), own in zip(
        texts_of(found).items(), ("f) = 'a' and lower(g) in (1, '1')", "f) = 'b'", "f) = 'c'"), strict=True
    ):
        assert thatch.parse(read) == thatch.parse(f"lower({own} and {day}")


def test_bad_rules_are_named_and_the_others_stay(tmp_path):
    bad = rule(2).replace("sel: {f", "sel: {f|endwith")
    correlation = "title: many\ncorrelation: {type: event_count}\n"
    (tmp_path / "a.yml").write_text(
        f"{rule(1)}---\n{bad}---\n{correlation}---\n5\n---\n{rule(3)}---\n{rule(3)}---\na: ["
    )
    found = read_rules(str(tmp_path))
    assert len(found.filters) == 3
    assert found.table["subscription"].to_pylist()[-1].endswith("3#2")
    modifier, correlation, number, syntax = [reason for _, reason in found.rejects]
    assert modifier.startswith("00000000-0000-4000-8000-000000000002: Unknown modifier 'endwith'")
    assert found.place(1) == str(tmp_path / "a.yml")
    assert modifier.endswith("rule 'rule 2', line 18, column 20")
    assert "thatch.Window" in correlation
    assert "Expected a Sigma rule as an object, got 5 - at line 24, column 1" in number
    assert "Expected YAML" in syntax


def test_a_table_may_hold_filters_in_any_language(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('subscription,filter\n1,"a in (b,c)"\n2,a==\n3,a=(\n')
    found = read_rules(str(path), Reading(language="labels"))
    assert texts_of(found) == {"1": "a in ('b', 'c')", "2": "a = ''"}
    ((row, reason),) = found.rejects
    assert row == 2
    assert "column 3" in reason


def test_objects_in_json_lines_are_rules_too(tmp_path):
    path = tmp_path / "a.jsonl"
    query = {"subscription": "1", "subscriber": "me", "filter": {"term": {"x": 1}}}
    path.write_text(json.dumps(query))
    found = read_rules(str(path), Reading(language="elasticsearch"))
    assert texts_of(found) == {"1": "x = 1"}
    assert found.table["subscriber"].to_pylist() == ["me"]


def test_a_text_file_has_a_filter_on_each_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"home/+\n\n  #  \n$share/\xff")
    found = read_rules(str(path), Reading(language="mqtt"))
    assert [*texts_of(found)] == ["1", "3"]
    assert [row for row, _ in found.rejects] == [3]
    path.write_text("x = 1\nx = 2")
    own = read_rules(str(path))
    assert own.filters is None
    assert own.table["filter"].to_pylist() == ["x = 1", "x = 2"]


def test_a_pipeline_maps_fields_and_gives_placeholders_values(tmp_path):
    (tmp_path / "p.yaml").write_text(
        "name: mine\npriority: 20\nvars: {admins: [root, Eve]}\ntransformations:\n"
        "- {id: f, type: field_name_mapping, mapping: {f: event.user}}\n- {id: v, type: value_placeholders}\n"
    )
    (tmp_path / "q.yaml").write_text(
        "name: first\npriority: 10\ntransformations:\n- {type: field_name_prefix, prefix: ''}\n"
    )
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.yml").write_text(rule(1).replace("{f: a}", "{f|expand: '%admins%'}"))
    given = Reading(pipelines=(str(tmp_path / "p.yaml"), str(tmp_path / "q.yaml")))
    assert [*texts_of(read_rules(str(tmp_path / "rules"), given)).values()] == [
        "lower(event.user) in ('eve', 'root')"
    ]
    with pytest.raises(TableError, match="files of Sigma rules beside `--pipeline`"):
        read_rules(str(tmp_path / "a.csv"), given)


@pytest.mark.parametrize(
    "text",
    ["[", "- 1", "a: 1\n---\nb: 2", "transformations: [{type: nothing}]", "transformations: 5", "other: 1"],
)
def test_what_is_no_pipeline_is_refused_with_the_file(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    (tmp_path / "a.yml").write_text(rule(1))
    with pytest.raises(FilterError) as caught:
        read_rules(str(tmp_path / "a.yml"), Reading(pipelines=(str(tmp_path / "p.yaml"),)))
    assert caught.value.where == str(tmp_path / "p.yaml")


def test_which_paths_are_rules_their_endings_and_the_language_tell(tmp_path):
    (tmp_path / "a.yml").write_text(rule(1))
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("subscription,filter\n")
    assert holds_rules(str(tmp_path), Reading())
    assert holds_rules("a.YML", Reading())
    assert holds_rules("a.csv", Reading(language="kql"))
    assert not holds_rules("a.csv", Reading(language="text"))
    assert not holds_rules(str(tmp_path / "tables"), Reading())
    with pytest.raises(FilterError, match="one of the languages text, "):
        Reading(language="sql")


def test_filters_that_are_parsed_already_are_one_for_each_row():
    table = pa.table({"subscription": ["a", "b"]})
    with pytest.raises(TableError, match="a filter for each row, got 1 for 2 rows"):
        thatch.Engine().subscribe_many(table, filters=[thatch.parse("x = 1")])


def test_a_list_of_rules_of_eventbridge_is_known_by_its_beginning(tmp_path):
    path = tmp_path / "rules.json"
    rules = [
        {"Name": "a", "State": "ENABLED", "EventPattern": '{"x": ["a"]}'},
        {"Name": "b", "State": "DISABLED", "EventPattern": '{"x": ["b"]}'},
        {"Name": "c", "State": "ENABLED", "ScheduleExpression": "rate(5 minutes)"},
    ]
    for indent in (None, 4):
        path.write_text(json.dumps({"Rules": rules}, indent=indent))
        for language in (None, "eventbridge"):
            found = read_rules(str(path), Reading(language=language))
            assert texts_of(found) == {"a": "x = 'a'"}
            assert [row for row, _ in found.rejects] == [1, 2]
            assert found.rejects[0][1] == "b: This rule is disabled and left out"
    path.write_text('{"subscription": "r", "filter": "x = 1"}\n')
    assert read_rules(str(path)).table["filter"].to_pylist() == ["x = 1"]
    assert not holds_rules(str(tmp_path / "none.json"), Reading())
