"""Every table of a result: its columns are declared here once, whatever they are written to."""
