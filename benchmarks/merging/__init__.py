"""How quickly a link merges, how much that saves, and what it lets through in vain."""
