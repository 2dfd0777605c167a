"""Carries out a plan: testbed, substrate, stay, run."""
