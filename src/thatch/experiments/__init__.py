"""The figures and tables of the papers, made again: `thatch experiments list | run | report`."""

from __future__ import annotations
