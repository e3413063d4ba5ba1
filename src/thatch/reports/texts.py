"""Texts of any origin, made safe for a page: what cannot be shown is spelled out, what is long is cut."""

from __future__ import annotations

import json
import re
from html import escape

__all__ = ["attribute", "heading", "json_block", "markup", "plain", "plot_text", "shortened"]

# Control characters have no picture, and HTML forbids most of them; tab and newline are white space.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONGEST_HEADING = 300


def plain(text: str) -> str:
    """The text with lone surrogates, which no file can hold, and control characters spelled out."""
    text = text.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def markup(text: str) -> str:
    """The text as content of an HTML element."""
    return escape(plain(text), quote=False)


def heading(text: str) -> str:
    """The text as a heading or caption: on one line, and not endless."""
    return markup(shortened(text, _LONGEST_HEADING))


def attribute(text: str) -> str:
    """The text as value of an HTML attribute, without the quotes around it."""
    return escape(plain(text), quote=True)


def shortened(text: str, length: int) -> str:
    """The text on one line, cut to `length` characters."""
    # A very long text is cut before its white space is looked at.
    text = " ".join(text[: 4 * length + 1].split())
    return text if len(text) <= length else text[: length - 1] + "…"


def plot_text(text: str, length: int = 60) -> str:
    """The text for plotly, which reads tags and entities in every label."""
    return escape(shortened(plain(text), length), quote=False)


def json_block(value: object) -> str:
    """JSON that may stand inside a script element: nothing in it can end that element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
