//! Passwords from the environment or a file, never from a command line.
