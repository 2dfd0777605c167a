"""What a result tells: a room for each finding, with its numbers, its words and its figures."""
