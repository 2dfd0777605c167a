"""Which copies of loaded data stays started with."""
