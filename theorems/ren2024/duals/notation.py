"""What the modified layers add to the notation of Theorem 3.1.

alpha           regulariser of Eq. (12)
beta, P         weight and choice of negative samples, Eq. (15): column i of P is
1/|N(i)| on N(i) and zero elsewhere, so that V_D P holds their means
gV_D, gV_T      g_1(W_V X_D), g_1(W_V X_T), Eq. (14)
Psi_D, Psi_T    φ(g_2(W_K X_D)), φ(g_2(W_K X_T))
psi_q           φ(g_2(q)), which Eq. (14) does not use
A_q             attention of the query on its own token
"""

from sympy import MatrixSymbol, Symbol, Trace

from theorems.ren2024.model import V_D, D, N, Phi_D, T, W, d_o, d_r, eta
from verify import Assumption

alpha = Symbol("alpha", real=True)
beta = Symbol("beta", real=True)
A_q = Symbol("A_q", positive=True)

P = MatrixSymbol("P", N, N)
gV_D, gV_T = MatrixSymbol("gV_D", d_o, N), MatrixSymbol("gV_T", d_o, T)
Psi_D, Psi_T = MatrixSymbol("Psi_D", d_r, N), MatrixSymbol("Psi_T", d_r, T)
psi_q = MatrixSymbol("psi_q", d_r, 1)

SIMILARITY = -Trace(V_D.T * W * Phi_D) / (eta * D)  # the loss of Eq. (9)
NORM = Trace(W.T * W)  # ‖W‖_F²
REGULARISED = SIMILARITY + alpha / (2 * eta) * NORM  # Eq. (12)

KERNEL = Assumption(
    "kernel", "φ(x)ᵀφ(y) = exp(xᵀy) for the keys and the query at hand (Eq. (7))"
)
ONE_PLAIN_STEP = Assumption(
    "one-plain-step", "gradient descent without momentum or weight decay"
)
PER_QUERY = Assumption("per-query", "D and W_0 are those of the query at hand")
