"""What documents point to is there: links, source files, tests and experiments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from thatch.experiments.catalogue import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
)
PAPERS = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_and_every_python_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for line in text.splitlines() for name in _missing_files(line, page.parent)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_heading_finds_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text)
    targets = [
        ((page.parent / name).resolve() if name else page, anchor)
        for name, anchor in links
        if "://" not in name
    ]
    assert [(target.name, anchor) for target, anchor in targets if anchor not in _anchors(target)] == []


def _anchors(page: Path) -> set[str]:
    """The names that a page's headings get when it is shown."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    found = [ROOT / "README.md"]
    while found:
        page = found.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        found += [
            (page.parent / link).resolve()
            for link in links
            if "://" not in link and (page.parent / link).is_file()
        ]
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and page.parent.name != "decisions"]
    assert [page.relative_to(ROOT).as_posix() for page in pages if page not in seen] == []


def test_every_page_that_the_help_or_an_error_names_exists() -> None:
    named = {
        name
        for file in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"docs/[\w/.-]+\.md", file.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []


def _missing_files(line: str, here: Path) -> list[str]:
    """Python files named with their folder: from the root, the package or the page. A bare name stands beside the file
    before it on the line; without one it is a kind of file (`problem.py`)."""
    roots, beside, missing = [ROOT, ROOT / "src" / "thatch", here], None, []
    for name in re.findall(r"`([\w./-]+\.py)`", line):
        folders = roots if "/" in name else [beside] if beside else []
        found = next((folder / name for folder in folders if (folder / name).exists()), None)
        if found:
            beside = found.parent
        elif folders:
            missing.append(name)
    return missing


def test_papers_and_experiments_name_each_other() -> None:
    named = set(re.findall(rf"`((?:{'|'.join(_families())})/\w+)`", PAPERS))
    assert named - set(EXPERIMENTS) == set()
    rows = re.findall(r"^\| (`[^|]*?) \|", PAPERS, re.MULTILINE)
    shown = {name for row in rows for name in _spelled_out(row)}
    assert set(EXPERIMENTS) - shown == set()


def _families() -> set[str]:
    return {name.partition("/")[0] for name in EXPERIMENTS}


def _spelled_out(row: str) -> list[str]:
    """`a/fig1`, `fig2` is a/fig1 and a/fig2."""
    family, names = "", []
    for name in re.findall(r"`([\w/]+)`", row):
        family = name.partition("/")[0] if "/" in name else family
        names.append(f"{family}/{name.rpartition('/')[2]}")
    return names
