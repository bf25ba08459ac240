"""An option that the commands of research share."""

from purse.cli.options import option

quick_option = option(
    "--quick", "Small budgets and few paths: a look, not for quoting.", is_flag=True
)
