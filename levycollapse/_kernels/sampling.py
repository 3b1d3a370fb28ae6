"""Draws of stable and tempered stable variables from a NumPy Generator."""

from __future__ import annotations

import math

from ._jit import scalar


@scalar
def log_positive_stable(rng, a):
    """Logarithm of a positive a-stable variable with Laplace transform exp(-s**a), 0 < a < 1.

    M. Kanter, Ann. Probab. 3 (1975) 697. As a logarithm, because for small a its powers 1/a overflow.
    """
    angle = math.pi * rng.random()
    while angle == 0.0:
        angle = math.pi * rng.random()
    b = 1.0 - a
    rise = math.log(math.sin(a * angle)) - math.log(math.sin(angle)) / a
    return rise + (b / a) * (math.log(math.sin(b * angle)) - math.log(rng.standard_exponential()))


@scalar
def tempered_pieces(rng, a, lam, log_scale, pieces):
    """Sum of `pieces` positive tempered stable variables and the number of trials that it took.

    Each piece is a stable variable of scale exp(log_scale), accepted with probability exp(-lam x).
    """
    total = 0.0
    trials = 0
    for _ in range(pieces):
        while True:
            trials += 1
            x = math.exp(log_scale + log_positive_stable(rng, a))
            if lam * x <= rng.standard_exponential():
                break
        total += x
    return total, trials


@scalar
def fill_rejection(rng, a, lam, log_scale, pieces, sd, out):
    """Symmetric draws: the difference of two one-sided ones, plus a Gaussian. Returns the mean number of trials."""
    trials = 0
    for i in range(out.size):
        up, n = tempered_pieces(rng, a, lam, log_scale, pieces)
        down, m = tempered_pieces(rng, a, lam, log_scale, pieces)
        out[i] = up - down
        if sd > 0.0:
            out[i] += sd * rng.standard_normal()
        trials += n + m
    return trials / max(out.size, 1)


@scalar
def fill_small_jumps(rng, a, lam, cutoff, rate, sd, out):
    """Gaussian of standard deviation `sd` plus the sum of all jumps above `cutoff`.

    `rate` is the mean number of jumps above the cutoff before tempering; they are Pareto, and each is kept with
    probability exp(-lam z). Jumps of one step are added, whatever their number.
    """
    for i in range(out.size):
        x = sd * rng.standard_normal()
        for _ in range(rng.poisson(rate)):
            z = cutoff * math.exp(rng.standard_exponential() / a)
            if lam * z <= rng.standard_exponential():
                x += z if rng.random() < 0.5 else -z
        out[i] = x


@scalar
def fill_stable(rng, a, scale, sd, out):
    """Symmetric stable draws, exp(-|scale k|**a), plus a Gaussian; J. M. Chambers et al., JASA 71 (1976) 340."""
    for i in range(out.size):
        uniform = rng.random()
        while uniform == 0.0:
            uniform = rng.random()
        wait = rng.standard_exponential()
        angle = math.pi * (uniform - 0.5)
        # cos(angle), with all digits at both ends, which make the tail.
        cosine = math.sin(math.pi * min(uniform, 1.0 - uniform))
        x = math.sin(a * angle)
        if x != 0.0:
            power = ((1.0 - a) * math.log(math.cos((1.0 - a) * angle) / wait) - math.log(cosine)) / a
            x *= scale * math.exp(power)
        if sd > 0.0:
            x += sd * rng.standard_normal()
        out[i] = x
