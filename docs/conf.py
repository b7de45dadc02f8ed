"""Sphinx reads this file; `make docs` treats every warning as an error."""

import sys
from pathlib import Path

from mlstream import __version__

# The ledger of the soak is read by what writes it, in tests/.
sys.path[:0] = [str(Path(__file__).parent / "_extensions"), str(Path(__file__).parents[1])]

project = "mlstream"
author = "The mlstream developers"
copyright = "2026, The mlstream developers"
release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "generated_text",
    "mathml",
    "rooms",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py"]
default_role = "obj"  # `names` in docstrings become links
html_theme = "pydata_sphinx_theme"
html_title = "mlstream"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css", "gallery.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).parent / "_extensions" / "search_scorer.js")
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_nav_level": 1,
}
# Pages without pages beside them have nothing to navigate on the left; their tables and code need the room.
html_sidebars = {"index": [], "auto_examples/**": []}

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's Parameters section states the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_memory": False,
    # Times would make the pages other ones in each build; their table loads scripts from elsewhere.
    "write_computation_times": False,
    "min_reported_time": 3600,
    "ignore_repr_types": r"matplotlib",
    "abort_on_example_error": True,
    "subsection_order": [f"../examples/{folder}" for folder in ("streams", "learners", "evaluation", "publishing")],
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "gallery_style.reset"),
}
