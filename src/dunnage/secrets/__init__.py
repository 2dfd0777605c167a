"""What is a secret, and how each kind of text is written without its secrets."""
