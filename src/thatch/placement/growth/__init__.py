"""How a filter grows to contain one more box, and the filters above it with it."""
