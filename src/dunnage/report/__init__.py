"""From answers to a page, tables and figures."""
