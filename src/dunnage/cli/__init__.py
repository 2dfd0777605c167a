"""The `dunnage` command, a file a verb."""
