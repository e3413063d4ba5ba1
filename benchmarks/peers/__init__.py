"""Other systems that give the same answers, each a function that returns a `Contestant`."""
