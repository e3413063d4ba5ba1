"""The unselective case: a bit for every box and attribute."""
