"""Candidates: boxes whose codes pass."""
