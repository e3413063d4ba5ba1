"""Which subscriptions of a large table are enough: each decided by a task of its own, against all that came before."""
