"""Placement on Spark: what is read and counted, and what falls into independent parts, is done by tasks."""
