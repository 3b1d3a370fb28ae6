"""Regression on inputs of long ago."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from ..._checks import FINITE, NON_NEGATIVE, POSITIVE, FloatArray, checked, choice, generator
from ...errors import ParameterError
from .._options import increasing, number, whole

#: Seed of the published lag sets.
PUBLISHED_LAG_SEED = 20260410


def truncated_pareto_lags(
    count: int, exponent: float, low: int, high: int, rng: Any = PUBLISHED_LAG_SEED
) -> tuple[int, ...]:
    """Distinct lags from a Pareto law between two bounds.

    Rounded draws of the density proportional to l^(-1-exponent) on [low, high] are collected until there are `count`
    different ones.

    Parameters
    ----------
    count : int
        How many, K.
    exponent : float
        Tail exponent of the law, > 0.
    low, high : int
        Smallest and largest lag.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        As numpy.random.default_rng takes it; by default the seed of the published lag sets.

    Returns
    -------
    tuple of int
        Increasing.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or the range holds fewer than `count` lags that can be found in
        50 `count` rounds of draws.

    References
    ----------
    arXiv:2606.29519, whose two lag sets these are under the same seed.

    Examples
    --------
    >>> from levycollapse.training import truncated_pareto_lags
    >>> truncated_pareto_lags(10, 0.8, 8, 256)
    (9, 10, 13, 18, 23, 30, 37, 62, 90, 106)
    """
    count, low = whole("count", count, 1), whole("low", low, 1)
    high, tail = whole("high", high, low), number("exponent", exponent, POSITIVE)
    if count > high - low + 1:
        raise ParameterError(f"count={count}, but there are only {high - low + 1} lags from low={low} to high={high}")
    random = generator(rng)
    least, most = float(low) ** -tail, float(high) ** -tail
    found: set[int] = set()
    for _ in range(50 * count):
        draws = (least - random.random(count - len(found)) * (least - most)) ** (-1 / tail)
        found.update(min(max(round(float(draw)), low), high) for draw in draws)
        if len(found) == count:
            return tuple(sorted(found))
    raise ParameterError(
        f"count={count}: {50 * count} rounds of draws found only {len(found)} different lags from low={low} to "
        f"high={high} with exponent={tail}; lower count or exponent"
    )


def geometric_coefficients(
    count: int, trend: str = "falling", *, largest: float = 0.6, ratio: float = 0.85
) -> tuple[float, ...]:
    """Coefficients for lags in increasing order.

    Parameters
    ----------
    count : int
        How many, K.
    trend : {"falling", "flat", "rising"}
        ``"falling"`` gives largest * ratio^k, the published form, in which short lags carry the signal; ``"rising"``
        gives the same in reverse order, so that long lags carry it; ``"flat"`` gives all the same.
    largest : float
        The largest coefficient of the first two, > 0.
    ratio : float
        Ratio of successive ones, in (0, 1].

    Returns
    -------
    tuple of float
        Their sum of squares, which is the variance of the signal, does not depend on `trend`.

    Raises
    ------
    ParameterError
        If an argument is outside its range.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> from levycollapse.training import geometric_coefficients
    >>> [round(c, 4) for c in geometric_coefficients(3, "rising")]
    [0.4335, 0.51, 0.6]
    """
    count = whole("count", count, 1)
    choice("trend", trend, ("falling", "flat", "rising"))
    size, step = number("largest", largest, POSITIVE), number("ratio", ratio, POSITIVE)
    if step > 1:
        raise ParameterError(f"ratio={ratio!r} must be a number in (0, 1]")
    falling = [size * step**k for k in range(count)]
    if trend == "flat":
        return (float(np.sqrt(np.mean(np.square(falling)))),) * count
    return tuple(falling if trend == "falling" else falling[::-1])


@dataclass(frozen=True)
class DelayedRegression:
    r"""The target is a weighted sum of one direction of the input at several lags, with noise.

    y_t = sum_k c_k u . x\ :sub:`t-l_k` + noise, x and the noise independent and normal, \|u\| = 1. Terms from before
    the first step are absent, so that the best predictor can reach the variance of the noise at every step.

    Parameters
    ----------
    input_size : int
        D.
    lags : sequence of int
        l_k, increasing; 0 is the present.
    coefficients : sequence of float
        c_k, one for each lag.
    noise : float
        Standard deviation of the noise.
    direction_seed : int
        Draws u, which belongs to the task: it is the same in all batches.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or the numbers of lags and coefficients differ.

    References
    ----------
    arXiv:2606.29519. There the largest coefficients stand at the shortest lags: of the published lag set, lags up to 15
    carry 86% of the variance of the signal. `geometric_coefficients` has the other orders.

    Examples
    --------
    >>> import numpy as np
    >>> from levycollapse.training import DelayedRegression
    >>> task = DelayedRegression(input_size=4, lags=(1, 8), coefficients=(0.5, 1.0), noise=0.1)
    >>> x, y = task.batch(2, 20, np.random.default_rng(0))
    >>> tuple(x.shape), tuple(y.shape), [round(share, 6) for share in task.signal_share.tolist()]
    ((2, 20, 4), (2, 20, 1), [0.2, 0.8])
    """

    input_size: int
    lags: tuple[int, ...]
    coefficients: tuple[float, ...]
    noise: float = 0.3
    direction_seed: int = 0

    def __post_init__(self) -> None:
        values: dict[str, Any] = {
            "input_size": whole("input_size", self.input_size, 1),
            "lags": increasing("lags", self.lags, 0),
            "coefficients": tuple(np.atleast_1d(checked("coefficients", self.coefficients, FINITE)).tolist()),
            "noise": number("noise", self.noise, NON_NEGATIVE),
            "direction_seed": whole("direction_seed", self.direction_seed, 0),
        }
        if len(values["lags"]) != len(values["coefficients"]) or not values["lags"]:
            raise ParameterError(
                f"lags has {len(values['lags'])} and coefficients {len(values['coefficients'])} entries; "
                "both must have the same number, at least one"
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def truncated_pareto(
        cls,
        input_size: int = 16,
        *,
        count: int = 16,
        exponent: float = 0.6,
        low: int = 8,
        high: int = 640,
        trend: str = "falling",
        noise: float = 0.3,
        lag_seed: int = PUBLISHED_LAG_SEED,
        direction_seed: int = 0,
    ) -> DelayedRegression:
        """Task with lags from a Pareto law between two bounds; by default the published one.

        Parameters
        ----------
        input_size : int
            D.
        count : int
            Lags, as in `truncated_pareto_lags`.
        exponent : float
            Their tail exponent.
        low, high : int
            Smallest and largest lag.
        trend : {"falling", "flat", "rising"}
            Of `geometric_coefficients`.
        noise : float
            Standard deviation of the noise.
        lag_seed : int
            Draws the lags.
        direction_seed : int
            Draws the direction.

        Returns
        -------
        DelayedRegression
            The task.

        Raises
        ------
        ParameterError
            If a parameter is outside its range.

        References
        ----------
        arXiv:2606.29519.

        Examples
        --------
        >>> from levycollapse.training import DelayedRegression
        >>> task = DelayedRegression.truncated_pareto()
        >>> task.lags[-1], round(task.signal_variance, 4)
        (626, 1.2901)
        """
        lags = truncated_pareto_lags(count, exponent, low, high, lag_seed)
        return cls(input_size, lags, geometric_coefficients(count, trend), noise, direction_seed)

    @property
    def output_size(self) -> int:
        """Width of the target.

        Returns
        -------
        int
            1.
        """
        return 1

    @property
    def best_loss(self) -> float:
        """Mean squared error of the best predictor.

        Returns
        -------
        float
            The variance of the noise.
        """
        return self.noise**2

    @property
    def direction(self) -> FloatArray:
        """The direction u that is looked at.

        Returns
        -------
        ndarray
            (D,), of length 1.
        """
        u = np.random.default_rng(self.direction_seed).standard_normal(self.input_size)
        return np.asarray(u / np.linalg.norm(u))

    @property
    def signal_variance(self) -> float:
        """Variance of the target without noise, at steps beyond the largest lag.

        Returns
        -------
        float
            Sum of the squared coefficients.
        """
        return float(np.square(self.coefficients).sum())

    @property
    def signal_share(self) -> FloatArray:
        """Share of each lag in `signal_variance`.

        Returns
        -------
        ndarray
            One for each lag; they add up to 1. In a sequence of T steps a lag is at work in T - l_k of them:
            see `signal_share_within`.
        """
        squares = np.square(self.coefficients)
        return np.asarray(squares / squares.sum())

    def signal_share_within(self, length: int) -> FloatArray:
        """Share of each lag in the variance of the signal over a whole sequence.

        Parameters
        ----------
        length : int
            Steps T of a sequence.

        Returns
        -------
        ndarray
            One for each lag; they add up to 1.
        """
        present = np.square(self.coefficients) * (self._checked_length(length) - np.array(self.lags))
        return np.asarray(present / present.sum())

    def batch(self, n: int, length: int, rng: Any = None) -> tuple[Tensor, Tensor]:
        """Independent sequences.

        Parameters
        ----------
        n : int
            How many, B.
        length : int
            Steps T of each, more than the largest lag.
        rng : None, int, SeedSequence, BitGenerator or Generator, optional
            As numpy.random.default_rng takes it.

        Returns
        -------
        x : Tensor
            Inputs (B, T, D), float32.
        y : Tensor
            Targets (B, T, 1), float32.

        Raises
        ------
        ParameterError
            If `n` or `length` is outside its range.
        """
        steps, random = self._checked_length(length), generator(rng)
        x = random.standard_normal((whole("n", n, 1), steps, self.input_size), dtype=np.float32)
        seen = x @ self.direction.astype(np.float32)
        y = np.float32(self.noise) * random.standard_normal(seen.shape, dtype=np.float32)
        for lag, coefficient in zip(self.lags, self.coefficients, strict=True):
            y[:, lag:] += np.float32(coefficient) * seen[:, : steps - lag]
        return torch.from_numpy(x), torch.from_numpy(y).unsqueeze(-1)

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Mean squared error over all sequences and steps.

        Parameters
        ----------
        prediction : Tensor
            (B, T, 1).
        target : Tensor
            (B, T, 1).

        Returns
        -------
        Tensor
            A single number.
        """
        return mse_loss(prediction, target)

    def _checked_length(self, length: Any) -> int:
        steps = whole("length", length, 1)
        if steps <= self.lags[-1]:
            raise ParameterError(f"length={steps} must be larger than the largest lag, {self.lags[-1]}")
        return steps
