"""Two commits side by side: what became quicker, what slower, and what is only noise."""
