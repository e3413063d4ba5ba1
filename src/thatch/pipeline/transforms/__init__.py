"""Functions from DataFrames to DataFrames; they read and write no files of the user."""
