"""Files and folders to the model and back: subscriptions, events, matches."""
