"""What can be accumulated along a run that is too long to store: counts and moments, exactly, so that pieces merge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import FINITE, NON_NEGATIVE, FloatArray, as_float_array, checked
from .._kernels.accumulate import LIMBS, add_exactly, carry, count_cells
from ..errors import ParameterError

#: Values taken at a time, so that powers and exponentials need no more than a few MB.
CHUNK = 1 << 18


class Observer(ABC):
    """Accumulator over the states of a simulation; `Histogram`, `Moments` and `TimescaleMoments` are some.

    Parameters
    ----------
    every : int, optional
        Look at the states after every so many steps.
    after : float, optional
        Only later than this time (burn-in).

    Raises
    ------
    ParameterError
        If `every` is not an integer >= 1 or `after` is negative.

    See Also
    --------
    levycollapse.simulate : Takes observers as `observe`.
    levycollapse.observed : Gives them back from a result.

    Notes
    -----
    All paths and all times looked at are pooled. Accumulation is exact, so that the result does not depend on the
    number of threads, on the order, or on how a run was cut into pieces. A subclass sets `kind`, extends `_settings`
    by the other arguments of its constructor, and defines `count`, `_take`, `_absorb`, `_state` and `_restore`.

    Examples
    --------
    >>> import levycollapse as lc
    >>> first, second = lc.Moments(orders=[1]), lc.Moments(orders=[1])
    >>> first.update([1.0, 2.0])
    >>> second.update([6.0])
    >>> first.merge(second).values
    array([3.])
    """

    kind: ClassVar[str]

    def __init__(self, *, every: int = 1, after: float = 0.0) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            raise ParameterError(f"every={every!r} must be an integer >= 1")
        self.every = int(every)
        self.after = float(checked("after", after, NON_NEGATIVE))

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of values seen."""

    def _settings(self) -> dict[str, Any]:
        """Arguments of the constructor, in types that strict JSON has."""
        return {"every": self.every, "after": self.after}

    @abstractmethod
    def _take(self, zeta: FloatArray) -> None:
        """Take in finite values."""

    @abstractmethod
    def _absorb(self, other: Self) -> None:
        """Take in what another observer with the same settings has seen."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """What was seen, in types that strict JSON has."""

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """Inverse of `_state`, on an empty observer."""

    def update(self, zeta: Any) -> None:
        """Take in values.

        Parameters
        ----------
        zeta : array_like
            Finite values of any shape; `simulate` hands over arrays of shape (times, paths).
        """
        self._take(np.asarray(zeta, dtype=float))

    def fresh(self) -> Self:
        """Make an empty observer with the same settings.

        Returns
        -------
        Observer
            It has seen nothing.
        """
        return type(self)(**self._settings())

    def add(self, other: Self) -> None:
        """Take in what another observer has seen.

        Parameters
        ----------
        other : Observer
            One of the same kind and settings, from other paths, other times or another process.

        Raises
        ------
        ParameterError
            If kinds or settings differ.
        """
        mine, theirs = (self.kind, self._settings()), (other.kind, other._settings())
        if mine != theirs:
            raise ParameterError(f"observers with different settings cannot merge: {mine} and {theirs}")
        self._absorb(other)

    def merge(self, other: Self) -> Self:
        """Make an observer that has seen what both have.

        Parameters
        ----------
        other : Observer
            As in `add`.

        Returns
        -------
        Observer
            The pooled observer; neither argument changes.

        Raises
        ------
        ParameterError
            If kinds or settings differ.
        """
        merged = self.fresh()
        merged.add(self)
        merged.add(other)
        return merged

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that strict JSON has.

        Returns
        -------
        dict
            Kind, settings and what was seen.
        """
        return {"kind": self.kind, "settings": self._settings(), "state": self._state()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Make an observer again from `to_dict`.

        Parameters
        ----------
        record : dict
            What `to_dict` gave.

        Returns
        -------
        Observer
            An equal observer.

        Raises
        ------
        ParameterError
            If `record` is anything else.
        """
        try:
            observer = cls(**record["settings"])
            observer._restore(record["state"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"record must be what {cls.__name__}.to_dict gave: {type(error).__name__}: {error}"
            ) from None
        return observer


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class Histogram(Observer):
    """Counts of zeta in cells.

    Parameters
    ----------
    edges : array_like
        Increasing edges of the cells; a cell contains its left edge.
    every : int, optional
        As in `Observer`.
    after : float, optional
        As in `Observer`.

    Attributes
    ----------
    edges : ndarray, shape (n + 1,)
        The edges.
    counts : ndarray of int64, shape (n,)
        Values in each cell.
    below, above : int
        Values left of the first edge, and at or right of the last.
    density : ndarray, shape (n,)
        The counts as a density of zeta: divided by the width of the cell and by the number of all values seen.

    Raises
    ------
    ParameterError
        If the edges do not increase.

    Examples
    --------
    >>> import levycollapse as lc
    >>> histogram = lc.Histogram([-1.0, 0.0, 1.0])
    >>> histogram.update([-3.0, -0.5, 0.0, 0.5])
    >>> histogram.counts, histogram.below, histogram.above
    (array([1, 2]), 1, 0)
    """

    kind = "histogram"

    def __init__(self, edges: Any, *, every: int = 1, after: float = 0.0) -> None:
        super().__init__(every=every, after=after)
        self.edges = np.ascontiguousarray(checked("edges", edges, FINITE))
        if self.edges.ndim != 1 or self.edges.size < 2 or not (np.diff(self.edges) > 0).all():
            raise ParameterError("edges must be at least two increasing numbers")
        self._counts: NDArray[np.int64] = np.zeros(self.edges.size + 1, np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Values in each cell."""
        return self._counts[1:-1]

    @property
    def below(self) -> int:
        """Values left of the first edge."""
        return int(self._counts[0])

    @property
    def above(self) -> int:
        """Values at or right of the last edge."""
        return int(self._counts[-1])

    @property
    def count(self) -> int:
        """Number of values seen."""
        return int(self._counts.sum())

    @property
    def density(self) -> FloatArray:
        """Counts as a density of zeta; nan before anything was seen."""
        return np.asarray(self.counts / (np.diff(self.edges) * (self.count or np.nan)))

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "edges": self.edges.tolist()}

    def _take(self, zeta: FloatArray) -> None:
        count_cells(zeta.ravel(), self.edges, self._counts)

    def _absorb(self, other: Self) -> None:
        self._counts += other._counts

    def _state(self) -> dict[str, Any]:
        return {"counts": self._counts.tolist()}

    def _restore(self, state: dict[str, Any]) -> None:
        counts = state["counts"]
        if not isinstance(counts, list) or len(counts) != self._counts.size or not all(map(_is_count, counts)):
            raise ParameterError(f"record: counts must be {self._counts.size} integers >= 0")
        self._counts[:] = counts


class Moments(Observer):
    """Moments E (zeta - about)**k over all paths and times.

    Parameters
    ----------
    orders : sequence of int, optional
        Orders k >= 1.
    about : float, optional
        Origin.
    every : int, optional
        As in `Observer`.
    after : float, optional
        As in `Observer`.

    Attributes
    ----------
    orders : tuple
        The orders.
    values : ndarray
        The moments, each the exactly rounded mean of the rounded powers; nan before anything was seen.

    Raises
    ------
    ParameterError
        If an order is not an integer >= 1.

    Notes
    -----
    Values of one path at neighbouring times are dependent: `count` values do not make a standard error.

    Examples
    --------
    >>> import levycollapse as lc
    >>> moments = lc.Moments(orders=(1, 2))
    >>> moments.update([1.0, 2.0, 6.0])
    >>> moments.values
    array([ 3.        , 13.66666667])
    """

    kind = "moments"

    def __init__(self, orders: Any = (1, 2, 3, 4), *, about: float = 0.0, every: int = 1, after: float = 0.0) -> None:
        super().__init__(every=every, after=after)
        self.about = float(checked("about", about, FINITE))
        self.orders: tuple[Any, ...] = tuple(self._checked_orders(orders))
        self._count = 0
        self._limbs: NDArray[np.int64] = np.zeros((len(self.orders), LIMBS), np.int64)

    @staticmethod
    def _checked_orders(orders: Any) -> list[Any]:
        array = np.atleast_1d(as_float_array("orders", orders))
        if array.ndim > 1 or not array.size or not ((array >= 1) & (array == np.round(array))).all():
            raise ParameterError(f"orders={orders!r} must be a list of integers >= 1")
        return [int(k) for k in array]

    def _summands(self, zeta: FloatArray, order: Any) -> FloatArray:
        centered = zeta - self.about
        power = centered.copy()
        for _ in range(order - 1):
            power *= centered
        return power

    @property
    def count(self) -> int:
        """Number of values seen."""
        return self._count

    @property
    def values(self) -> FloatArray:
        """The moments in the order of `orders`."""
        if self._count == 0:
            return np.full(len(self.orders), np.nan)
        return np.array([float(Fraction(total, self._count << 1074)) for total in self._totals()])

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "orders": list(self.orders), "about": self.about}

    def _take(self, zeta: FloatArray) -> None:
        flat = zeta.ravel()
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            for order, limbs in zip(self.orders, self._limbs, strict=True):
                with np.errstate(over="ignore"):
                    summands = self._summands(part, order)
                bad = ~np.isfinite(summands)
                if bad.any():
                    raise ParameterError(f"a moment of order {order} overflows at zeta={float(part[bad][0])!r}")
                add_exactly(summands, limbs)
        self._count += flat.size

    def _absorb(self, other: Self) -> None:
        self._limbs += other._limbs
        for limbs in self._limbs:
            carry(limbs)
        self._count += other._count

    def _state(self) -> dict[str, Any]:
        """Sums as integers in units of 2**-1074."""
        return {"count": self._count, "sums": [hex(total) for total in self._totals()]}

    def _restore(self, state: dict[str, Any]) -> None:
        if not _is_count(state["count"]):
            raise ParameterError(f"record: count={state['count']!r} must be an integer >= 0")
        self._count = state["count"]
        for limbs, text in zip(self._limbs, state["sums"], strict=True):
            total = int(text, 16)
            limbs[:-1] = [(total >> (32 * i)) & 0xFFFFFFFF for i in range(LIMBS - 1)]
            limbs[-1] = total >> (32 * (LIMBS - 1))

    def _totals(self) -> list[int]:
        return [sum(int(limb) << (32 * i) for i, limb in enumerate(limbs)) for limbs in self._limbs]


class TimescaleMoments(Moments):
    """Moments E tau**s = E exp(-s zeta) of the time scale over all paths and times.

    Parameters
    ----------
    orders : sequence of float, optional
        Orders s, of either sign. The sample mean has finite variance only for s below half of the spectral exponent.
    every : int, optional
        As in `Observer`.
    after : float, optional
        As in `Observer`.

    Attributes
    ----------
    orders : tuple
        The orders, of which ``values`` has the moments, as in `Moments`.

    Raises
    ------
    ParameterError
        If an order is not finite.

    References
    ----------
    THEORY 5.

    Examples
    --------
    >>> import levycollapse as lc
    >>> moments = lc.TimescaleMoments(orders=[0.5])
    >>> moments.update([0.0])
    >>> moments.values
    array([1.])
    """

    kind = "timescale-moments"

    def __init__(self, orders: Any = (0.25, 0.5), *, every: int = 1, after: float = 0.0) -> None:
        super().__init__(orders, every=every, after=after)

    @staticmethod
    def _checked_orders(orders: Any) -> list[Any]:
        array = np.atleast_1d(checked("orders", orders, FINITE))
        if array.ndim > 1:
            raise ParameterError(f"orders has shape {array.shape}; it must be a list of numbers")
        return [float(s) for s in array]

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name != "about"}

    def _summands(self, zeta: FloatArray, order: Any) -> FloatArray:
        return np.asarray(np.exp(-order * zeta))


KINDS: dict[str, type[Observer]] = {cls.kind: cls for cls in (Histogram, Moments, TimescaleMoments)}
