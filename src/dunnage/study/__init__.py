"""From a study file to a plan: reading, resolving, planning. Pure."""
