"""What the pages about brokers show, happens: their programs, files and commands; and their tables name what there is."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import get_args

import pytest

import thatch.broker
from tests.app.here import run_here
from tests.broker.test_unsubscribing import Bench
from thatch import parse
from thatch.broker.effects import Effect
from thatch.broker.messages import Message, Subscribe, Unsubscribe, Unsubscribed
from thatch.broker.stimuli import LinkDown, LinkUp, Packet, PacketReceived, Stimulus

DOCS = Path(__file__).parents[2] / "docs"
BROKER = Path(thatch.broker.__file__).parent
GUIDE = (DOCS / "how-to" / "brokers.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference" / "brokers.md").read_text(encoding="utf-8")

PROGRAMS = re.findall(r"```python\n(.*?)```\n(?:prints\n```\n(.*?)```)?", GUIDE, re.DOTALL)
FILES = dict(re.findall(r"`(\w+\.(?:yaml|txt))`:\n```\w*\n(.*?)```", GUIDE, re.DOTALL))
COMMANDS = re.findall(r"```console\n\$ thatch (.*?)\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_guide_says(number: int) -> None:
    code, printed = PROGRAMS[number]
    with redirect_stdout(io.StringIO()) as told:
        exec(code, {"__name__": "__main__"})
    assert told.getvalue() == printed


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_a_command_prints_what_the_guide_says(number: int, tmp_path: Path) -> None:
    command, printed = COMMANDS[number]
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    command, _, given = command.partition(" < ")
    ran = run_here(tmp_path, *shlex.split(command), stdin=FILES[given] if given else "")
    assert ran.returncode == 0, ran.stderr
    told = iter(ran.stdout.splitlines())
    for line in printed.splitlines():
        assert line == "..." or line in told, (line, ran.stdout)  # in this order


# --- the reference -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kinds",
    [Stimulus.__subclasses__(), get_args(Effect), get_args(Message)],
    ids=["stimuli", "effects", "messages"],
)
def test_the_tables_name_everything_there_is(kinds: Sequence[type]) -> None:
    named = {
        name
        for line in REFERENCE.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line)
    }
    assert {each.__name__ for each in kinds} <= named


def test_all_reasons_to_refuse_are_listed() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in BROKER.glob("*.py"))
    reason = r'"((?:an? |the end of )[^"{]+|malformed \w+)"'
    given = set(re.findall(rf'(?:reason = |return |= \(|(?:refuse|ignore|keep)\([^"]*){reason}', source))
    table = REFERENCE.partition("## What is refused")[2]
    cells = re.findall(r"^\| ((?:an?|malformed) .*?) \|", table, re.MULTILINE)
    assert {each.strip() for cell in cells for each in cell.split("·")} == given


NARROW, WIDE = (Subscribe(subscription="s", filter=parse(text)) for text in ("x = 1", "x <= 5"))
ASKED, NOT_ASKED = Unsubscribe("s", "r2"), Unsubscribe("s", "")


def gone(bench: Bench, name: str) -> list[Message | str]:
    return bench.heard(LinkDown(now=0, neighbour=name, for_good=True))


def away(bench: Bench, name: str) -> list[Message | str]:
    sent = dict(bench.tables.links[name].channel.outbox)
    said = bench.heard(LinkDown(now=0, neighbour=name)) + bench.heard(LinkUp(now=0, neighbour=name))
    return [each for each in said if each not in sent.values()]  # but those again


def forgetful(bench: Bench, name: str) -> list[Message | str]:
    bench.tables.links[name].channel.is_paired = True
    packet = Packet(session="9.0#1", number=0, received_session="", received=0, message=None)
    return bench.heard(PacketReceived(now=0, neighbour=name, packet=packet))


# What comes, as the reference says it, and how the test plays it: b has the subscription from a, and c is the other.
COMES: dict[str, Callable[[Bench, str], list[Message | str]]] = {
    "its hop: subscribe": lambda bench, _: bench.hear("a", NARROW),
    "its hop: subscribe, another filter": lambda bench, _: bench.hear("a", WIDE),
    "the other: subscribe": lambda bench, _: bench.hear("c", NARROW),
    "its hop: unsubscribe": lambda bench, _: bench.hear("a", ASKED),
    "its hop: unsubscribe, no answer wanted": lambda bench, _: bench.hear("a", NOT_ASKED),
    "the other: unsubscribe": lambda bench, _: bench.hear("c", ASKED),
    "the other: acknowledge": lambda bench, request: bench.hear("c", Unsubscribed(request or "?")),
    "its hop: acknowledge": lambda bench, request: bench.hear("a", Unsubscribed(request or "?")),
    "the other is gone for good": lambda bench, _: gone(bench, "c"),
    "its hop is gone for good": lambda bench, _: gone(bench, "a"),
    "the other is away for a while": lambda bench, _: away(bench, "c"),
    "the other has lost its memory": lambda bench, _: forgetful(bench, "c"),
    "its hop has lost its memory": lambda bench, _: forgetful(bench, "a"),
}
WORDS = {Subscribe: "subscribe", Unsubscribe: "unsubscribe", Unsubscribed: "acknowledge", str: "ignored"}
STATES = ("unknown", "live", "leaving")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.findall(r"^\| (?:the|its) .*", REFERENCE, re.MULTILINE)
]


def test_every_state_meets_everything_that_may_come() -> None:
    assert [row[0] for row in ROWS] == list(COMES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_end_of_a_subscription_is_as_the_table_says(row: list[str]) -> None:
    for state, cell in zip(STATES, row[1:], strict=True):
        bench = Bench()
        request = bench.be(state)
        said = COMES[row[0]](bench, request)
        words = [WORDS[type(each)] for each in said if type(each) in WORDS]
        assert f"{bench.state()}: {', '.join(words) or 'nothing'}" == cell, state
