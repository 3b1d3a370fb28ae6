"""Sphinx configuration; `make docs` builds with warnings as errors."""

import shutil
from pathlib import Path

import levycollapse as lc

HERE = Path(__file__).parent

project = "levycollapse"
author = "The levycollapse developers"
copyright = "2026, the levycollapse developers"
version = release = lc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "check_docstrings.py", "conf.py"]
html_theme = "pydata_sphinx_theme"
html_title = "levycollapse"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_static_path = ["_static"]
html_css_files = ["wide.css"]
PLAIN = "index quickstart theory simulation stationary learnability networks tails panels training changelog"
html_sidebars = {page: [] for page in PLAIN.split()}

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"
myst_enable_extensions = ["dollarmath", "amsmath"]

# Notebooks are Python scripts; a copy is executed here at every build.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

notebooks = HERE / "notebooks"
shutil.rmtree(notebooks, ignore_errors=True)
notebooks.mkdir()
for source in sorted((HERE.parent / "notebooks").glob("*.py")):
    shutil.copy(source, notebooks / source.name)
