"""How a segment is made: ranks, groups, blocks."""
