"""One result beside another one."""
