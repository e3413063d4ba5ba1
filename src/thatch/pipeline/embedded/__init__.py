"""The jobs of `thatch load`, `reduce` and `profile` in this process: for inputs that fit, with the results of Spark."""
