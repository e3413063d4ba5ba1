"""What matching plans save: predicates evaluated in the planned order beside the order in which they came."""
