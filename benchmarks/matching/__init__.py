"""The engine beside its peers and its goals, in one table."""
