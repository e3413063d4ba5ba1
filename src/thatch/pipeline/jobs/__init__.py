"""The jobs that the commands run: read, transform, write, report."""
