"""Residual checks in the form that kernels run."""
