"""What subscriptions cost to reduce: the exact checker beside negative spaces, random points and pairs."""
