from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch


def mqtt(text):
    return thatch.parse(text, language="mqtt")


@pytest.mark.parametrize(
    ("text", "topic", "wanted"),
    [  # those of the MQTT 5.0 specification, section 4.7, and corner cases
        ("sport/tennis/player1/#", "sport/tennis/player1", True),
        ("sport/tennis/player1/#", "sport/tennis/player1/ranking", True),
        ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", True),
        ("sport/tennis/player1/#", "sport/tennis/player10", False),
        ("sport/#", "sport", True),
        ("#", "sport/tennis", True),
        ("sport/tennis/+", "sport/tennis/player1", True),
        ("sport/tennis/+", "sport/tennis/player1/ranking", False),
        ("sport/+", "sport", False),
        ("sport/+", "sport/", True),
        ("+", "finance", True),
        ("+/tennis/#", "sport/tennis/player1", True),
        ("sport/+/player1", "sport/tennis/player1", True),
        ("+/+", "/finance", True),
        ("/+", "/finance", True),
        ("+", "/finance", False),
        ("#", "$SYS/monitor", False),
        ("+/monitor/Clients", "$SYS/monitor/Clients", False),
        ("$SYS/#", "$SYS/monitor/Clients", True),
        ("$SYS/monitor/+", "$SYS/monitor/Clients", True),
        ("ACCOUNTS", "Accounts", False),
        ("$share/consumer1/sport/tennis/+", "sport/tennis/player1", True),
        ("$share/consumer1//finance", "/finance", True),
        ("$share/g/#", "$SYS/x", False),
        ("a/+/#", "a", False),
        ("a/+/#", "a/", True),
        ("+/#", "a", True),
        ("a/+/b/#", "a/x/b", True),
        ("a/+/b/#", "a/x/y/b", False),
        ("a/+/b/#", "a/x/bc", False),
        ("a.c/+/b/#", "abc/x/b", False),
        ("100%/+", "100%/x", True),
        ("100%/+", "100x/x", False),
        ("a/+/a", "a/a", False),
        ("+", "a\nb", True),
        ("+/a/#", "x/a\n/b", False),
    ],
)
def test_a_topic_filter_matches_as_in_mqtt(text, topic, wanted):
    assert mqtt(text).matches({"topic": topic}) is wanted


def the_specification(filter, topic):
    """Level by level."""
    wanted, levels = filter.split("/"), topic.split("/")
    if wanted[0] in ("+", "#") and topic.startswith("$"):
        return False
    if wanted[-1] == "#":
        wanted.pop()
        levels = levels[: len(wanted)]
    return len(levels) == len(wanted) and all(
        each in ("+", level) for each, level in zip(wanted, levels, strict=True)
    )


names = st.sampled_from(["", "a", "b", "$", "a$", ".", "%", "_", "a\n"])
above = st.lists(st.one_of(names, st.just("+")), min_size=1, max_size=4).map("/".join)
filters = st.one_of(above, above.map(lambda text: text + "/#"), st.just("#")).filter(bool)
topics = st.lists(names, min_size=1, max_size=5).map("/".join)


@given(filters, st.lists(topics, min_size=1, max_size=8))
def test_every_filter_is_that_of_the_specification(filter, topics):
    parsed = mqtt(filter)
    for topic in topics:
        assert parsed.matches({"topic": topic}) == the_specification(filter, topic), (filter, topic)


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("sport/tennis#", "Expected `#` alone in its level, got `#`", 13),
        ("sport/tennis/#/ranking", "Expected `#` as the last level only", 14),
        ("sport+", "Expected `+` alone in its level", 6),
        ("a/b+/c", "Expected `+` alone in its level", 4),
        ("", "Expected a topic filter, got the end", 1),
        ("$share/g", "Expected `/` and a topic filter behind the group", 9),
        ("$share/g/", "Expected a topic filter, got the end", 10),
        ("$share//a", "Expected the name of a group", 8),
        ("$share/a+/a", "Expected the name of a group, without wildcards, got `+`", 9),
        ("a/\0", "Expected a character other than U+0000", 3),
    ],
)
def test_what_is_no_topic_filter_is_refused_with_its_place(text, words, column):
    with pytest.raises(thatch.errors.FilterSyntaxError) as caught:
        mqtt(text)
    assert words in str(caught.value)
    assert caught.value.column == column


def test_a_topic_filter_is_text_of_at_most_65_535_bytes():
    assert mqtt("ä" * 32_767).matches({"topic": "ä" * 32_767})
    with pytest.raises(thatch.errors.FilterTooLargeError, match="65,535 bytes"):
        mqtt("ä" * 32_768)
    for wrong in ({"topic": "a"}, "a/\ud800"):
        with pytest.raises(thatch.FilterError, match="a topic filter as text"):
            mqtt(wrong)


def test_deviation_a_shared_subscription_is_not_shared_here():
    assert mqtt("$share/g/a") == mqtt("a")


def test_deviation_a_topic_need_not_be_a_valid_one_and_a_list_of_topics_is_any_of_them():
    assert mqtt("+").matches({"topic": ""})
    assert mqtt("a/+").matches({"topic": "a/#"})
    assert mqtt("a/+").matches({"topic": ["b", "a/b"]})
    assert not mqtt("+").matches({"topic": 5})
