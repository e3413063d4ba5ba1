"""What brokers cost: one core that handles messages, its memory, and whole networks in simulation."""
