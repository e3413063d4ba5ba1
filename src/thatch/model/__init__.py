"""The vocabulary of every other package: lines, events, filters, boxes. Frozen values, no IO."""
