"""The declared SymPy symbols, with the names and ranges of THEORY.

`lam` is lambda. SymPy cannot declare 0 < alpha < 2, so `alpha` is only positive. `s` is real because the symbol is
taken on its strip of convergence; the imaginary axis is entered by substituting I*k.
"""

from __future__ import annotations

import sympy as sp

#: Far-left plateau of the drift.
kappa = sp.Symbol("kappa", positive=True)
#: Gaussian noise intensity.
eta_G = sp.Symbol("eta_G", nonnegative=True)
#: Jump intensity.
eta_J = sp.Symbol("eta_J", nonnegative=True)
#: Threshold intensity, the left side of an equation; `jump_threshold` is its value.
eta_J_star = sp.Symbol("eta_J^*", nonnegative=True)
#: Stability index, between 0 and 2.
alpha = sp.Symbol("alpha", positive=True)
#: Tempering.
lam = sp.Symbol("lambda", positive=True)
#: Spectral exponent.
beta = sp.Symbol("beta", positive=True)
#: Argument of the jump symbol.
s = sp.Symbol("s", real=True)
#: Wave number.
k = sp.Symbol("k", positive=True)
#: State, the log of a decay rate.
zeta = sp.Symbol("zeta", real=True)
#: Size of a jump.
z = sp.Symbol("z", positive=True)
#: Training time.
t = sp.Symbol("t", positive=True)
#: Drift as an unspecified function of zeta.
drift = sp.Function("F", real=True)(zeta)

#: Distance from threshold in the characteristic function, Phi(lambda).
Delta = sp.Symbol("Delta", positive=True)
#: lambda - beta.
d = sp.Symbol("d", positive=True)
#: Leading order of d.
d_0 = sp.Symbol("d_0", positive=True)
#: Leading order of beta far below lambda.
b_0 = sp.Symbol("b_0", positive=True)
#: The second small quantity near threshold, for alpha != 1.
u = sp.Symbol("u", real=True)
#: log(B/d_0) of the Lambert form at alpha = 1.
L = sp.Symbol("L", positive=True)
#: Scale inside the logarithm of the Lambert form.
B = sp.Symbol("B", positive=True)
#: Coefficient of d in Phi(lambda - d), with its sign changed.
P = sp.Symbol("P", real=True)
#: Half of the variance per unit time, of both noises where they act together.
D = sp.Symbol("D", positive=True)

#: N(s) = s E[(kappa - F) exp(-s zeta)], at the rate of the tail: a number that depends on the whole drift.
N = sp.Symbol("N", positive=True)
#: M(lambda) = E[tau**lambda].
M = sp.Symbol("M", positive=True)
#: Constant of the tail of p(tau).
C = sp.Symbol("C", positive=True)
#: Lag, in network steps.
lag = sp.Symbol("lag", positive=True)

#: Tail index of the noise through which a lag is seen; not the stability index of the jumps.
alpha_noise = sp.Symbol("a", positive=True)
#: Number of samples.
n = sp.Symbol("n", positive=True)
#: Envelope that a single sample detects: quantile times scale over signal.
epsilon = sp.Symbol("epsilon", positive=True)
#: Amplitude of an envelope.
amplitude = sp.Symbol("A", positive=True)
#: Rate of an exponential envelope.
rho = sp.Symbol("rho", positive=True)
#: Power of the logarithm in a logarithmic envelope.
gamma = sp.Symbol("gamma", positive=True)
#: Cutoff of a tempered envelope, and its sharpness.
cutoff = sp.Symbol("l_c", positive=True)
shape = sp.Symbol("p", positive=True)

#: Arguments of a numeric function, in the order of the package's numerical functions.
ARGUMENT_ORDER = (
    *(beta, s, k, zeta, z, t, Delta, kappa, eta_G, eta_J, alpha, lam, D, lag, C, N, M),
    *(n, alpha_noise, epsilon, amplitude, rho, gamma, cutoff, shape),
)


def q(n: int) -> sp.Symbol:
    """Symbol of the coefficient of d**n in Phi(lambda - d)."""
    return sp.Symbol(f"q_{n}", positive=True)


def r(n: int) -> sp.Symbol:
    """Symbol of the 2n-th cumulant over (2n)! D."""
    return sp.Symbol(f"r_{n}", positive=True)
