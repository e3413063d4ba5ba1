"""Functions from DataFrames to DataFrames; they read and write nothing."""
