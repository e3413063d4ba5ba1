"""What decision diagrams cost (paper L): routing, covering in one pass and in two, and beside the segment engine."""
