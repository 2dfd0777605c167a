"""The page: one file that holds all findings."""
