"""Makes arbitrary text safe for a page: escapes what cannot be shown, and cuts what is long."""

from __future__ import annotations

import json
import re
from html import escape

__all__ = ["attribute", "heading", "json_block", "markup", "plain", "plot_text", "shorten"]

# Control characters have no picture, and HTML forbids most of them; tab and newline are white space. Marks that turn the
# direction of writing would turn the text behind a name too.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST_HEADING = 300


def plain(text: str) -> str:
    """The text with lone surrogates, control characters and marks of direction as escapes."""
    text = text.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def markup(text: str) -> str:
    """The text as content of an HTML element."""
    return escape(plain(text), quote=False)


def heading(text: str) -> str:
    """The text as a heading or caption: one line of limited length."""
    return markup(shorten(text, _LONGEST_HEADING))


def attribute(text: str) -> str:
    """The text as the value of an HTML attribute, without quotes."""
    return escape(plain(text), quote=True)


def shorten(text: str, length: int) -> str:
    """The text on one line, cut to `length` characters."""
    # Cut very long text before splitting it.
    text = " ".join(text[: 4 * length + 1].split())
    return text if len(text) <= length else text[: length - 1] + "…"


def plot_text(text: str, length: int = 60) -> str:
    """The text as a label in a figure, one line that the page shows as it is."""
    return shorten(plain(text), length)


def json_block(value: object) -> str:
    """JSON for a script element; no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
