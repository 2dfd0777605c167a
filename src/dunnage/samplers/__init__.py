"""Who watches hosts: a command and a parser each."""
