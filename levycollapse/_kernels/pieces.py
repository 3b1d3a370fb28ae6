"""The law on one interval of x: exponential sums, then Chebyshev series of log f and log P.

A piece is a binade of x, a part of one, or the interval [0, x0] around the centre. On it one contour is fixed
(`contour`), its sums are taken at Chebyshev points, and the logarithms of density and survival probability become
series of DEGREE + 1 terms: the logarithm because it stays smooth where the law falls by many orders, and because
its error is the relative error wanted. A value then costs two short recurrences instead of some sixty complex
exponentials.

The error of a piece is measured, not predicted: the difference to a second contour (other angle, crossing and step)
at three points, the rounding bound of the sums, and the difference of the series to the sums off the nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._jit import scalar
from .bits import float_bits
from .contour import (
    CAPACITY,
    DIRECT,
    EXCESS,
    NEAR_GAUSSIAN,
    direct_gap,
    excess_gap,
    hyperbola,
    jump_cumulant,
    ray,
    scaled_gaussian,
    sector,
    sums,
)

DEGREE = 23
#: What a contour is refined to before its error is measured, and what a piece is content with.
STEP_GOAL = 1e-13
GOOD = 2e-12
#: ... and up to which bound it takes what rounding allows.
ROUNDED = 2e-11
#: Place of the contour between the limit of its sector and the imaginary axis, and that of the one that checks it.
PLACE, CHECK_PLACE = 0.5, 0.42
CHECK_STEP = 0.87


@scalar
def make_contour(place, tempered, form, gauss, jump, a, x_low, x_high, step, shift, density, survival, condition, even):
    """Fill the node arrays for a piece; returns count, slope s0, front K(s0), arc, and log of the unit of f."""
    limit = sector(form, gauss, a)
    angle = limit + place * (0.5 * math.pi - limit)
    middle = 0.5 * x_high if x_low == 0.0 else math.sqrt(x_low) * math.sqrt(x_high)
    if not tempered:
        count = ray(
            form,
            gauss,
            jump,
            a,
            angle,
            -math.log(middle),
            step,
            x_low,
            x_high,
            shift,
            density,
            survival,
            condition,
            even,
        )
        return count, 0.0, 0.0, (angle / math.pi if form == DIRECT else 0.0), -math.log(middle)
    taken_out = gauss + jump if form == NEAR_GAUSSIAN else gauss
    if form == DIRECT:
        gap, curvature = direct_gap(middle, gauss, jump, a)
    else:
        gap, curvature = excess_gap(middle, taken_out), 2.0 * taken_out
    if place == CHECK_PLACE:
        # Cross elsewhere, but not so far from the saddle that the integrand grows.
        move = 0.1 * min(gap, 1.0 - gap)
        if curvature > 0.0:
            move = min(move, 0.4 / math.sqrt(curvature))
        gap -= move
    mu = gap / (1.0 - math.cos(angle))
    if curvature > 0.0:
        # Half the width in u of the peak at the crossing.
        step = min(step, step * 1.5 / (mu * math.sin(angle) * math.sqrt(curvature)))
    count, front = hyperbola(form, gauss, jump, a, gap, angle, step, x_low, shift, density, survival, condition)
    for j in range(count):
        even[j] = j % 2 == 0
    return count, 1.0 - gap, front, 0.0, 0.0


@scalar
def values(form, gauss, jump, count, slope, front, arc, unit, shift, density, survival, condition, even, x, work, out):
    """Logarithms of f and P at x and the relative errors that the sums themselves see.

    out: log f, log P, step error of f and P, rounding bound of f and P.
    """
    sums(count, shift, density, survival, condition, even, x, work)
    scale = front - slope * x
    taken_out = gauss + jump if form == NEAR_GAUSSIAN else gauss
    f, p, exponent = work[0], work[1] + arc, 0.0
    if form != DIRECT:
        height, beyond, exponent = scaled_gaussian(x, taken_out, scale)
        height *= math.exp(-unit)
        f += height
        p += beyond
        # 8 ulp for erfc and the prefactors.
        work[4] += 2e-16 * (8.0 + exponent) * height
        work[5] += 2e-16 * (8.0 + exponent) * beyond
    # Rounding of the scale, of x in the law's unit (which log f multiplies), and of the series themselves.
    loose = 2e-16 * (4.0 + abs(front) + abs(slope * x))
    if f > 0.0 and p > 0.0:
        out[0] = math.log(f) + scale + unit
        out[1] = math.log(p) + scale
        out[2] = abs(work[2] - work[0]) / f
        out[3] = abs(work[3] - work[1]) / p
        out[4] = work[4] / f + loose + 4e-16 * abs(out[0])
        out[5] = work[5] / p + loose + 4e-16 * abs(out[1])
    else:
        out[:] = math.inf


@scalar
def first_form(tempered, gauss, jump, a, x):
    """The form most likely to do: judged by the size of what remains at the scale that x sees."""
    if not tempered:
        return EXCESS if x > 1.0 else DIRECT
    s = complex(1.0, 2.0 / x)
    y = complex(0.0, -2.0 / x)
    if abs(jump_cumulant(s, y, 0j, True, EXCESS, jump, a)) < 0.5:
        return EXCESS
    if gauss > 0.0:
        s = complex(0.0, 1.0 / math.sqrt(2.0 * gauss))
        if abs(jump_cumulant(s, 1.0 - s, 0j, True, EXCESS, jump, a)) < 0.3:
            return EXCESS
    if a > 1.5 and abs(jump_cumulant(complex(1.0, 2.0 / x), y, 0j, True, NEAR_GAUSSIAN, jump, a)) < 0.5:
        return NEAR_GAUSSIAN
    return DIRECT


def workspace() -> tuple[Any, Any]:
    """Node arrays of the two contours of `build`: 0.7 MB that need not be found again for every piece."""

    def arrays() -> Any:
        complexes = tuple(np.empty(CAPACITY, np.complex128) for _ in range(3))
        return *complexes, np.empty(CAPACITY), np.empty(CAPACITY, np.bool_)

    return arrays(), arrays()


@scalar
def build(tempered, gauss, jump, a, x_low, x_high, nodes, others, series, errors):
    """Series of log f and log P on [x_low, x_high]; `errors` gets their relative errors. Returns the form or -1.

    series: (2, DEGREE + 1). errors: of f, of P, and the larger of the two without the rounding of the sums, which
    shorter pieces would not reduce.
    """
    work = np.empty(6)
    out = np.empty(6)
    check = np.empty(6)
    trial = np.empty((2, DEGREE + 1))
    found = -1
    errors[:] = math.inf
    wanted = first_form(tempered, gauss, jump, a, x_low if x_low > 0.0 else 0.25 * x_high)
    for attempt in range(3):
        form = (wanted + attempt) % 3
        if form == NEAR_GAUSSIAN and a <= 1.0:
            continue
        if form == EXCESS and x_low == 0.0 and gauss == 0.0:
            # Nothing makes the integral converge at x = 0.
            continue
        step = 0.35
        count, slope, front, arc, unit = 0, 0.0, 0.0, 0.0, 0.0
        seen = math.inf
        for _ in range(14):
            count, slope, front, arc, unit = make_contour(
                PLACE, tempered, form, gauss, jump, a, x_low, x_high, step, *nodes
            )
            if count == 0:
                break
            seen = 0.0
            for q in range(3):
                x = x_low + 0.5 * q * (x_high - x_low)
                values(form, gauss, jump, count, slope, front, arc, unit, *nodes, x, work, out)
                # Halving the step squares the relative error of the sums (not of their total with the Gaussian).
                for r in range(2):
                    own = abs(work[r + 2] - work[r]) / max(abs(work[r]), 1e-300)
                    seen = max(seen, min(own, 1.0) * out[r + 2] if out[r + 2] < math.inf else math.inf)
            if seen < STEP_GOAL:
                break
            step *= 0.7
        if count == 0 or not seen < 1e-6:
            continue
        count2, slope2, front2, arc2, unit2 = make_contour(
            CHECK_PLACE, tempered, form, gauss, jump, a, x_low, x_high, CHECK_STEP * step, *others
        )
        if count2 == 0:
            continue
        apart0, apart1, loose0, loose1 = 0.0, 0.0, 0.0, 0.0
        for q in range(3):
            x = x_low + 0.5 * q * (x_high - x_low)
            values(form, gauss, jump, count2, slope2, front2, arc2, unit2, *others, x, work, check)
            values(form, gauss, jump, count, slope, front, arc, unit, *nodes, x, work, out)
            apart0 = max(apart0, abs(math.expm1(check[0] - out[0])))
            apart1 = max(apart1, abs(math.expm1(check[1] - out[1])))
            loose0, loose1 = max(loose0, out[4]), max(loose1, out[5])
        if not 2.0 * max(apart0, apart1) + max(loose0, loose1) < max(errors[0], errors[1]):
            continue
        trial[:] = 0.0
        n = DEGREE + 1
        middle, half = 0.5 * (x_low + x_high), 0.5 * (x_high - x_low)
        for i in range(n):
            angle = math.pi * (i + 0.5) / n
            values(
                form, gauss, jump, count, slope, front, arc, unit, *nodes, middle + half * math.cos(angle), work, out
            )
            for k in range(n):
                c = math.cos(k * angle) * (1.0 if k == 0 else 2.0) / n
                trial[0, k] += c * out[0]
                trial[1, k] += c * out[1]
        off0, off1 = 0.0, 0.0
        for i in range(4):
            # Halfway between nodes near both ends and the middle, where the error of the interpolant is largest.
            t = math.cos(math.pi * (1.0 + (i * (n - 2)) // 3) / n)
            values(form, gauss, jump, count, slope, front, arc, unit, *nodes, middle + half * t, work, out)
            off0 = max(off0, abs(clenshaw(trial[0], t) - out[0]))
            off1 = max(off1, abs(clenshaw(trial[1], t) - out[1]))
        tail0 = abs(trial[0, n - 1]) + abs(trial[0, n - 2])
        tail1 = abs(trial[1, n - 1]) + abs(trial[1, n - 2])
        # 3 and 5: both differences are seen at a few points only. Over 1050 values of 210 laws, factors of 2
        # left two estimates 2% and 30% below errors of 5e-14.
        reducible0 = 3.0 * apart0 + 5.0 * max(off0, tail0) + 1e-14
        reducible1 = 3.0 * apart1 + 5.0 * max(off1, tail1) + 1e-14
        total = max(reducible0 + loose0, reducible1 + loose1)
        if total < max(errors[0], errors[1]):
            errors[0] = reducible0 + loose0
            errors[1] = reducible1 + loose1
            # Far out the rounding of the logarithms themselves shows in these differences.
            errors[2] = max(reducible0 + 1e-14 * trial[0, 0], reducible1 + 1e-14 * trial[1, 0])
            # Not `series[:] = trial`: Numba then compiles the text of an error about shapes, for 5 s.
            for k in range(n):
                series[0, k], series[1, k] = trial[0, k], trial[1, k]
            found = form
        if good_enough(errors):
            break
    return found


@scalar
def good_enough(errors):
    """Whether another form or shorter pieces are not worth a trial."""
    return max(errors[0], errors[1]) < GOOD or (max(errors[0], errors[1]) < ROUNDED and errors[2] < GOOD)


@scalar
def clenshaw(series, t):
    one, two = 0.0, 0.0
    for k in range(series.size - 1, 0, -1):
        one, two = 2.0 * t * one - two + series[k], one
    return t * one - two + series[0]


@scalar
def clenshaw_pair(series, t):
    """Both series of a piece at t; side by side, because a recurrence alone waits for itself."""
    f1, f2, p1, p2 = 0.0, 0.0, 0.0, 0.0
    double = 2.0 * t
    for k in range(series.shape[1] - 1, 0, -1):
        f1, f2 = double * f1 - f2 + series[0, k], f1
        p1, p2 = double * p1 - p2 + series[1, k], p1
    return t * f1 - f2 + series[0, 0], t * p1 - p2 + series[1, 0]


#: Exponent of the smallest subnormal; the binades of all doubles are counted from it.
LEAST = -1074
BINADES = 1024 - LEAST


@scalar
def exponent_of(x):
    """floor(log2(x)), LEAST for 0."""
    if x < 2.2250738585072014e-308:
        return np.int64(math.frexp(x)[1] - 1) if x > 0.0 else np.int64(LEAST)
    return np.int64((float_bits(x) >> np.uint64(52)) & np.uint64(0x7FF)) - 1023


@scalar
def piece_of(x, lowest, first, parts):
    """Index of the piece that holds a finite x >= 0 and the place in it, from -1 to 1; index -1 if there is none yet.

    Piece 0 is [0, 2**lowest]. `first[b]` is the first piece of binade LEAST + b and `parts[b]` how many equal parts
    that binade has.
    """
    exponent = exponent_of(x)
    if exponent < lowest:
        return np.int64(0), 2.0 * (x * 2.0 ** (-lowest)) - 1.0
    b = exponent - LEAST
    if first[b] < 0:
        return np.int64(-1), 0.0
    place = (math.ldexp(x, -exponent) - 1.0) * parts[b]
    part = min(np.int64(place), parts[b] - 1)
    return first[b] + part, 2.0 * (place - part) - 1.0


@scalar
def mark_needed(x, lowest, first, needed):
    """Set `needed` at every binade of x that has no pieces."""
    for i in range(x.size):
        exponent = exponent_of(x[i])
        if exponent >= lowest and first[exponent - LEAST] < 0:
            needed[exponent - LEAST] = True


@scalar
def evaluate_one(x, which, lowest, first, parts, series, errors, out):
    """Evaluate log f (which = 0) or log P (which = 1) alone; returns its largest error."""
    worst = 0.0
    for i in range(x.size):
        piece, t = piece_of(x[i], lowest, first, parts)
        out[i] = clenshaw(series[piece, which], t)
        worst = max(worst, errors[piece, which])
    return worst


@scalar
def errors_at(x, lowest, first, parts, errors, out):
    for i in range(x.size):
        piece, _t = piece_of(x[i], lowest, first, parts)
        out[i] = max(errors[piece, 0], errors[piece, 1])


@scalar
def edge_slopes(order, series, log_edges, slopes):
    """Fill in dx/d log P = -P/f at both ends of every piece in order."""
    for i in range(order.size):
        for side in range(2):
            log_f, log_p = clenshaw_pair(series[order[i]], 2.0 * side - 1.0)
            slopes[i, side] = -math.exp(log_p - log_f)


@scalar
def invert(survival, centre, order, edges, log_edges, slopes, series, errors, out):
    """Find x with P(X > x) = survival in (0, 1/2); centre = 1 - 2 survival, which carries the digits near 0.

    `edges` are the ends of the pieces in ascending order (edges[0] = 0), `log_edges` log P there, `order[i]` the
    piece between edges i and i + 1. Newton's method on log P, whose slope is -f/P, from the cubic of the inverse
    function through both ends, or from the point before where that is near (as in a sorted batch); returns the
    largest error.
    """
    worst = 0.0
    height = math.exp(clenshaw(series[0, 0], -1.0))
    low = 0
    last_x, last_goal, last_slope = -1.0, math.inf, 0.0
    for i in range(survival.size):
        x = 0.5 * centre[i] / height
        if x < 1e-5 * edges[1]:
            # Here f is f(0) to 1e-11, whereas log P + log 2 has lost its digits.
            out[i] = x
            worst = max(worst, errors[0, 1])
            continue
        goal = math.log(survival[i])
        if not log_edges[low] >= goal >= log_edges[low + 1]:
            low, high = 0, edges.size - 1
            while high - low > 1:
                middle = (low + high) // 2
                if log_edges[middle] >= goal:
                    low = middle
                else:
                    high = middle
        piece = order[low]
        left = edges[low]
        half = 0.5 * (edges[low + 1] - left)
        if abs(goal - last_goal) < 0.05:
            x = last_x + last_slope * (goal - last_goal)
        else:
            span = log_edges[low + 1] - log_edges[low]
            r = (goal - log_edges[low]) / span
            a1, b1 = slopes[low, 0] * span, slopes[low, 1] * span
            x = left + r * (a1 + r * (6.0 * half - 2.0 * a1 - b1 + r * (a1 + b1 - 4.0 * half)))
        t = (x - left) / half - 1.0
        bottom, top = -1.0, 1.0
        slope = 0.0
        for _ in range(60):
            if not bottom <= t <= top:
                t = 0.5 * (bottom + top)
            log_f, log_p = clenshaw_pair(series[piece], t)
            gap = log_p - goal
            if gap > 0.0:
                bottom = t
            else:
                top = t
            slope = -math.exp(log_p - log_f)
            step = -gap * slope / half
            t += step
            if abs(step) < 1e-8 or top - bottom < 1e-15:
                # The next step would be of the order of this one squared.
                break
        x = left + half * (1.0 + min(max(t, -1.0), 1.0))
        out[i] = x
        last_x, last_goal, last_slope = x, goal, slope
        worst = max(worst, errors[piece, 1])
    return worst
