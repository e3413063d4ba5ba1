"""Every example and every row of docs/reference/languages.md holds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import thatch
from thatch.model.language import LANGUAGES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "languages.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\nprints\n```\n(.*?)```", PAGE, re.DOTALL)


def _rows() -> list[tuple[str, str, str]]:
    """The rows of all tables `| language | as text |`: the language, and both cells as code."""
    found = []
    for language, table in re.findall(
        r"^\| `(\w+)` \| as text \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE
    ):
        for row in table.splitlines():
            cells = [
                each.strip().strip("`").replace("\\|", "|") for each in re.split(r"(?<!\\)\|", row.strip("|"))
            ]
            found.append((language, *cells))
    assert found
    return found


@pytest.mark.parametrize(("language", "source", "text"), _rows())
def test_a_rule_is_the_text_that_stands_beside_it(language, source, text):
    assert thatch.parse(_rule(source, language), language=language) == thatch.parse(text)


def _rule(source, language):
    """A part of a Sigma detection as a rule; the rows of other languages are rules."""
    if language != "sigma":
        return source
    return f"title: x\nlogsource: {{product: x}}\ndetection:\n  sel:\n    {source}\n  condition: sel"


@pytest.mark.slow
def test_the_examples_print_what_the_page_says():
    code = "\n".join(each for each, _ in EXAMPLES)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "".join(printed for _, printed in EXAMPLES)


def test_every_language_is_on_the_page():
    for name in LANGUAGES:
        assert f"| `{name}` |" in PAGE, name
