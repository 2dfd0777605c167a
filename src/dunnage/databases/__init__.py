"""What is deployed, as data."""
