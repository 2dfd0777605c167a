"""Where the CPU time of an operation goes."""
