"""Blocks of sixty-four boxes."""
