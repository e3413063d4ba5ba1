"""Find which subscriptions of a large table are enough: each is decided on its own, against all that came before it."""
