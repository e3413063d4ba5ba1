"""How figures move with the number of subscriptions, of attributes, of conditions, and with the match rate."""
