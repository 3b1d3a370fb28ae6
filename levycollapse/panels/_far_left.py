"""Moves of the far-left units, selected by what is independent of the errors of the moves."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import FloatArray

#: Share of the units that are far left.
SHARE = 0.1


class Moves(NamedTuple):
    """Sums over the selected units of each transition, (seed, transition); the first transition starts at time 1.

    Attributes
    ----------
    move : ndarray
        Sum of the moves per unit time, less those of all units.
    number : ndarray
        How many were summed.
    lost : ndarray
        How many were selected but have no move.
    with_move, with_place : ndarray
        Sums of products of the deviation of the place selected by with that of the move, and of the place now.
    """

    move: FloatArray
    number: FloatArray
    lost: FloatArray
    with_move: FloatArray
    with_place: FloatArray


def far_left_moves(zeta: FloatArray, times: FloatArray) -> Moves:
    """Moves of zeta (seed, unit, time, replicate); each replicate selects in turn and the others measure.

    A single replicate does both, the selection one checkpoint before the move.
    """
    replicates = zeta.shape[3]
    parts = []
    for r in range(replicates):
        others = np.delete(zeta, r, axis=3).mean(axis=3) if replicates > 1 else zeta[..., 0]
        parts.append(_selected_moves(zeta[:, :, :, r], others, np.diff(times)))
    return Moves(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))


def _selected_moves(selecting: FloatArray, measuring: FloatArray, spacing: FloatArray) -> Moves:
    # Units last: everything below runs along them.
    selecting, measuring = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in (selecting, measuring))
    before, place = selecting[:, :-2], measuring[:, 1:-1]
    move = (measuring[:, 2:] - place) / spacing[1:, None]
    known = np.isfinite(move)
    # Missing values are sorted last and never selected; of equal ones at the cut all are.
    wanted = np.round(SHARE * np.isfinite(before).sum(axis=2, keepdims=True)).astype(int)
    cut = np.take_along_axis(np.sort(before, axis=2), wanted - 1, axis=2)
    selected = before <= cut
    used = selected & known
    own = np.where(known, move - _mean(move, known, 2), 0.0)
    from_left = np.where(used, before - _mean(before, used, 2), 0.0)
    return Moves(
        np.sum(own * used, axis=2),
        used.sum(axis=2).astype(float),
        (selected & ~known).sum(axis=2).astype(float),
        np.sum(from_left * own, axis=2),
        np.sum(from_left * np.where(used, place, 0.0), axis=2),
    )


def _mean(x: FloatArray, used: NDArray[np.bool_], axis: int) -> FloatArray:
    """Mean over the units, with the axis kept; 0 where there are none."""
    total = np.sum(x, axis=axis, keepdims=True, where=used)
    mean: FloatArray = total / np.maximum(np.sum(used, axis=axis, keepdims=True), 1)
    return mean


def halves(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both halves of the transitions (last axis) without the one between, or two: they share a checkpoint with each."""
    half = (x.shape[-1] - 1) // 2
    return x[..., :half], x[..., x.shape[-1] - half :]


def block_sums(moves: Moves) -> Moves:
    """Sums over the halves of time of each seed, (block,)."""
    return Moves(*(np.concatenate([part.sum(axis=-1) for part in halves(column)]) for column in moves))


def drift_curve(zeta: FloatArray, times: FloatArray, bins: int) -> tuple[FloatArray, FloatArray]:
    """Mean zeta and mean move per unit time, less that of all units, in bins of the place one checkpoint before."""
    places, moves = [], []
    replicates = zeta.shape[3]
    for r in range(replicates):
        others = np.delete(zeta, r, axis=3).mean(axis=3) if replicates > 1 else zeta[..., 0]
        move = (others[:, :, 2:] - others[:, :, 1:-1]) / np.diff(times)[1:]
        known = np.isfinite(move)
        places.append(zeta[:, :, :-2, r].ravel())
        moves.append(np.where(known, move - _mean(move, known, 1), np.nan).ravel())
    place, move = np.concatenate(places), np.concatenate(moves)
    both = np.isfinite(place) & np.isfinite(move)
    order = np.argsort(place[both])
    parts = [p for p in np.array_split(order, bins) if p.size]
    x = np.array([place[both][p].mean() for p in parts])
    return x, np.array([move[both][p].mean() for p in parts])


def residual_moves(zeta: FloatArray, times: FloatArray, curve: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Moves of each unit (seed, unit, transition) less those of all units and of the drift where it was before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mean = zeta.mean(axis=3)
    move = np.diff(mean, axis=2)[:, :, 1:]
    known = np.isfinite(move)
    drift = np.interp(mean[:, :, :-2], *curve) * np.diff(times)[1:]
    residual: FloatArray = np.where(known, move - _mean(move, known, 1), np.nan) - drift
    return residual
