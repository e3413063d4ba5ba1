"""Thatch: content-based publish/subscribe for Python."""
