"""Sieves: what tells in one word of a box that an event does not match it, before its sides and checks are read."""
