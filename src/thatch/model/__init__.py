"""The vocabulary of every other room: lines, events, filters, boxes. Frozen values, no IO."""
