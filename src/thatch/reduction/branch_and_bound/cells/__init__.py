"""What is done with one cell of the exact search, and with the proofs that refute cells."""
