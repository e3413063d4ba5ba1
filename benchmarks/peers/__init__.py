"""Other ways to the same answers, each a function that gives a `Contestant`."""
