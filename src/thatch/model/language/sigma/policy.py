"""How pySigma compiles regular expressions here: as always with RE2, which then writes nothing to standard error."""

from __future__ import annotations

import re
from typing import Any

import re2
from sigma.policy import SigmaPolicy
from sigma.policy.regex_engine import RE2RegexEngine

__all__ = ["POLICY"]

_SIGNS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


class QuietEngine(RE2RegexEngine):
    """RE2 without its own log: what it refuses is told once, in our words."""

    def compile(self, pattern: str, flags: int = 0) -> Any:
        signs = "".join(sign for flag, sign in _SIGNS.items() if flags & flag)
        options = re2.Options()
        options.log_errors = False
        return re2.compile(f"(?{signs}){pattern}" if signs else pattern, options=options)

    def __deepcopy__(self, _: Any) -> QuietEngine:
        return self  # pySigma copies what is given to rules, and modules cannot be copied


POLICY = SigmaPolicy(regex_engine=QuietEngine())
