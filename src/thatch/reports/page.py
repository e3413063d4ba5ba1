"""The page around the parts of a report: one self-contained file that loads nothing and runs no text of values."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from thatch.errors import MissingPackageError
from thatch.reports.figures import Figure
from thatch.reports.formatting import Format, check_formats, format_value
from thatch.reports.tables import cut_sentence, table_markup
from thatch.reports.texts import attribute, heading, json_block, markup, plain, shorten

__all__ = ["contents_markup", "facts_markup", "figure_markup", "page", "plotly_script", "prose"]

_ASSETS = Path(__file__).parent / "assets"
_UNDRAWN = "Not drawn, because missing, infinite, or not above zero on a logarithmic axis: {:,}."
_CODE = re.compile(r"`([^`]+)`")


def page(title: str, command: str, body: str, *, figures: bool) -> str:
    """The whole file; it contains plotly.js only if there are figures."""
    scripts = [_script(plotly_script())] if figures else []
    scripts.append(_script((_ASSETS / "page.js").read_text(encoding="utf-8")))
    made_by = (
        f'<div class="command"><pre><code>{markup(command)}</code></pre>'
        '<button type="button" class="copy">Copy</button></div>\n'
        if command
        else ""
    )
    blind = "<noscript><p>Figures need JavaScript; their data is in the tables below them.</p></noscript>\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{markup(shorten(title, 200))}</title>\n"
        f"<style>\n{(_ASSETS / 'page.css').read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{heading(title)}</h1>\n{made_by}</header>\n<main>\n{blind if figures else ''}{body}</main>\n"
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def facts_markup(facts: Mapping[str, object], formats: Mapping[str, Format]) -> str:
    """A strip of named numbers."""
    check_formats(formats)
    each = (
        f"<div><dt>{markup(shorten(name, 80))}</dt><dd>{markup(shorten(format_value(value, formats.get(name)), 80))}</dd></div>\n"
        for name, value in facts.items()
    )
    return f'<dl class="facts">\n{"".join(each)}</dl>\n'


def contents_markup(titles: Sequence[tuple[str, str]]) -> str:
    """A table of contents from pairs of id and title."""
    items = "".join(
        f'<li><a href="#{name}">{markup(shorten(title, 120))}</a></li>\n' for name, title in titles
    )
    return f'<nav aria-label="Contents">\n<ol>\n{items}</ol>\n</nav>\n'


def prose(text: str) -> str:
    """Paragraphs, separated by empty lines; text in backquotes is code."""
    parts = (markup(part.strip()) for part in re.split(r"\n\s*\n", plain(text)) if part.strip())
    return "".join("<p>" + _CODE.sub(r"<code>\1</code>", part) + "</p>\n" for part in parts)


def figure_markup(figure: Figure) -> str:
    """The element of a figure, its specification for the script, and its data as a table."""
    caption = f"<figcaption>{heading(figure.title)}</figcaption>\n" if figure.title else ""
    label = attribute(f"{shorten(figure.title, 200)}. {figure.summary}" if figure.title else figure.summary)
    undrawn = f'<p class="cut">{_UNDRAWN.format(figure.undrawn)}</p>\n'
    table = table_markup(figure.rows, caption="", formats=figure.formats, sortable=False)
    return (
        f"<figure>\n{caption}"
        f'<div class="plot" role="img" aria-label="{label}" style="height:{figure.height}px"></div>\n'
        f'<script type="application/json">{json_block({"data": figure.data, "layout": figure.layout})}</script>\n'
        f"{cut_sentence(figure.shown, figure.total, figure.what)}{undrawn if figure.undrawn else ''}"
        f"<details><summary>Data</summary>\n{table}</details>\n</figure>\n"
    )


def _script(text: str) -> str:
    """A script as text of an HTML file that is the same before and after parsing."""
    return text.replace("\r\n", "\n").replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _policy(scripts: Sequence[str]) -> str:
    """A content security policy: the page loads nothing and runs only these scripts, whatever its values are."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def plotly_script() -> str:
    """The text of plotly.js, from the installed package plotly.

    Raises
    ------
    MissingPackageError
        If plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # plotly has no types
    except ImportError as error:
        raise MissingPackageError("plotly", "spark", "figures in reports") from error
    return str(get_plotlyjs())
