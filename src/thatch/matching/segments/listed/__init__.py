"""Events with lists, and codes that are coarse."""
