"""The three ways to write a filter: SQL-style text, JSON patterns, Python expressions; and the way back."""
