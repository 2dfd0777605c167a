"""How database processes are run."""
