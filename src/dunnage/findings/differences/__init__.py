"""Deployments against their baseline: estimates, twins, verdicts and the answer."""
