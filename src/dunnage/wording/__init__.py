"""How values are said: the one place where results become words. Nothing here computes."""
