"""The gate that every change passes: all stages run, and the closing lines name everything.

`python -m gate check | test | proofs | hunt`; the verbs of the Makefile call it. Nothing of it is
part of the product.
"""
