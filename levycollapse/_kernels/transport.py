"""Windows of products over time: for every series and lag, the sum of log|window| and log of the sum of |window|.

The window of lag l that ends at e is x_{e-l+1} ... x_e. With the mean of log|x| taken out, the prefix products p and
their reciprocals r stay near 1, and the windows of one lag are the pairs p[e] r[e-l]: one multiplication each, no
exponential. Series whose prefix products leave the range of doubles are summed in logarithms, window by window. A
factor that is exactly 0 cuts its series into pieces: windows across it are 0. Sums of log|window| need only the prefix
sums of the prefix sums of log|x|.

The first-order expansion multiplies the window of the carries c by 1 + sum of (correction/c); those sums are kept in
two doubles, because they are differences of prefix sums whose terms can be large. Where a carry is 0, or a ratio too
large for that, windows are followed one by one.

Factors come as (time, sequence, unit). The first `first` times are history: only windows that end after it are counted,
so that a long series can be given in pieces that overlap by the longest lag. `stops` says where each sequence ends.
Prefix arrays have index 0 before the first factor.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import inlined, scalar, summing

#: Units copied at a time, so that a cache line of the (time, sequence, unit) array is read once.
TILE = 8
#: Prefix products that stay in [1/RANGE, RANGE] are multiplied; their windows and the sums of those are then normal.
RANGE = 1e140
#: Prefix sums of ratios up to here, in two doubles, leave windows without them 1e-16 of absolute error.
RATIO = 1e15


@inlined
def log_add(a, b):
    """Logarithm of e^a + e^b, where either may be -inf."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


@scalar
def logarithms(x, stop, logs):
    """Logarithms of |x|, 0 in place of those of 0; their mean."""
    total = 0.0
    count = 0
    for t in range(stop):
        size = abs(x[t])
        if size > 0.0:
            logs[t] = math.log(size)
            total += logs[t]
            count += 1
        else:
            logs[t] = 0.0
    return total / count if count else 0.0


@scalar
def prefix_products(x, logs, begin, end, rate, p, r):
    """Prefix products of the detrended |x| and their reciprocals; or False with prefix sums of logarithms in p."""
    factor = math.exp(-rate)
    value = 1.0
    p[0] = r[0] = 1.0
    low = high = 1.0
    for j in range(end - begin):
        value *= abs(x[begin + j]) * factor
        low = min(low, value)
        high = max(high, value)
        p[j + 1] = value
    if low > 1.0 / RANGE and high < RANGE:
        for j in range(1, end - begin + 1):
            r[j] = 1.0 / p[j]
        return True
    p[0] = 0.0
    for j in range(end - begin):
        p[j + 1] = p[j] + (logs[begin + j] - rate)
    return False


@summing
def correlation(a, b):
    """Sum of a b."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@scalar
def log_sum_exp(s, start, lag, stop):
    """Logarithm of the sum of exp(s[e] - s[e - lag]) over e in [start, stop)."""
    largest = -math.inf
    for e in range(start, stop):
        largest = max(largest, s[e] - s[e - lag])
    total = 0.0
    for e in range(start, stop):
        total += math.exp(s[e] - s[e - lag] - largest)
    return largest + math.log(total)


@scalar
def piece_sums(x, logs, begin, end, first, lags, p, r, out):
    """Add the windows inside the zero-free piece [begin, end) that end after `first` to out[lag], in logarithms."""
    size = end - begin
    rate = 0.0
    for t in range(begin, end):
        rate += logs[t]
    rate /= size
    fast = prefix_products(x, logs, begin, end, rate, p, r)
    for i in range(lags.size):
        lag = lags[i]
        start = max(first - begin + 1, lag)
        if start > size:
            continue
        if fast:
            value = math.log(correlation(p[start : size + 1], r[start - lag : size + 1 - lag]))
        else:
            value = log_sum_exp(p, start, lag, size + 1)
        out[i] = log_add(out[i], rate * lag + value)


@scalar
def product_sums(x, logs, first, stop, lags, p, r, out):
    """Add the windows of a product that end in (first, stop] to out[lag], in logarithms."""
    begin = 0
    for t in range(stop + 1):
        if t == stop or x[t] == 0.0:
            if t > begin and t > first:
                piece_sums(x, logs, begin, t, first, lags, p, r, out)
            begin = t + 1


@scalar
def prefix_sums(logs, rate, stop, once, twice):
    """Prefix sums of logs - rate, and prefix sums of those."""
    once[0] = 0.0
    twice[0] = 0.0
    for j in range(stop):
        twice[j + 1] = twice[j] + once[j]
        once[j + 1] = once[j] + (logs[j] - rate)
    twice[stop + 1] = twice[stop] + once[stop]


@scalar
def log_sums(rate, twice, first, stop, lags, out):
    """Add the sum over the windows that end in (first, stop] of the sum of logs to out[lag]; see `prefix_sums`."""
    for i in range(lags.size):
        lag = lags[i]
        start = max(first + 1, lag)
        if start <= stop:
            ends = twice[stop + 1] - twice[start]
            starts = twice[stop + 1 - lag] - twice[start - lag]
            out[i] += (stop + 1 - start) * (rate * lag) + (ends - starts)


@scalar
def holds_zero(x, first, stop, lag):
    """Whether a window of this lag that ends in (first, stop] holds a factor of 0."""
    t = 0
    while t < stop and (x[t] != 0.0 or max(t + 1, first + 1, lag) > min(t + lag, stop)):
        t += 1
    return t < stop


@scalar
def copy_tile(source, sequence, unit, width, stop, tile):
    """Copy the series of some units of a sequence into contiguous rows."""
    for t in range(stop):
        for q in range(width):
            tile[q, t] = source[t, sequence, unit + q]


@scalar
def product_pass(factors, first, stops, lags, with_sums, totals, zeros, negative, log_windows, sums):
    """Add what one piece of the series has to say about the product of its factors.

    `totals`, `zeros`, `negative` are (sequence, unit): the sum of log|x| over the nonzero x, how many are 0, how many
    below. `log_windows` is (sequence, unit, lag): the sum of log|window|, -inf if a window is 0; `sums` the logarithm
    of the sum of |window|.
    """
    n = factors.shape[0]
    units = factors.shape[2]
    tile = np.empty((TILE, n))
    logs = np.empty(n)
    p = np.empty(n + 2)
    r = np.empty(n + 2)
    for b in range(factors.shape[1]):
        stop = stops[b]
        if stop <= first:
            continue
        for unit in range(0, units, TILE):
            width = min(TILE, units - unit)
            copy_tile(factors, b, unit, width, stop, tile)
            for k in range(width):
                x = tile[k]
                q = unit + k
                rate = logarithms(x, stop, logs)
                gone = False
                for t in range(stop):
                    gone = gone or x[t] == 0.0
                    if t >= first:
                        totals[b, q] += logs[t]
                        zeros[b, q] += x[t] == 0.0
                        negative[b, q] += x[t] < 0.0
                prefix_sums(logs, rate, stop, p, r)
                log_sums(rate, r, first, stop, lags, log_windows[b, q])
                if gone:
                    for i in range(lags.size):
                        if holds_zero(x, first, stop, lags[i]):
                            log_windows[b, q, i] = -math.inf
                if with_sums:
                    product_sums(x, logs, first, stop, lags, p, r, sums[b, q])


@scalar
def ratio_prefix(carry, correction, stop, high, low):
    """Prefix sums of correction/carry in two doubles (error-free addition); the largest in absolute value."""
    high[0] = low[0] = 0.0
    largest = 0.0
    for t in range(stop):
        if carry[t] == 0.0:
            return math.inf
        term = correction[t] / carry[t]
        total = high[t] + term
        largest = max(largest, max(abs(total), abs(term)))
        part = total - high[t]
        low[t + 1] = low[t] + ((high[t] - (total - part)) + (term - part))
        high[t + 1] = total
    return largest


@inlined
def expansion(high, low, e, s):
    """First-order factor 1 + sum of the ratios from s to e."""
    return 1.0 + ((high[e] - high[s]) + (low[e] - low[s]))


@scalar
def first_order_recursion(carry, correction, rate, first, stop, lags, log_windows, sums):
    """Add the windows one by one, by A' = A c, C' = C c + A correction: no division, so a carry may be 0."""
    factor = math.exp(-rate)
    for s in range(max(0, first + 1 - lags[lags.size - 1]), stop):
        product = 1.0
        rest = 0.0
        scale = 0.0
        i = 0
        for e in range(s + 1, min(stop, s + lags[lags.size - 1]) + 1):
            rest = (rest * carry[e - 1] + product * correction[e - 1]) * factor
            product *= carry[e - 1] * factor
            size = max(abs(product), abs(rest))
            if size > 0.0 and not 1e-100 < size < 1e100:
                product /= size
                rest /= size
                scale += math.log(size)
            if lags[i] == e - s:
                if e > first:
                    size = abs(product + rest)
                    value = rate * lags[i] + scale + math.log(size) if size > 0.0 else -math.inf
                    log_windows[i] += value
                    sums[i] = log_add(sums[i], value)
                i += 1


@scalar
def expansion_sums(p, r, high, low, start, lag, stop):
    """Sum of log|1 + R| and sum of |p r (1 + R)| over the ends in [start, stop)."""
    logs = 0.0
    total = 0.0
    product = 1.0
    for e in range(start, stop):
        s = e - lag
        size = abs(expansion(high, low, e, s))
        total += p[e] * r[s] * size
        # Few logarithms: sizes are multiplied while that is safe.
        if 1e-100 < size < 1e100:
            product *= size
            if not 1e-100 < product < 1e100:
                logs += math.log(product)
                product = 1.0
        else:
            logs += math.log(size)
    return logs + math.log(product), total


@scalar
def first_order_pass(carry, correction, first, stops, lags, log_windows, sums):
    """Add the windows of the first-order expansion; see `product_pass`. `lags` must increase."""
    n = carry.shape[0]
    units = carry.shape[2]
    carries = np.empty((TILE, n))
    corrections = np.empty((TILE, n))
    logs = np.empty(n)
    room = np.empty((6, n + 2))
    p, r, once, twice, high, low = room[0], room[1], room[2], room[3], room[4], room[5]
    for b in range(carry.shape[1]):
        stop = stops[b]
        if stop <= first:
            continue
        for unit in range(0, units, TILE):
            width = min(TILE, units - unit)
            copy_tile(carry, b, unit, width, stop, carries)
            copy_tile(correction, b, unit, width, stop, corrections)
            for k in range(width):
                q = unit + k
                rate = logarithms(carries[k], stop, logs)
                largest = ratio_prefix(carries[k], corrections[k], stop, high, low)
                fast = largest < RATIO and prefix_products(carries[k], logs, 0, stop, rate, p, r)
                if not fast:
                    first_order_recursion(
                        carries[k], corrections[k], rate, first, stop, lags, log_windows[b, q], sums[b, q]
                    )
                    continue
                prefix_sums(logs, rate, stop, once, twice)
                log_sums(rate, twice, first, stop, lags, log_windows[b, q])
                for i in range(lags.size):
                    start = max(first + 1, lags[i])
                    if start > stop:
                        continue
                    more, total = expansion_sums(p, r, high, low, start, lags[i], stop + 1)
                    log_windows[b, q, i] += more
                    sums[b, q, i] = log_add(sums[b, q, i], rate * lags[i] + math.log(total))
