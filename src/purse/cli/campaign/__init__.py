"""The commands of `purse campaign`."""
