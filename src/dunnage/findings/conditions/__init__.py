"""What held members back, and what watching took."""
