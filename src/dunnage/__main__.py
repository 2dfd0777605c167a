"""`python -m dunnage` is the `dunnage` command."""

from dunnage.cli.main import main

main()
