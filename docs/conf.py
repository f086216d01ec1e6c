"""How the site is built: from packages alone, and no page asks for anything elsewhere."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import foldwise  # noqa: E402

project = "foldwise"
copyright = "the foldwise authors"  # noqa: A001
version = release = foldwise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    # Ours, in _ext.
    "drawings",
    "mathml",
    "reference",
    "screens",
    "results",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
nitpicky = True
# Names that the engine keeps to itself.
nitpick_ignore = [
    ("py:class", "TaskLostError"),
    ("py:class", "TaskEndedError"),
    ("py:func", "whole_file"),
]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
numpydoc_use_plots = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": "__",
    "plot_gallery": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "reset_argv": "reference.gallery_arguments",
    "image_scrapers": ("matplotlib", "screens.written_report"),
    "reset_modules": ("matplotlib", "screens.whole_pictures"),
    "show_memory": False,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("foldwise",),
    "default_thumb_file": str(DOCS / "_static" / "thumb.png"),
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r"$^",
}

html_theme = "pydata_sphinx_theme"
html_title = "foldwise"
html_static_path = ["_static"]
html_css_files = ["drawings.css", "foldwise.css", "report.css"]
html_search_scorer = str(DOCS / "scorer.js")
html_favicon = "_static/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "foldwise",
        "image_light": "_static/icon.svg",
        "image_dark": "_static/icon.svg",
    },
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
    "navigation_with_keys": False,
}
html_sidebars = {"index": [], "generated/benchmarks": [], "contributors": [], "changes": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
