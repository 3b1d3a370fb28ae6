r"""The drift's share of a time step, for a block of paths.

A scheme is z <- map(z) + increment, with a read-out of z where it is looked at:

    Euler-Maruyama    map(z) = z + dt F(z)                            read-out z
    Strang            map = flow over dt (dt/2 in the first step)     read-out flow over dt/2

so that Strang pays for one flow a step: what it carries is the state before the last half flow.

A drift that saturates is a table: what its map adds to z, a polynomial of degree seven on each of equal cells of
y = (z - center)/width, which `_simulate.schemes` makes of the drift or of its flow. (Hyperbolic tangents and flows
computed in place took 4.0 and 5.7 ns on first-generation EPYC, the table takes 2.4 for either.) Beyond the last cell
the drift is its plateau, and the map adds a constant.

Every loop is in place, has one body, no branches and no inner loop, or it does not vectorise. `p` holds the
constants of a map, in the order that its docstring gives, padded to one length.
"""

from __future__ import annotations

import numpy as np

from ._jit import Compiled, inlined, uncached
from .bits import float_bits, fma
from .lanes import LANES, add_septics

STILL, LINEAR, TABULATED, CUSTOM = range(4)

#: Length of the tuple of constants.
N_CONSTANTS = 4
#: Coefficients of a cell.
COEFFICIENTS = 8
#: Adding 1.5 * 2**52 rounds to an integer and leaves it in the low bits of the sum.
ROUND = 6755399441055744.0


@inlined
def linear(z, p):
    """-rate (z - c); p = (1 - exp(-rate t) for the flow, rate t for Euler-Maruyama; c)."""
    pull, center = p[0], p[1]
    for i in range(z.size):
        y = z[i]
        z[i] = fma(-pull, y - center, y)


@inlined
def cell_pass(z, center, scale, edge, rows, places):
    """Cell, in the low half of `rows`, and place of (z - center) scale; integers are middles of cells -edge to edge.

    A nan goes to the last cell: what is added to it does not matter.
    """
    middle = ROUND + edge
    for i in range(z.size):
        t = (z[i] - center) * scale
        t = t if t < edge else edge
        t = t if t > -edge else -edge
        shifted = t + middle
        places[i] = t - (shifted - middle)
        rows[i] = float_bits(shifted)


@inlined
def tabulated(z, p, cells, rows, places):
    """Z += polynomials of `cells`, flat, COEFFICIENTS a cell; p = (center, cells per unit of z, last cell, pieces).

    The sizes are multiples of LANES; `rows` and `places` are work arrays.
    """
    for _ in range(int(p[3])):
        cell_pass(z, p[0], p[1], p[2], rows, places)
        for i in range(0, z.size, LANES):
            add_septics(z, cells, rows, places, np.uint64(i))


def euler_map(force: Compiled) -> Compiled:
    """Euler map z + dt force(z, p) of a compiled function, to be compiled; p = (dt, ...)."""

    def euler(z, p):
        dt = p[0]
        for i in range(z.size):
            y = z[i]
            z[i] = fma(dt, force(y, p), y)

    return euler


def flow_map(force: Compiled) -> Compiled:
    """Flow of a compiled function force(z, p), to be compiled; p = (t/pieces, pieces, ...).

    By Butcher's Runge-Kutta method of seven stages and order six (1964), whose error over a piece of length h of
    -tanh is 1.1e-11 at h = 0.1 and falls with h**7.
    """

    def flow(z, p):
        h = p[0]
        for _ in range(int(p[1])):
            for i in range(z.size):
                y = z[i]
                k1 = force(y, p)
                k2 = force(y + h * (k1 / 3.0), p)
                k3 = force(y + h * (2.0 * k2 / 3.0), p)
                k4 = force(y + h * ((k1 + 4.0 * k2 - k3) / 12.0), p)
                k5 = force(y + h * ((18.0 * k2 - k1 - 3.0 * k3 - 6.0 * k4) / 16.0), p)
                k6 = force(y + h * ((9.0 * k2 - 3.0 * k3 - 6.0 * k4 + 4.0 * k5) / 8.0), p)
                k7 = force(y + h * ((9.0 * k1 - 36.0 * k2 + 63.0 * k3 + 72.0 * k4 - 64.0 * k6) / 44.0), p)
                z[i] = y + h * ((11.0 * (k1 + k7) + 81.0 * (k3 + k4) - 32.0 * (k5 + k6)) / 120.0)

    return flow


def exact_map(function: Compiled) -> Compiled:
    """Map of an exact flow function(z, t), to be compiled; p = (t,)."""

    def exact(z, p):
        t = p[0]
        for i in range(z.size):
            z[i] = function(z[i], t)

    return exact


@inlined
def apply_map(kind, z, p, cells, rows, places):
    """Apply a map that is built in to a block, with work arrays of its length."""
    if kind == LINEAR:
        linear(z, p)
    elif kind == TABULATED:
        tabulated(z, p, cells, rows, places)


@uncached
def apply_any_map(kind, z, p, cells, rows, places, custom):
    """Apply a map to a block: `custom`, a compiled map (z, p), unless that is None."""
    if custom is None:
        apply_map(kind, z, p, cells, rows, places)
    elif kind == CUSTOM:
        custom(z, p)
