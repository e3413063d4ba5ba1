"""Compiled loops of the box index."""
