"""Tables and raw values as files."""
