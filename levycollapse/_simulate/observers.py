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

    Notes
    -----
    All paths and all times looked at are pooled. Accumulation is exact, so that the result does not depend on the
    number of threads, on the order, or on how a run was cut into pieces. A subclass defines the members below; it can
    then be handed to `simulate`.
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

    @abstractmethod
    def update(self, zeta: FloatArray) -> None:
        """Take in finite values, an array of any shape."""

    @abstractmethod
    def add(self, other: Self) -> None:
        """Take in what another observer of the same kind and settings has seen."""

    @abstractmethod
    def fresh(self) -> Self:
        """Return an empty observer with the same settings."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that strict JSON has."""

    @classmethod
    @abstractmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Inverse of `to_dict`."""

    def merge(self, other: Self) -> Self:
        """Return a new observer that has seen what both have.

        Parameters
        ----------
        other : Observer
            One of the same kind and settings, from other paths, other times or another process.

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

    def _settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "every": self.every, "after": self.after}

    def _same_settings(self, other: Observer) -> None:
        mine, theirs = self._settings(), other._settings()
        if mine != theirs:
            raise ParameterError(f"observers with different settings cannot merge: {mine} and {theirs}")


class Histogram(Observer):
    """Counts of zeta in cells.

    Parameters
    ----------
    edges : array_like
        Increasing edges of the cells; a cell contains its left edge.
    every, after
        As in `Observer`.

    Attributes
    ----------
    edges : ndarray, shape (n + 1,)
    counts : ndarray of int64, shape (n,)
        Values in each cell.
    below, above : int
        Values left of the first edge, and at or right of the last.

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

    def density(self) -> FloatArray:
        """Counts as a density of zeta: divided by the width of the cell and the number of values seen."""
        density: FloatArray = self.counts / (np.diff(self.edges) * max(self.count, 1))
        return density

    def update(self, zeta: Any) -> None:
        """Take in finite values; see `Observer`."""
        count_cells(np.asarray(zeta, dtype=float).ravel(), self.edges, self._counts)

    def add(self, other: Self) -> None:
        """Take in what another histogram has seen; see `Observer`."""
        self._same_settings(other)
        self._counts += other._counts

    def fresh(self) -> Self:
        """Return an empty histogram with the same settings."""
        return type(self)(self.edges, every=self.every, after=self.after)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that strict JSON has."""
        return {**self._settings(), "counts": self._counts.tolist()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Inverse of `to_dict`."""
        histogram = cls(record["edges"], every=record["every"], after=record["after"])
        histogram._counts[:] = record["counts"]
        return histogram

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "edges": self.edges.tolist()}


class Moments(Observer):
    """Moments E (zeta - about)**k over all paths and times.

    Parameters
    ----------
    orders : sequence of int, optional
        Orders k >= 1.
    about : float, optional
        Origin.
    every, after
        As in `Observer`.

    Attributes
    ----------
    orders : tuple
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
        if not array.size or not ((array >= 1) & (array == np.round(array))).all():
            raise ParameterError(f"orders={orders!r} must be integers >= 1")
        return [int(k) for k in array]

    def _summands(self, zeta: FloatArray, order: Any) -> FloatArray:
        centered = zeta - self.about
        power = centered.copy()
        with np.errstate(over="ignore"):
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

    def update(self, zeta: Any) -> None:
        """Take in finite values; see `Observer`."""
        flat = np.asarray(zeta, dtype=float).ravel()
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            for order, limbs in zip(self.orders, self._limbs, strict=True):
                summands = self._summands(part, order)
                if not np.isfinite(summands).all():
                    raise ParameterError(
                        f"a moment of order {order} overflows at zeta={part[~np.isfinite(summands)][0]!r}"
                    )
                add_exactly(summands, limbs)
        self._count += flat.size

    def add(self, other: Self) -> None:
        """Take in what another observer has seen; see `Observer`."""
        self._same_settings(other)
        self._limbs += other._limbs
        for limbs in self._limbs:
            carry(limbs)
        self._count += other._count

    def fresh(self) -> Self:
        """Return an empty observer with the same settings."""
        return type(self)(self.orders, about=self.about, every=self.every, after=self.after)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that strict JSON has; the sums are integers in units of 2**-1074."""
        return {**self._settings(), "count": self._count, "sums": [hex(total) for total in self._totals()]}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Inverse of `to_dict`."""
        settings = {name: record[name] for name in ("about", "every", "after")}
        moments = cls(record["orders"], **settings)
        moments._count = record["count"]
        for limbs, text in zip(moments._limbs, record["sums"], strict=True):
            total = int(text, 16)
            limbs[:-1] = [(total >> (32 * i)) & 0xFFFFFFFF for i in range(LIMBS - 1)]
            limbs[-1] = total >> (32 * (LIMBS - 1))
        return moments

    def _totals(self) -> list[int]:
        return [sum(int(limb) << (32 * i) for i, limb in enumerate(limbs)) for limbs in self._limbs]

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "orders": list(self.orders), "about": self.about}


class TimescaleMoments(Moments):
    """Moments E tau**s = E exp(-s zeta) of the time scale over all paths and times.

    Parameters
    ----------
    orders : sequence of float, optional
        Orders s, of either sign. The sample mean has finite variance only for s below half of the spectral exponent.
    every, after
        As in `Observer`.

    Attributes
    ----------
    orders, values
        As in `Moments`.

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

    def __init__(self, orders: Any = (0.25, 0.5), *, about: float = 0.0, every: int = 1, after: float = 0.0) -> None:
        super().__init__(orders, about=about, every=every, after=after)

    @staticmethod
    def _checked_orders(orders: Any) -> list[Any]:
        return [float(s) for s in np.atleast_1d(checked("orders", orders, FINITE))]

    def _summands(self, zeta: FloatArray, order: Any) -> FloatArray:
        with np.errstate(over="ignore"):
            powers: FloatArray = np.exp(-order * (zeta - self.about))
        return powers


KINDS: dict[str, type[Observer]] = {cls.kind: cls for cls in (Histogram, Moments, TimescaleMoments)}
