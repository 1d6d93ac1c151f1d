"""How the documentation is built: `make docs`."""

import re
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import api_pages  # noqa: E402

project = "goodprior"
author = "The goodprior maintainers"
copyright = author
try:
    release = metadata.version("goodprior")
except metadata.PackageNotFoundError:  # built from a source tree
    from goodprior import __version__ as release
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb", "gallery/*.ipynb"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = ["_templates"]
default_role = "code"

# Prose
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Reference
autosummary_generate = True
autosummary_imported_members = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    # Members of these classes, and of classes above them, are not ours to document.
    "inherited-members": "BaseEstimator,RegressorMixin,ClassifierMixin,MultiOutputMixin,"
    "Module,Protocol,tuple,Exception,Kernel,ABC",
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
api_pages.write(HERE / "api")


def skip_what_scikit_learn_adds(app, what, name, obj, skip, options):
    """Methods that scikit-learn writes into every estimator, with references to its own pages."""
    routing = name == "get_metadata_routing" or re.fullmatch("set_.*_request", name)
    return True if routing else skip


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_what_scikit_learn_adds)


sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "reset_modules": ("matplotlib", "between_examples.forget_compiled_programs"),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 0,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "goodprior"
html_static_path = ["_static"]
html_css_files = ["goodprior.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
}
# Pages that are alone in their section have nothing to show beside them.
ALONE = ("index", "install", "quickstart", "choose", "comparison", "method", "reproduction")
ALONE += ("speed", "faq", "glossary", "cite", "changelog")
html_sidebars = {page: [] for page in ALONE}
