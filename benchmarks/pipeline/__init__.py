"""Matching logs on Spark, beside the embedded engine, a join in Spark's SQL, and itself on one core."""
