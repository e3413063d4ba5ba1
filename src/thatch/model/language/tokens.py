"""Filter text cut into tokens.

The happy path needs only the tokens themselves, which one `findall` gives; positions are worked out again when
there is an error to point at.
"""

from __future__ import annotations

import re

__all__ = ["END", "position_of", "tokens_of"]

END = ""  # stands after the last token

_TOKEN = re.compile(
    r"""\s*(
      [A-Za-z_][A-Za-z0-9_.]*
    | '[^']*(?:''[^']*)*'
    | "[^"]*(?:""[^"]*)*"
    | [+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?
    | <>|[<>=!]=|&&|\|\||=~|[-+]infinity\b
    | \S
    )""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)


def tokens_of(text: str) -> list[str]:
    """The tokens of a filter text, then `END`."""
    tokens = _TOKEN.findall(text)
    tokens.append(END)
    return tokens


def position_of(text: str, index: int) -> int:
    """Where the token of that number begins."""
    for number, found in enumerate(_TOKEN.finditer(text)):
        if number == index:
            return found.start(1)
    return len(text.rstrip())
