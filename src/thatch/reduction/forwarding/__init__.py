"""Sets of filters that one outgoing link forwards, kept up with what comes and goes."""
