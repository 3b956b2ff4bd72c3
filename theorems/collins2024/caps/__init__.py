"""Spherical caps, discrete gamma sums and rearrangements: appendices G and I.

balls       claimed expressions in ball arithmetic
bounds      one claimed inequality at one exact instance, judged and recorded
steps       steps of written proofs, each decided by computer algebra
"""
