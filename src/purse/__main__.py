"""`python -m purse` is the command `purse`."""

from purse.cli import main

main()
