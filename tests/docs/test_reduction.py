"""What the reference of reduction says its examples give, they give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "reduction.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_gives_what_is_said_beside_it(number: int) -> None:
    known: dict[str, object] = {}
    exec("import thatch", known)
    told = 0
    for line in EXAMPLES[number].splitlines():
        code, _, said = line.partition("  # ")
        if " = " in code or code.startswith(("import", "from")) or not code:
            exec(code, known)
            continue
        given = eval(code, known)
        assert said.startswith(repr(given).removeprefix("(").removesuffix(")")), line
        told += 1
    assert told
