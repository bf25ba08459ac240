"""`purse campaign new`: create a campaign."""

from __future__ import annotations

from typing import Any

import click

from purse.campaign import defaults
from purse.cli import complete
from purse.cli.campaign.amounts import amounts, arm_of, bounds
from purse.cli.campaign.contexts import features_of
from purse.cli.campaign.periods import renewed
from purse.cli.options import Duration, stored
from purse.errors import invalid
from purse.policies import DEFAULT


@click.command()
@click.argument("name")
@click.option(
    "--arm",
    "arms",
    multiple=True,
    required=True,
    metavar="NAME=COST",
    help="Arm and the most that a pull of it may cost; repeat it for each arm.",
)
@click.option(
    "--budget",
    required=True,
    metavar="AMOUNT",
    help="Amount that may be spent in all, or in each period.",
)
@click.option(
    "--cost-min",
    metavar="AMOUNT",
    help=f"Least that a pull costs [default: its largest cost / {defaults.LEAST_SHARE:,}].",
)
@click.option(
    "--resource",
    "resources",
    multiple=True,
    default=defaults.RESOURCES,
    show_default=True,
    help="Resource that is spent; repeat it for several, and give amounts as 0.01,500.",
)
@click.option(
    "--policy",
    default=DEFAULT,
    show_default=True,
    help="Name, name:option=value,... or the path of a policy file.",
)
@click.option("--horizon", type=int, metavar="T", help="Rounds after which the game ends.")
@click.option(
    "--expires-after",
    type=Duration(),
    default=f"{defaults.EXPIRES_AFTER // 3600}h",
    show_default=True,
    help="Time after which a ticket without a report counts as spent: 90s, 30m, 1h, 7d or never.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed: the same seed and the same reports give the same choices.",
)
@click.option(
    "--cooldown",
    type=Duration(),
    default=f"{defaults.COOLDOWN}s",
    show_default=True,
    help="Time for which an arm is not chosen after a call failed, doubled by the next failure "
    "up to 5m; or never.",
)
@click.option(
    "--reward-within",
    type=Duration(),
    default="never",
    show_default=True,
    help="Time after its cost in which a reward has to come; never: any time.",
)
@click.option(
    "--missing-reward",
    metavar="REWARD",
    help="What a reward counts as that does not come in time; with --reward-within.",
)
@click.option(
    "--reward-range",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="Least and largest reward [default: 0 1].",
)
@click.option(
    "--explore",
    metavar="SHARE",
    help="Share of the money for arms drawn at random, such as 0.05.",
)
@click.option(
    "--capacity",
    type=int,
    metavar="K",
    help="Places for arms, for add-arm [default: as many as are named].",
)
@click.option(
    "--cost-ceiling",
    "ceilings",
    multiple=True,
    metavar="COST|NAME=COST",
    help="How high set-arm may move the largest cost, of all arms or of one [default: not at all].",
)
@click.option(
    "--features",
    metavar="NAME,...|JSON",
    help='What a context holds: names, or JSON such as {"length": [0, 8000], "source": ["chat", '
    '"code"]} [default: no contexts].',
)
@renewed
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=complete.accounts,
    help="Account above it, from which its money comes, too [default: none].",
)
@click.option(
    "--alert",
    "alerts",
    multiple=True,
    metavar="RULE",
    help="Event that webhooks are told of: 80% of the budget, overrun, cooling-down or expired; "
    "repeat it for several.",
)
@click.option(
    "--exist-ok",
    is_flag=True,
    help="Take the campaign of this name where there is one with the same values.",
)
@stored
def new(
    name: str,
    arms: tuple[str, ...],
    budget: str,
    cost_min: str | None,
    resources: tuple[str, ...],
    missing_reward: str | None,
    explore: str | None,
    ceilings: tuple[str, ...],
    features: str | None,
    storage: str,
    **options: Any,
) -> None:
    """Create a campaign and print its status.

    The least cost is for the policy, which sees no cost below it. The largest cost of an arm is
    what an ask holds: no call may cost more.
    """
    from purse.campaign.campaign import Campaign

    count = len(resources)
    pairs = dict(arm_of(text, count) for text in arms)
    if len(pairs) < len(arms):
        raise invalid("arm", list(arms), "must be different names")
    whole = amounts("budget", budget, count)
    check_fits(whole, pairs)
    least = least_of(cost_min, pairs, count)
    if missing_reward is not None:
        options["missing_reward"] = number_or_word(missing_reward)
    made = Campaign.create(
        name,
        arms=pairs,
        budget=whole,
        cost_min=list(least.values()),
        resources=resources,
        cost_ceiling=bounds("cost-ceiling", ceilings, pairs, count),
        features=features_of(features),
        explore=None if explore is None else number_or_word(explore),
        storage=storage,
        **options,
    )
    click.echo(str(made.status()))
    if cost_min is None:
        said = ", ".join(f"{arm} {','.join(costs)}" for arm, costs in least.items())
        click.echo(f"A pull is taken to cost at least: {said} (--cost-min changes it)", err=True)


def check_fits(budget: list[str], arms: dict[str, list[str]]) -> None:
    """Refuse a budget that cannot cover the largest cost of any arm."""
    from purse.base.amounts import to_units

    have = [to_units("budget", amount) for amount in budget]
    need = {arm: [to_units(f"arm {arm}", amount) for amount in most] for arm, most in arms.items()}
    if not any(all(a <= b for a, b in zip(most, have, strict=True)) for most in need.values()):
        arm = min(need, key=need.__getitem__)
        raise invalid(
            "budget",
            ",".join(budget),
            f"must cover the largest cost of an arm; that of {arm!r} is {','.join(arms[arm])}",
        )


def least_of(cost_min: str | None, arms: dict[str, list[str]], count: int) -> dict[str, list[str]]:
    """Return the least that a pull of each arm costs: as typed, or from its largest cost."""
    from purse.base.amounts import cost_array
    from purse.campaign.terms import least_costs

    if cost_min is not None:
        return dict.fromkeys(arms, amounts("cost-min", cost_min, count))
    most = cost_array("arms", list(arms.values()), len(arms), count)
    return dict(zip(arms, least_costs(most), strict=True))


def number_or_word(text: str) -> Any:
    """Return a number, or the text where it is none; the library checks it."""
    try:
        return float(text)
    except ValueError:
        return text
