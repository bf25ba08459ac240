"""Settings of the documentation site. Pages on policies, worlds and the API are written from the
code when the site is built.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import generate
import pictures

import purse

project = "purse"
author = "The purse developers"
release = purse.__version__
extensions = ["myst_parser", "sphinx_copybutton", "mathml"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "purse"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]  # the pages, for programs that read
html_show_sourcelink = False
html_show_copyright = False
smartquotes = False  # quotes and dashes stand as the source has them
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in signatures: arrays, paths and the like
python_maximum_signature_line_length = 70
add_module_names = False

generate.write(HERE)
pictures.draw(HERE / "pictures")
