"""The network paths that stays recorded."""
