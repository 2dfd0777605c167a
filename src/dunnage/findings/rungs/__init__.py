"""What each deployment adds to an operation over the one before it."""
