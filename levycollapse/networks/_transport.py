"""The diagonal transport of a layer, piece by piece: what a network's run leaves of its windows, at each lag.

Nothing of shape (B, T, H, L) is ever made, nor (B, T, H) for all sequences at once: a few sequences are run for some
time, the kernels add what their windows say, and the memory is used again (THEORY 1; the kernels say how).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._checks import FloatArray
from .._kernels.transport import first_order_pass, product_pass
from ..errors import ParameterError
from ._layer import LayerRun, LocalTerms

IntArray = NDArray[np.int64]

#: Numbers in one (time, sequence, unit) array: 64 MB.
BUDGET = 1 << 23

#: Sequences that are run together if need be for a part of their time only: fewer make matrix products slow.
TOGETHER = 8

#: The kernels, and which of a step's local terms each needs.
NEEDS: dict[str, tuple[Callable[[LocalTerms], Tensor | None], ...]] = {
    "gates": (lambda terms: terms.carry,),
    "diagonal": (lambda terms: terms.carry + terms.correction,),
    "first-order": (lambda terms: terms.carry, lambda terms: terms.correction),
    "all": (lambda terms: terms.carry, lambda terms: terms.correction, lambda terms: terms.readout),
}


class Piece(NamedTuple):
    """Some steps of some sequences, with the history that windows ending in them reach back to.

    Attributes
    ----------
    rows : IntArray
        (b,): which row of the statistics each of them adds to; -1 for one that is over.
    terms : list of FloatArray
        (time, b, H) each: what the kernel needs. Overwritten by the next piece.
    first : int
        Steps at the beginning that are history.
    stops : IntArray
        (b,): where the valid steps end.
    """

    rows: IntArray
    terms: list[FloatArray]
    first: int
    stops: IntArray


def blocks_of(lengths: IntArray, burn_in: int, block: int | None) -> IntArray:
    """Number of rows of each sequence: 1, or the blocks that it is cut into, the last of which may be shorter."""
    return np.ones_like(lengths) if block is None else -(-(lengths - burn_in) // block)


def pieces(run: LayerRun, kernel: str, longest: int, burn_in: int = 0, block: int | None = None) -> Iterator[Piece]:
    """Run a layer and yield its local terms piece by piece; pieces of a sequence overlap by `longest` steps.

    With `block`, sequences are cut into blocks of so many steps: windows lie in one block, and each block is a row.
    """
    lengths = run.lengths.numpy()
    hidden = run.layer.hidden_size
    offsets = np.concatenate([[0], np.cumsum(blocks_of(lengths, burn_in, block))])
    whole = int(lengths.max()) - burn_in
    reach = min(whole, 2 * longest if block is None else block)
    # Whole sequences if there is room for a few; otherwise a few of them for some time.
    together = max(1, BUDGET // (hidden * whole), min(TOGETHER, BUDGET // (hidden * reach)))
    for begin in range(0, lengths.size, together):
        sequences = slice(begin, min(begin + together, lengths.size))
        valid = lengths[sequences] - burn_in
        steps = int(valid.max())
        room = BUDGET // (hidden * valid.size)
        fresh = block if block is not None else steps if steps <= room else max(room - longest, longest)
        keep = longest if block is None else 0
        for start, first, terms in _terms(run, kernel, sequences, burn_in, steps, fresh, keep):
            stops = np.clip(valid - start + first, 0, terms[0].shape[0])
            used = stops > first
            index = offsets[sequences] + (0 if block is None else start // block)
            yield Piece(np.where(used, index, -1), terms, first, np.where(used, stops, 0))


def _terms(
    run: LayerRun, kernel: str, sequences: slice, burn_in: int, steps: int, fresh: int, keep: int
) -> Iterator[tuple[int, int, list[FloatArray]]]:
    """What the kernel needs of `fresh` more steps at a time, after `keep` steps of history: start, history, terms."""
    layer = run.layer
    state = run.initial[sequences]
    previous: LocalTerms | None = None
    for p in _projected(run, sequences, 0, burn_in):
        state, previous = layer.advance(p, state, previous)
    shape = (min(keep + fresh, steps), state.shape[0], layer.hidden_size)
    arrays: list[FloatArray] = []
    history = 0
    for start in range(0, steps, fresh):
        count = min(fresh, steps - start)
        for t, p in enumerate(_projected(run, sequences, burn_in + start, count), start=history):
            state, previous = layer.advance(p, state, previous)
            values = [term for need in NEEDS[kernel] if (term := need(previous)) is not None]
            arrays = arrays or [np.empty(shape) for _ in values]
            for array, value in zip(arrays, values, strict=True):
                torch.from_numpy(array[t]).copy_(value)
        end = history + count
        terms = [array[:end] for array in arrays]
        if not all(np.isfinite(term).all() for term in terms):
            raise ParameterError(
                f"the transport of layer {layer.layer}, direction {layer.direction} is not finite: the weights or the "
                "inputs hold NaN or infinities, or numbers too large for their precision"
            )
        yield start, history, terms
        history = min(keep, end)
        for array in arrays:
            array[:history] = array[end - history : end].copy()


def _projected(run: LayerRun, sequences: slice, start: int, count: int) -> Iterator[Tensor]:
    """One step's projections after another, of `count` steps from `start`, made for a share of them at a time."""
    share = max(1, BUDGET // (8 * run.layer.hidden_size * (sequences.stop - sequences.start)))
    for begin in range(start, start + count, share):
        stop = min(begin + share, start + count)
        yield from run.layer.project(run.inputs[sequences, begin:stop]).unbind(1)


class LagSums(NamedTuple):
    """What some steps of some sequences add to the statistics of a layer.

    Attributes
    ----------
    rows : IntArray
        (b,).
    steps : IntArray
        (b,): steps counted.
    windows : IntArray
        (b, L): windows counted at each lag.
    totals : FloatArray
        (b, H): sum of log|factor| over the nonzero ones.
    zeros, negative : FloatArray
        (b, H): how many factors are 0, and below.
    log_windows : FloatArray
        (b, H, L): sum of log|window|.
    log_sums : FloatArray
        (b, H, L): logarithm of the sum of |window|.
    """

    rows: IntArray
    steps: IntArray
    windows: IntArray
    totals: FloatArray
    zeros: FloatArray
    negative: FloatArray
    log_windows: FloatArray
    log_sums: FloatArray


def lag_sums(
    run: LayerRun, kernel: str, lags: IntArray, burn_in: int = 0, block: int | None = None, with_sums: bool = True
) -> Iterator[LagSums]:
    """Statistics of the windows of a layer under a diagonal kernel, piece by piece; `lags` must increase.

    The factors that `totals`, `zeros` and `negative` speak of are the carries under "gates" and "first-order".
    """
    for piece in pieces(run, kernel, int(lags[-1]), burn_in, block):
        if (piece.rows >= 0).any():
            yield piece_sums(piece, lags, with_sums)


def piece_sums(piece: Piece, lags: IntArray, with_sums: bool = True) -> LagSums:
    """Statistics of one piece: of the product of its terms, or of their first-order expansion if there are two."""
    rows, terms, first, stops = piece
    _, b, hidden = terms[0].shape
    totals, log_windows = np.zeros((b, hidden)), np.zeros((b, hidden, lags.size))
    zeros, negative = np.zeros((b, hidden)), np.zeros((b, hidden))
    log_sums = np.full((b, hidden, lags.size), -np.inf)
    product = len(terms) == 1
    product_pass(terms[0], first, stops, lags, with_sums and product, totals, zeros, negative, log_windows, log_sums)
    if not product:
        log_windows[:] = 0.0
        first_order_pass(terms[0], terms[1], first, stops, lags, log_windows, log_sums)
    used = rows >= 0
    counted = np.maximum(stops[:, None] + 1 - np.maximum(first + 1, lags), 0)
    return LagSums(
        rows[used],
        (stops - first)[used],
        counted[used],
        totals[used],
        zeros[used],
        negative[used],
        log_windows[used],
        log_sums[used],
    )
