"""Speed and memory, side by side with peers, printed with the machine they were measured on."""
