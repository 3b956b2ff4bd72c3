"""Lemmas H.1 to H.4: losses as functions of the weights α_i of the samples."""
