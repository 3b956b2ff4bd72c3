"""How fast stage 2 converges: notation, proofs, families of data, observed runs.

``notation`` names what the claims are written in; ``proof`` derives the bounds that
hold, step by machine-checked step; ``families`` has data on which stage 2 is solved or
enclosed by hand, which refute what is false; ``decide`` and ``laws`` bring
both to verdicts; ``observed`` runs Algorithm 1, ``decay`` for long.
"""
