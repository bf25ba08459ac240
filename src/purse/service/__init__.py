"""The HTTP service over `purse.Campaign`: `purse serve`."""
