"""The HTTP service over `purse.Campaign`: `purse serve`."""

import sys

if sys.platform == "win32":
    raise ImportError("purse serve needs Linux or macOS; Windows has the library and the client")
