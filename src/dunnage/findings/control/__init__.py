"""What no deployment can change, and what neighbours cost: doubts about the instrument."""
