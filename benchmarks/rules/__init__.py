"""Rules that people write, beside their logs: how many are read, how long loading and matching take; processor time."""
