"""What happened inside runs, over time."""
