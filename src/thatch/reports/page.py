"""The page around the parts of a report: one self-contained file that loads nothing and runs no text of values."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from thatch.reports.figures import Figure
from thatch.reports.formatting import Format, check_formats, format_value
from thatch.reports.tables import cut_sentence, table_markup
from thatch.reports.texts import attribute, heading, json_block, markup, plain, shorten

__all__ = ["contents_markup", "facts_markup", "figure_markup", "page", "prose"]

_ASSETS = Path(__file__).parent / "assets"
_UNDRAWN = "Not drawn, because missing, infinite, or not above zero on a logarithmic axis: {:,}."
_LONGEST_NUMBER = 11  # characters that fit a tile in large type
_CODE = re.compile(r"`([^`]+)`")


def page(title: str, command: str, body: str, *, figures: bool, made: datetime | None) -> str:
    """The whole file; it contains the script that draws only if there are figures."""
    names = ["figures.js", "page.js"] if figures else ["page.js"]
    scripts = [_script((_ASSETS / name).read_text(encoding="utf-8")) for name in names]
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
        f"<header>\n<h1>{heading(title)}</h1>\n{made_by}{_origin(made)}</header>\n<main>\n{blind if figures else ''}{body}</main>\n"
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def facts_markup(facts: Mapping[str, object], formats: Mapping[str, Format]) -> str:
    """A strip of named numbers."""
    check_formats(formats)
    each = (_fact(name, format_value(value, formats.get(name))) for name, value in facts.items())
    return f'<dl class="facts">\n{"".join(each)}</dl>\n'


def _fact(name: str, value: str) -> str:
    """A tile; texts are smaller than numbers, long ones wider, so that no word is broken."""
    text = shorten(value, 80)
    is_text = max(map(len, text.split()), default=0) > _LONGEST_NUMBER or len(text) > 2 * _LONGEST_NUMBER
    wide = ' class="wide"' if len(text) > 3 * _LONGEST_NUMBER else ""
    look = ' class="t"' if is_text else ""
    return f"<div{wide}><dt>{markup(shorten(name, 80))}</dt><dd{look}>{markup(text)}</dd></div>\n"


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
    drawing = {"data": figure.data, "layout": figure.layout, "height": figure.height}
    undrawn = f'<p class="cut">{_UNDRAWN.format(figure.undrawn)}</p>\n'
    table = table_markup(figure.rows, caption="", formats=figure.formats, sortable=False)
    return (
        f"<figure>\n{caption}"
        f'<div class="plot" role="img" aria-label="{label}" style="min-height:{figure.height}px"></div>\n'
        f'<script type="application/json">{json_block(drawing)}</script>\n'
        f"{cut_sentence(figure.shown, figure.total, figure.what)}{undrawn if figure.undrawn else ''}"
        f"<details><summary>Data</summary>\n{table}</details>\n</figure>\n"
    )


def _origin(made: datetime | None) -> str:
    """What made the page, and when; in UTC, because pages travel."""
    when = ""
    if made is not None:
        moment = made.astimezone(UTC)
        when = f' · <time datetime="{moment:%Y-%m-%dT%H:%M:%SZ}">{moment:%Y-%m-%d %H:%M} UTC</time>'
    return f'<p class="made">Thatch {markup(version("thatch"))}{when}</p>\n'


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
