r"""The drift's share of a time step, for a block of paths.

A scheme is z <- map(z) + increment, with a read-out of z where it is looked at:

    Euler-Maruyama    map(z) = z + dt F(z)                            read-out z
    Strang            map = flow over dt (dt/2 in the first step)     read-out flow over dt/2

so that Strang pays for one flow a step: what it carries is the state before the last half flow.

Every loop is in place, has one body, no branches and no inner loop, or it does not vectorise. `p` holds the
constants of a map, in the order that its docstring gives, padded to one length.
"""

from __future__ import annotations

from ._jit import Compiled, inlined, scalar, uncached
from .bits import fma
from .elementary import tanh

STILL, EULER_SATURATING, EULER_LINEAR, FLOW_SATURATING, FLOW_LINEAR, FLOW_UNEQUAL, CUSTOM = range(7)

#: Length of the tuple of constants.
N_CONSTANTS = 13


@scalar
def euler_saturating(z, p):
    """F = b - a tanh((z - c)/w); p = (dt a, dt b, c, 1/w)."""
    pull, push, center, per_width = p[0], p[1], p[2], p[3]
    for i in range(z.size):
        y = z[i]
        z[i] = fma(-pull, tanh((y - center) * per_width), y + push)


@scalar
def euler_linear(z, p):
    """F = -rate (z - c); p = (dt rate, c). The exact flow has the same form, with 1 - exp(-rate t) for dt rate."""
    pull, center = p[0], p[1]
    for i in range(z.size):
        y = z[i]
        z[i] = fma(-pull, y - center, y)


@scalar
def flow_saturating(z, p, work):
    """Flow of -a tanh((z - c)/w), in pieces: what it subtracts is T = tanh((z - c)/w) times a polynomial in T**2.

    p = (coefficients of the polynomial, highest first, c, 1/w, pieces), from `_simulate.schemes`. Two loops, because
    one has more constants than there are vector registers (7.6 ns against 5.4).
    """
    c9, c8, c7, c6, c5, c4, c3, c2, c1, c0 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9]
    center, per_width = p[10], p[11]
    for _ in range(int(p[12])):
        for i in range(z.size):
            work[i] = tanh((z[i] - center) * per_width)
        for i in range(z.size):
            t = work[i]
            w = t * t
            q = fma(fma(fma(fma(fma(c9, w, c8), w, c7), w, c6), w, c5), w, c4)
            q = fma(fma(fma(fma(q, w, c3), w, c2), w, c1), w, c0)
            z[i] = fma(-t, q, z[i])


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
def unequal_force(y, p):
    """Drift with two plateaus, b - a tanh((z - c)/w); p = (h, pieces, a, b, c, 1/w)."""
    return p[3] - p[2] * tanh((y - p[4]) * p[5])


flow_unequal = scalar(flow_map(unequal_force))


@scalar
def apply_map(kind, z, p, work):
    """Apply a map that is built in to a block, with a work array of its length."""
    if kind == EULER_SATURATING:
        euler_saturating(z, p)
    elif kind in (EULER_LINEAR, FLOW_LINEAR):
        euler_linear(z, p)
    elif kind == FLOW_SATURATING:
        flow_saturating(z, p, work)
    elif kind == FLOW_UNEQUAL:
        flow_unequal(z, p)


@uncached
def apply_any_map(kind, z, p, work, custom):
    """Apply a map to a block: `custom`, a compiled map (z, p), unless that is None."""
    if custom is None:
        apply_map(kind, z, p, work)
    elif kind == CUSTOM:
        custom(z, p)
