"""Which filters an event matches."""
