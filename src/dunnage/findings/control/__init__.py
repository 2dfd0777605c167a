"""What no deployment can change, and what neighbours cost each other."""
