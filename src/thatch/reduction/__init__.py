"""Which subscriptions need not be known elsewhere: covering, group subsumption, and sets that keep up with changes."""
