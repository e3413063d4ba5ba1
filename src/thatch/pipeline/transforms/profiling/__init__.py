"""Profile a log: one pass over the events for their attributes, one for what filters ask of them."""
