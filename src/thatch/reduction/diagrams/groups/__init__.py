"""Which groups of boxes may cover others, by their axes."""
