"""Who makes load: a command and a parser each."""
