"""Stays in which programs of an orchestrator were restarted."""
