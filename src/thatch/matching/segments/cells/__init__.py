"""Where a value of an event falls among the cuts of a segment."""
