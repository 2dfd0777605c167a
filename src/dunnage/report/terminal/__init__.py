"""What the terminal shows of a result."""
