"""What parts may expect of each other, by who is asked. Only `catalog.py` lists implementations.

A database says what runs, a platform how, and a host where. A generator makes load; a sampler reads
counters. The parts do not know each other; the runner connects them.
"""
