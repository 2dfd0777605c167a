"""Axes, scales and curves: what figures of all findings are drawn with."""
