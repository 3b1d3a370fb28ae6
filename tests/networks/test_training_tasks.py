from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from levycollapse import ParameterError  # noqa: E402
from levycollapse.training import (  # noqa: E402
    DelayedRegression,
    Task,
    geometric_coefficients,
    geometric_steps,
    linear_steps,
    truncated_pareto_lags,
)

#: The realised lag sets of the paper's two profiles, from its published code.
FULL = (8, 9, 10, 11, 12, 15, 23, 24, 26, 32, 45, 60, 115, 183, 224, 626)
SMOKE = (9, 10, 13, 18, 23, 30, 37, 62, 90, 106)


def test_published_lag_sets():
    assert truncated_pareto_lags(16, 0.6, 8, 640) == FULL
    assert truncated_pareto_lags(10, 0.8, 8, 256) == SMOKE


def test_published_coefficients_and_shares():
    task = DelayedRegression.truncated_pareto()
    assert task.lags == FULL
    assert task.coefficients == pytest.approx([0.6 * 0.85**k for k in range(16)], rel=1e-14)
    assert task.signal_variance == pytest.approx(1.2901, abs=5e-5)
    # F25 of the audit of the published code.
    assert task.signal_share[:6].sum() == pytest.approx(0.863, abs=5e-4)
    assert task.signal_share[12:].sum() == pytest.approx(0.015, abs=5e-4)
    assert task.signal_share[-1] == pytest.approx(0.002, abs=5e-4)


def test_lags_follow_the_law():
    """One lag at a time is a rounded draw: its distribution function is that of the truncated Pareto law."""
    rng = np.random.default_rng(1)
    lags = np.array([truncated_pareto_lags(1, 0.7, 8, 640, rng)[0] for _ in range(4000)])
    for lag in (9, 20, 100, 400):
        exact = (8**-0.7 - (lag + 0.5) ** -0.7) / (8**-0.7 - 640**-0.7)
        assert np.mean(lags <= lag) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / lags.size))


def test_trends_share_their_signal_variance():
    falling, flat, rising = (geometric_coefficients(7, trend) for trend in ("falling", "flat", "rising"))
    assert falling == rising[::-1] and np.ptp(flat) == 0 and rising[-1] == 0.6
    for other in (flat, rising):
        assert np.square(other).sum() == pytest.approx(np.square(falling).sum(), rel=1e-14)
    share = DelayedRegression.truncated_pareto(trend="rising").signal_share
    assert share[12:].sum() > 0.6


def test_batch_against_brute_force():
    task = DelayedRegression(3, (0, 2, 5), (0.5, -1.0, 2.0), noise=0.0, direction_seed=4)
    x, y = task.batch(4, 9, np.random.default_rng(0))
    assert x.dtype == y.dtype == torch.float32
    u = task.direction
    assert np.linalg.norm(u) == pytest.approx(1, abs=1e-15)
    for b in range(4):
        for t in range(9):
            terms = [c * u @ x[b, t - lag].double().numpy() for lag, c in ((0, 0.5), (2, -1.0), (5, 2.0)) if t >= lag]
            assert y[b, t, 0].item() == pytest.approx(sum(terms), abs=2e-6)


def test_noise_signal_shares_and_best_loss_in_samples():
    task = DelayedRegression(4, (1, 6), (0.6, 1.2), noise=0.4)
    x, y = task.batch(3000, 24, np.random.default_rng(5))
    seen = (x.double().numpy() @ task.direction).astype(float)
    parts = []
    for lag, c in zip(task.lags, task.coefficients, strict=True):
        part = np.zeros_like(seen)
        part[:, lag:] = c * seen[:, :-lag]
        parts.append(part)
    residual = y[..., 0].double().numpy() - sum(parts)
    error = 4 * np.sqrt(2 / residual.size)
    assert np.mean(residual**2) == pytest.approx(task.best_loss, rel=error)
    power = np.array([np.mean(part**2) for part in parts])
    assert power / power.sum() == pytest.approx(task.signal_share_within(24), rel=0.02)
    late = np.mean(sum(parts)[:, 6:] ** 2)
    assert late == pytest.approx(task.signal_variance, rel=0.03)


def test_batches_come_from_the_generator_alone():
    task = DelayedRegression(3, (1,), (1.0,))
    state = torch.get_rng_state()
    first = task.batch(2, 5, np.random.default_rng(3))
    again = task.batch(2, 5, np.random.default_rng(3))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert torch.equal(state, torch.get_rng_state())
    assert isinstance(task, Task) and eval(repr(task)) == task


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: DelayedRegression(3, (2, 2), (1.0, 1.0)), r"lags\[1\]=2"),
        (lambda: DelayedRegression(3, (1, 2), (1.0,)), "lags has 2 and coefficients 1"),
        (lambda: DelayedRegression(3, (), ()), "at least one"),
        (lambda: DelayedRegression(0, (1,), (1.0,)), "input_size=0"),
        (lambda: DelayedRegression(3, (1,), (1.0,), noise=-1.0), "noise=-1"),
        (lambda: DelayedRegression(3, (1, 8), (1.0, 1.0)).batch(2, 8, 0), "length=8 must be larger than the largest"),
        (lambda: DelayedRegression(3, (1,), (1.0,)).batch(2, 8, "x"), "rng='x'"),
        (lambda: truncated_pareto_lags(5, 0.6, 8, 10), "count=5"),
        (lambda: truncated_pareto_lags(20, 30.0, 8, 60), "rounds of draws found only"),
        (lambda: truncated_pareto_lags(2, 0.0, 8, 10), "exponent=0"),
        (lambda: geometric_coefficients(3, "up"), "trend='up'"),
        (lambda: geometric_coefficients(3, ratio=1.5), "ratio=1.5"),
        (lambda: geometric_steps(10, 0), "count=0"),
        (lambda: linear_steps(0, 3), "last=0"),
        (lambda: geometric_steps(10, 3, first=11), "first=11"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ParameterError, match=name):
        call()


def test_schedules():
    assert linear_steps(7, 3) == (2, 5, 7)
    assert geometric_steps(64, 7) == (1, 2, 4, 8, 16, 32, 64)
    assert geometric_steps(3, 9) == (1, 2, 3)
    assert geometric_steps(5, 1) == (5,)
