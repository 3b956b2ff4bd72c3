"""Attention layers as instances of the theorems: exact, in floating point, trained.

``exact`` draws layers of fractions for Hypothesis; ``floating`` draws batches and
bounds their rounding errors; ``trained`` pre-trains layers and trains their dual models
by autograd; ``real`` reads the heads of a published checkpoint. The last three need
torch and are imported by the evidence that uses them.
"""
