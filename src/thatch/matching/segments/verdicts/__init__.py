"""The closer look at a box that codes alone do not decide."""
