"""Where the noise lies, and what would settle a question."""
