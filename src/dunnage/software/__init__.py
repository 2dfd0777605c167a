"""How a database is obtained: one tree, and an image made of that tree."""
