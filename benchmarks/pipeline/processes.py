"""What the processes of a Spark use: seconds of processor, and memory of their own."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cpu_seconds", "descendants", "private_bytes"]

_TICKS = os.sysconf("SC_CLK_TCK")


def descendants() -> dict[int, str]:
    """All processes below this one and the command of each."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, UnicodeDecodeError):  # gone meanwhile
                continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: commands.get(pid, "") for pid in found - {os.getpid()}}


def cpu_seconds() -> float:
    """Seconds of processor that this process and all below it have used, with those that have ended."""
    total = 0
    for pid in (os.getpid(), *descendants()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))  # user and system, its own and those of children that ended
    return total / _TICKS


def private_bytes(pid: int) -> int:
    """Memory that a process shares with no other and no file."""
    fields = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        fields[name] = int(value.split()[0]) * 1024
    return min(fields["Anonymous"], fields["Private_Dirty"] + fields["Private_Clean"])
