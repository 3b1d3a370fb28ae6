r"""Many paths through many steps: the loop that everything else waits for.

Paths are taken in blocks that stay in the first-level cache; in a block each step is four passes over the paths,

    random stream | drift map | row and place in the table | cubic of the table, added

kept apart because each then vectorises and one fused loop does not. A block's arrays have a length that is a multiple
of LANES: the last path of a short block is repeated. The non-finite check is an integer pass of its
own every CHECK_EVERY steps: inside the drift map it cost more than the map (measured), here under 0.1 ns.
"""

from __future__ import annotations

import numpy as np

from ._jit import inlined, scalar, uncached
from .bits import float_bits
from .drift_maps import apply_any_map
from .lanes import LANES, add_signed_cubics
from .streams import padded, prepare_paths, round_keys, stream_pass
from .tables import index_pass

#: Paths in a block: nine work arrays of 4 KB each.
BLOCK = 512
#: Steps between two checks for non-finite states.
CHECK_EVERY = 16

EXPONENT = np.uint64(0x7FF0000000000000)


@inlined
def add_pass(z, bits, coefficients, rows, places):
    for i in range(0, z.size, LANES):
        add_signed_cubics(z, bits, coefficients, rows, places, np.uint64(i))


@inlined
def count_nonfinite(z):
    """Number of entries whose exponent is all ones: infinities and nan."""
    count = 0
    for i in range(z.size):
        count += (float_bits(z[i]) & EXPONENT) == EXPONENT
    return count


def _advance(z, paths, key, first, count, table, maps, custom, record_steps, records, column):
    """Take the paths through steps first .. first + count - 1, in place.

    Parameters
    ----------
    z : (n,) float64
        States that the scheme carries.
    paths : (n,) uint64
        Indices of the paths, which choose their random streams.
    key : uint64
        Key of the streams.
    first, count : int
        First step and number of steps.
    table : tuple
        (coefficients, cells_log2) of the increment law.
    maps : tuple
        (kind, constants, cells, then those of step 0, then those of the read-out).
    custom : None or function (z, p)
        Compiled map, where the drift is not a built-in one.
    record_steps : (m,) int64
        Increasing numbers of steps, in (first, first + count], after which the states are read out.
    records : (m, k) float64
        The read-out goes to records[:, column:column + n].
    column : int

    Returns
    -------
    position, step, state
        Position in `z` of a path that became non-finite, and where it was at an earlier step; position -1 if none.
    """
    coefficients, cells_log2 = table
    kind, constants, cells, first_kind, first_constants, first_cells, read_kind, read_constants, read_cells = maps
    keys = round_keys(key)
    blocks = np.empty((5, BLOCK), np.uint64)
    states = np.empty((4, BLOCK))
    for start in range(0, z.size, BLOCK):
        stop = min(start + BLOCK, z.size)
        size = stop - start
        full = padded(size)
        even, odd, products = blocks[0, :full], blocks[1, :full], blocks[2, :full]
        words, rows = blocks[3, :full], blocks[4, :full]
        block, places, kept, seen = states[0, :full], states[1, :full], states[2, :full], states[3, :full]
        prepare_paths(paths[start:stop], key, products, words)
        block[:size] = z[start:stop]
        block[size:] = z[stop - 1]
        kept[:] = block
        kept_step = first
        record = 0
        for step in range(first, first + count):
            if step & 1 == 0 or step == first:
                stream_pass(even, odd, products, words, np.uint64(step >> 1), key, keys)
            bits = odd if step & 1 else even
            # The map first: it uses `rows` and `places` as its work arrays.
            if step == 0:
                apply_any_map(first_kind, block, first_constants, first_cells, rows, places, custom)
            else:
                apply_any_map(kind, block, constants, cells, rows, places, custom)
            index_pass(bits, cells_log2, rows, places)
            add_pass(block, bits, coefficients, rows, places)
            if (step + 1) % CHECK_EVERY == 0 or step + 1 == first + count:
                if count_nonfinite(block) > 0:
                    z[start:stop] = block[:size]
                    for i in range(size):
                        if not np.isfinite(block[i]):
                            return start + i, kept_step, kept[i]
                kept[:] = block
                kept_step = step + 1
            if record < record_steps.size and record_steps[record] == step + 1:
                seen[:] = block
                apply_any_map(read_kind, seen, read_constants, read_cells, rows, places, custom)
                records[record, column + start : column + stop] = seen[:size]
                record += 1
        z[start:stop] = block[:size]
    return -1, 0, 0.0


#: For the built-in drifts, where `custom` is None.
advance = scalar(_advance)
#: For any other.
advance_custom = uncached(_advance)


@scalar
def increments(paths, key, step, table, out):
    """Increment of one step for each of the paths; the same numbers that `advance` adds."""
    coefficients, cells_log2 = table
    keys = round_keys(key)
    blocks = np.empty((5, BLOCK), np.uint64)
    states = np.empty((2, BLOCK))
    for start in range(0, out.size, BLOCK):
        stop = min(start + BLOCK, out.size)
        full = padded(stop - start)
        even, odd, products = blocks[0, :full], blocks[1, :full], blocks[2, :full]
        words, rows = blocks[3, :full], blocks[4, :full]
        drawn, places = states[0, :full], states[1, :full]
        prepare_paths(paths[start:stop], key, products, words)
        stream_pass(even, odd, products, words, np.uint64(step >> 1), key, keys)
        bits = odd if step & 1 else even
        index_pass(bits, cells_log2, rows, places)
        drawn[:] = 0.0
        add_pass(drawn, bits, coefficients, rows, places)
        out[start:stop] = drawn[: stop - start]
