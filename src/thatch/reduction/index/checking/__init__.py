"""Whether arrays are boxes."""
