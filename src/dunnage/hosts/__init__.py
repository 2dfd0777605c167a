"""Where things run. The only package that starts processes."""
