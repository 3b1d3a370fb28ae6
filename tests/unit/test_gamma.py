from __future__ import annotations

import mpmath as mp
import numpy as np
from numba import njit

from levycollapse._kernels.elementary import exp_and_expm1
from levycollapse._kernels.gamma import gamma_elementwise


def test_against_mpmath():
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.uniform(0, 2, 3000), 10 ** rng.uniform(-300, 0, 500), [0.5, 1.0, np.nextafter(2, 0)]])
    with mp.workdps(40):
        errors = [
            abs(mp.mpf(g) / mp.gamma(mp.mpf(x)) - 1)
            for g, x in zip(gamma_elementwise(z).tolist(), z.tolist(), strict=True)
        ]
    assert max(errors) < 4e-16


def test_exponential_pair():
    rng = np.random.default_rng(1)
    points = np.concatenate(
        [rng.uniform(-2, 2, 2000), rng.uniform(-690, 690, 1000), 10 ** rng.uniform(-20, 0, 500), [0.0]]
    )
    pair = njit(lambda t: exp_and_expm1(t))
    with mp.workdps(40):
        for t in points.tolist():
            power, less_one = pair(t)
            assert abs(mp.mpf(power) - mp.exp(t)) <= 4e-16 * mp.exp(t)
            assert abs(mp.mpf(less_one) - mp.expm1(t)) <= 4.5e-16 * abs(mp.expm1(t))
