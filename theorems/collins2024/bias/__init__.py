"""Signal, noise and transfer: proved two-sided orders of the terms of the loss.

Notation throughout: gamma_i = a_i / S, a_i = exp(-w u_i), u_i = 1 - x_i.x, S = sum a_i,
w = 2 w_KQ of the appendix, m = (d-1)/2. A[g] = E a g, A = A[1], E_w g = A[g] / A,
eps = E_w u, and the index 2 means 2w instead of w.

    constants   the constants, as formulas in d
    proof       where they come from, step by step, each step machine-checked
    terms       orders: sums of constants times powers, with proved constants
    orders      verdicts on claims about orders
    observed    the exact loss on a table of instances, held against exhibited constants
    window      what Theorem 3.5 says, in powers of Lambda
    cap         the sketch of Section 3.1: uniform average over a cap
"""
