"""Control groups, whichever version this machine has them in."""
