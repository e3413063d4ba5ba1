"""How the segments and the delta of an index are searched for one event."""
