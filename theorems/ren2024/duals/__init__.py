"""Dual models beyond Theorem 3.1: Section 4, Appendices B, D and F.

``notation`` names what the modifications add; ``sides`` writes a claim's two sides, the
prediction of its dual model and its modified attention; ``drawn`` draws layers of
fractions, ``decide`` decides claims on them, ``floats`` does so by autograd;
``transformer`` and ``stack`` are Appendix B, ``ranks`` its remark on low rank,
``spectrum`` is Lemma D.1, ``ridge`` Eq. (33) and ``regression`` Appendix F.
"""
