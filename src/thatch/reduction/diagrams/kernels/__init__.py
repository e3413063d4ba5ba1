"""Compiled loops of the covering diagrams."""
