"""Trees: boxes come and go, leaves are split, and what has become too deep is built anew."""
