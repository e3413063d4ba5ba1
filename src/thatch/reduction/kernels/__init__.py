"""Compiled loops of the exact search."""
