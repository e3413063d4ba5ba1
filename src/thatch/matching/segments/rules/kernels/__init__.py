"""Compiled loops of rules: walk tries, scan texts, decide trees."""
