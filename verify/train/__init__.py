"""Batched training of small models: torch, numpy and the standard library only.

Every configuration × seed of a study is one tensor program whose leading axis is
the run; no loop over runs exists outside the drawing of data. Nothing is imported
here, so that ``verify.train.seeds`` stays usable without torch:

- ``seeds``: the one home of seed derivation;
- ``determinism``: generators, per-run draws, deterministic execution;
- ``attention``: softmax and kernel attention, random and exact feature maps;
- ``optimisers``: SGD, momentum, Adam and normalised gradient descent per run;
- ``loop``: the training loop and its record;
- ``tasks``, ``pretrain``: the regression prompts of ren2024 and their trainer.
"""
