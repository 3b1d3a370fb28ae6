"""Figures: every function takes `ax=` and returns it, and none touches pyplot's state."""

from .laws import plot_density as plot_density
from .laws import plot_envelope as plot_envelope
from .paths import plot_distribution as plot_distribution
from .paths import plot_paths as plot_paths
from .phase_diagram import plot_phase_diagram as plot_phase_diagram
from .style import COLUMN_WIDTH as COLUMN_WIDTH
from .style import new_axes as new_axes
from .style import save_figure as save_figure
from .style import style as style
from .verdict import plot_verdict as plot_verdict
from .windows import plot_window as plot_window

__all__ = [
    "COLUMN_WIDTH",
    "new_axes",
    "plot_density",
    "plot_distribution",
    "plot_envelope",
    "plot_paths",
    "plot_phase_diagram",
    "plot_verdict",
    "plot_window",
    "save_figure",
    "style",
]
