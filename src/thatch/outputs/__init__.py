"""Everything that Thatch writes to disk: where it may go, and how it gets there whole or not at all.

One rule for files and folders, in Python, on the command line and in Spark jobs:

- What exists stays, unless the caller says `overwrite=True` (`--overwrite`). Who wrote it makes no difference.
- Asked to overwrite, a file is replaced. A folder is replaced only if it is empty or has a manifest of ours, since a
  mistyped path would otherwise remove everything below it.
- What a command reads is never written: not under another spelling, nor through a link, nor as a folder around it or
  in it; `overwrite` does not change that.
- Missing folders above the output are created.
- Output is made in a hidden place beside its name and takes its name when it is complete. If writing fails, nothing is
  left; what a killed process left is removed when the same output is next written.
"""

from __future__ import annotations

from thatch.outputs.files import new_file
from thatch.outputs.folders import new_folder
from thatch.outputs.places import check_file, check_folder, refuse_inputs

__all__ = ["check_file", "check_folder", "new_file", "new_folder", "refuse_inputs"]
