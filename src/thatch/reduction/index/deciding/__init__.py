"""Decisions: refinement of a small set of boxes until it covers, or leaves a point in no box."""
