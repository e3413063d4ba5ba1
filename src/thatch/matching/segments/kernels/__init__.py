"""Compiled loops that build, search and merge segments."""
