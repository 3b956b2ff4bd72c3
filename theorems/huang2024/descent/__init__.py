"""Stage 2 on its way to the solution: what the claims of Lemmas 5 to 7 share.

notation    symbols, assumptions, the data that a claim is about
cases       small datasets that decide a claim, each made for one purpose
exact       the first steps of Algorithm 1 as exact formulas
proofs      the steps of the proofs, each machine-checked
decide      proved from the steps, or refuted at an exact instance
observed    many paths in floating point, and a search among them
"""
