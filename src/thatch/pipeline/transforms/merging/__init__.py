"""Merge the filters of large tables, under a budget of false positives (li2005, section 5)."""
