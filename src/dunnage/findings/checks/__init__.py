"""What gates found, and why runs do not count."""
