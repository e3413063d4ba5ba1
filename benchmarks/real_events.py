"""Real events, from a folder that is not part of the project: daily quotes and edits of Wikipedia."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

__all__ = ["ATTRIBUTES", "real_events"]

# The attributes that subscriptions use, by file.
ATTRIBUTES = {
    "stock-quotes.csv.gz": ("symbol", "open", "high", "low", "close", "volume"),
    "wikipedia-edits.json.gz": (
        "channel",
        "namespace",
        "page",
        "user",
        "countryName",
        "isAnonymous",
        "isMinor",
        "isNew",
        "isRobot",
        "delta",
        "added",
        "deleted",
    ),
}


def real_events(path: Path) -> list[dict[str, object]]:
    """The events of one of the files."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        if path.name.endswith(".json.gz"):
            return [json.loads(line) for line in file]
        rows = csv.DictReader(file)
        return [
            {name: value if name in {"symbol", "date"} else float(value) for name, value in row.items()}
            for row in rows
        ]
