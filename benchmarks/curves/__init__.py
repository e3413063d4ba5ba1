"""How speed and memory change with the number of subscriptions, attributes and conditions, and with the match rate."""
