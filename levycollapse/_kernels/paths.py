r"""Many paths through many steps: the loop that everything else waits for.

Paths are taken in blocks that stay in the first-level cache; in a block each step is four passes over the paths,

    random stream | drift map | row and place in the table | cubic of the table, added

kept apart because each then vectorises and one fused loop does not. The non-finite check is an integer pass of its
own every CHECK_EVERY steps: inside the drift map it cost more than the map (measured), here under 0.1 ns.
"""

from __future__ import annotations

import numpy as np

from ._jit import scalar, uncached
from .bits import float_bits
from .drift_maps import apply_any_map
from .streams import stream_pass
from .tables import interpolate, locate, with_sign

#: Paths in a block: six work arrays of 4 KB each. 256 cost 5 % more, 1024 2 %.
BLOCK = 512
#: Steps between two checks for non-finite states.
CHECK_EVERY = 16

EXPONENT = np.uint64(0x7FF0000000000000)


@scalar
def index_pass(bits, cells_log2, rows, places):
    for i in range(bits.size):
        rows[i], places[i] = locate(bits[i], cells_log2)


@scalar
def add_pass(z, bits, coefficients, rows, places):
    for i in range(z.size):
        z[i] += with_sign(interpolate(coefficients, rows[i], places[i]), bits[i])


@scalar
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
        (kind, constants, kind and constants of step 0, kind and constants of the read-out).
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
    kind, constants, first_kind, first_constants, read_kind, read_constants = maps
    even_bits = np.empty(BLOCK, np.uint64)
    odd_bits = np.empty(BLOCK, np.uint64)
    row_block = np.empty(BLOCK, np.uint64)
    place_block = np.empty(BLOCK)
    kept_block = np.empty(BLOCK)
    for start in range(0, z.size, BLOCK):
        stop = min(start + BLOCK, z.size)
        block = z[start:stop]
        indices = paths[start:stop]
        even = even_bits[: block.size]
        odd = odd_bits[: block.size]
        rows = row_block[: block.size]
        places = place_block[: block.size]
        kept = kept_block[: block.size]
        kept[:] = block
        kept_step = first
        record = 0
        for step in range(first, first + count):
            if step & 1 == 0 or step == first:
                stream_pass(even, odd, indices, np.uint64(step >> 1), key)
            bits = odd if step & 1 else even
            # The map first: it uses `places` as its work array.
            if step == 0:
                apply_any_map(first_kind, block, first_constants, places, custom)
            else:
                apply_any_map(kind, block, constants, places, custom)
            index_pass(bits, cells_log2, rows, places)
            add_pass(block, bits, coefficients, rows, places)
            if (step + 1) % CHECK_EVERY == 0 or step + 1 == first + count:
                if count_nonfinite(block) > 0:
                    for i in range(block.size):
                        if not np.isfinite(block[i]):
                            return start + i, kept_step, kept[i]
                kept[:] = block
                kept_step = step + 1
            if record < record_steps.size and record_steps[record] == step + 1:
                seen = records[record, column + start : column + stop]
                seen[:] = block
                apply_any_map(read_kind, seen, read_constants, places, custom)
                record += 1
    return -1, 0, 0.0


#: For the built-in drifts, where `custom` is None.
advance = scalar(_advance)
#: For any other.
advance_custom = uncached(_advance)


@scalar
def increments(paths, key, step, table, out):
    """Increment of one step for each of the paths; the same numbers that `advance` adds."""
    coefficients, cells_log2 = table
    even_bits = np.empty(BLOCK, np.uint64)
    odd_bits = np.empty(BLOCK, np.uint64)
    row_block = np.empty(BLOCK, np.uint64)
    place_block = np.empty(BLOCK)
    for start in range(0, out.size, BLOCK):
        stop = min(start + BLOCK, out.size)
        even = even_bits[: stop - start]
        odd = odd_bits[: stop - start]
        rows = row_block[: stop - start]
        places = place_block[: stop - start]
        stream_pass(even, odd, paths[start:stop], np.uint64(step >> 1), key)
        bits = odd if step & 1 else even
        index_pass(bits, cells_log2, rows, places)
        out[start:stop] = 0.0
        add_pass(out[start:stop], bits, coefficients, rows, places)
