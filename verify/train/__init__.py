"""Batched training of small models: torch, numpy and the standard library only.

Every configuration × seed of a study is one tensor program whose leading axis is
the run; no loop over runs exists outside the drawing of data. Nothing is imported
here, so that ``verify.train.seeds`` stays usable without torch:

- ``seeds``: the one home of seed derivation;
- ``random``: counter-based draws on a device, equal whatever the batch split;
- ``determinism``: generators, per-run draws, deterministic execution;
- ``layout``: contractions with runs last in memory;
- ``attention``: softmax and kernel attention, random and exact feature maps;
- ``transformer``: one-layer transformers, losses and closed-form gradients;
- ``optimisers``: SGD, momentum, Adam and normalised gradient descent per run;
- ``observables``: norms, angles and correlations of parameters;
- ``loop``: the training loop and its record;
- ``icl``, ``window``: in-context regression, and the attention unit trained on it;
- ``tasks``, ``pretrain``: the regression prompts of ren2024 and their trainer.
"""
