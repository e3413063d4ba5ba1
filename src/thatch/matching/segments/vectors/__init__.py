"""Sixty-four boxes tested at once."""
