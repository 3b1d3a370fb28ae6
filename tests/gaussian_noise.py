"""A model whose increments are Gaussian, by a table from SciPy: what tests of paths need, without the law."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.special import ndtri

import levycollapse as lc
from levycollapse._laws.increment.table import table_from_quantile


@cache
def gaussian_table(scale):
    return table_from_quantile(lambda v: -scale * ndtri(0.5 * v))


class GaussianNoise(lc.CollapseModel):
    def increment(self, dt):
        return SimpleNamespace(table=gaussian_table(float(np.sqrt(2.0 * self.eta_G * dt))))


def gaussian_model(drift=None, eta_G=0.5):
    return GaussianNoise(drift or lc.SaturatingDrift(kappa=1.0), eta_G, lc.TemperedStable(1.5, 3.0, 0.0))
