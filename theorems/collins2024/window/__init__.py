"""Training of the attention window: the recipe of Figures 3 and 4."""
