"""One filter around several, for large tables, under a budget of events that pass in vain (paper L, section 5)."""
