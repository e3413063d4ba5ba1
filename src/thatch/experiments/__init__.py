"""Reproduces the figures and tables of the papers: `thatch experiments list | run | report`."""

from __future__ import annotations
