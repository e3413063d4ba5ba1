"""The `thatch` command in this process, for commands that would each start a Spark of their own."""

from __future__ import annotations

import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from thatch.app.cli import main


def run_here(folder: Path, *arguments: str) -> CompletedProcess[str]:
    """What `thatch` with these arguments prints, and how it ends, in a folder."""
    out, err = StringIO(), StringIO()
    argv = ["thatch", *arguments]
    code = 0
    with chdir(folder), redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", argv):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return CompletedProcess(argv, code, out.getvalue(), err.getvalue())
