from __future__ import annotations

import mpmath as mp
import numpy as np

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
