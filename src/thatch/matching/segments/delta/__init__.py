"""The delta: filters that are too new for a segment."""
