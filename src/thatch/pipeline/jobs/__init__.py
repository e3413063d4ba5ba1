"""Read, transform, write: what the commands run."""
