"""Leaves: which boxes stand in columns side by side, and where they are split."""
