"""The `thatch` command, run in this process."""

from __future__ import annotations

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from thatch.app.cli import main

QUOTES = Path(__file__).parents[2] / "examples" / "quotes"


def run_here(folder: Path, *arguments: str, stdin: str = "") -> CompletedProcess[str]:
    """What `thatch` with these arguments prints in a folder, and its exit status."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["thatch", *arguments]
    lines = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    code = 0
    with (
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
        patch.multiple(sys, argv=argv, stdin=lines),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return CompletedProcess(argv, code, out.getvalue(), err.getvalue())
