"""The routing core of a broker: stimuli in, effects out; no sockets, clocks, randomness or logging."""
