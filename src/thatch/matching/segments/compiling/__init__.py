"""How kernels are compiled, kept on disk and loaded again."""
