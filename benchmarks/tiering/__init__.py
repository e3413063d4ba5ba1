"""Two tiers under a flood of subscriptions, and what the database tier costs an event."""
