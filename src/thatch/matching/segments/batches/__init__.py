"""Many flat events at once, as columns."""
