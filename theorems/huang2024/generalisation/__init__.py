"""What the trained attention does with tokens that a query has never been seen with.

setting         on which data and by which training a statement is made
growth          proof: scores keep their sign and grow linearly, whatever T is
exact           small cases that are computed or bounded exactly
observed        many trained models, their scores, and what they answer to new inputs
answers         outputs of the trained model on sentences outside the training data
grammar         Example 2 for all T, t >= 1
experiment      the experiment of Figure 2 on many random datasets
"""
