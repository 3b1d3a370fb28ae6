"""The style sheet, new figures without pyplot, and saving in both formats."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Width of one column of a two-column page, in inches.
COLUMN_WIDTH = 3.4


def style() -> AbstractContextManager[None]:
    """Context in which figures follow the package's style sheet.

    Returns
    -------
    context manager
        Use it in a `with` statement; the settings are restored afterwards.

    Examples
    --------
    >>> import levycollapse as lc
    >>> with lc.plotting.style():
    ...     ax = lc.plotting.new_axes()
    >>> [float(size) for size in ax.figure.get_size_inches()]
    [3.4, 2.7]
    """
    sheet = files("levycollapse.plotting") / "levycollapse.mplstyle"
    return mpl.rc_context(fname=str(sheet))


class _Figure(Figure):
    """A figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=2 * self.dpi)
        return buffer.getvalue()


def new_axes(**figure_options: Any) -> Axes:
    """Axes of a new figure that pyplot does not know of.

    Parameters
    ----------
    **figure_options
        Passed to `matplotlib.figure.Figure`, e.g. `figsize` in inches.

    Returns
    -------
    matplotlib.axes.Axes
        Their figure is `ax.figure`, which a notebook shows.

    Examples
    --------
    >>> import levycollapse as lc
    >>> lc.plotting.new_axes(figsize=(3, 2)).get_xscale()
    'linear'
    """
    axes: Axes = _Figure(**figure_options).add_subplot()
    return axes


def save_figure(ax: Axes, stem: str | Path) -> list[Path]:
    """Save the figure of `ax` as PNG and PDF, each complete or not at all.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any axes of the figure.
    stem : str or Path
        Path without ending; its folder must exist.

    Returns
    -------
    list of Path
        The two files.

    Raises
    ------
    OSError
        If the folder does not exist or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import levycollapse as lc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in lc.plotting.save_figure(lc.plotting.new_axes(), f"{folder}/empty")]
    ['empty.png', 'empty.pdf']
    """
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("ax belongs to no figure")
    paths = []
    for ending, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        path = Path(f"{stem}.{ending}")
        unfinished = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        try:
            figure.savefig(unfinished, format=ending, metadata=metadata)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        paths.append(path)
    return paths
