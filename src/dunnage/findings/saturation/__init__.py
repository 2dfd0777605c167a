"""What a deployment sustains under an open load."""
