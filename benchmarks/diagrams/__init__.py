"""What decision diagrams cost (li2005): routing, covering in one pass and in two, and beside the segment engine."""
