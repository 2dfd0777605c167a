"""From records to answers. Pure."""
