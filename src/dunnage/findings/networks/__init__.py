"""Facts of the networks that stays recorded."""
