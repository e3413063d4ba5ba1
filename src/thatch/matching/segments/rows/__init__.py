"""An event in the form in which it is searched for: rows, cells and codes."""
