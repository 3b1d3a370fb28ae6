"""What became of a learnability window."""

from __future__ import annotations

from enum import IntEnum


class WindowStatus(IntEnum):
    """Whether there is a window, and whether its edge could be found."""

    #: The edge was found.
    REACHED = 0
    #: Not even lag 1 is detected: the window is 0.
    NONE = 1
    #: Every lag of the table is detected (to the end of the contiguous stretch): its edge lies beyond.
    BEYOND_TABLE = 2
    #: Nothing in the table is detected, and it begins above lag 1: the edge lies before it, or there is none. Also for
    #: the asymptote of a tail, which says nothing of short lags.
    BELOW_TABLE = 3
    #: The edge is beyond the largest double: the window is inf.
    OVERFLOW = 4
    #: The model has no stationary law, hence no envelope.
    NO_LAW = 5
    #: The stationary law could not be computed accurately enough (phase diagrams only; elsewhere an exception says so).
    NOT_COMPUTED = 6
