"""The glossary: the words of `purse.types`, beside the words that others use for the same."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from purse import types
from purse.base.text import first_paragraph
from purse.lab.theory.notions import CONTEXT_NOTIONS, NOTIONS

# other words for a term, which a reader may search for
SYNONYMS = {
    "arm": ("option", "action", "variant", "model", "provider"),
    "budget": ("cap", "spend limit", "spending limit", "cost limit", "quota"),
    "hold": ("reservation", "authorisation", "pre-authorisation"),
    "horizon": ("number of requests", "time limit"),
    "mask": ("available arms", "feasible set"),
    "context": ("features", "covariates", "side information"),
    "report": ("feedback", "outcome", "settlement"),
    "policy": ("algorithm", "router", "routing strategy", "bandit algorithm"),
    "world": ("environment", "simulator"),
    "campaign": ("budgeted experiment", "spend guard"),
    "account": ("team budget", "tenant budget", "shared budget", "budget hierarchy"),
    "label": ("tag", "cost allocation tag", "chargeback"),
    "path": ("run", "repetition", "replicate"),
    "journal": ("event log", "audit log"),
    "overrun": ("overspend",),
    "recommendation": ("best arm", "winner", "best-arm identification"),
}
# words of the field that are no nouns of the project
MORE = {
    "campaign": "a budget, its tickets and the policy that chooses the arms, kept in a database; "
    "see [Campaigns](../campaigns.md)",
    "journal": "the entries of a campaign, in order; see [Design](../design.md)",
    "propensity": "the probability with which a policy chose an arm: `probability` of a ticket, "
    "and a column of a log; see [Your own data](../replay.md)",
    "pacing": "spending a budget so that it lasts until the horizon; `replan` and "
    "`primal-dual-bwk` do it, see [Policies](../policies/index.md)",
    "rate limit": "a limit on requests in a time: `purse serve --rate` has one, see [In "
    "production](../operations.md), and an arm whose calls fail with one cools down, see [Real "
    "traffic](../traffic.md)",
    "regret": "how much more a reference gains than a policy, usually the best arm alone; see "
    "[Concepts](../concepts.md)",
    "normalised regret": "regret as a part of what the reference gains: 0 is as good, 1 is nothing "
    "gained",
    "bandits with knapsacks": "the problem of this package: choose arms, learn what they pay and "
    "cost, and stop when a resource is spent",
    "off-policy evaluation": "what a policy would have gained, estimated from the log of another; "
    "see [Your own data](../replay.md)",
    "shadow price": "what one more unit of a resource is worth; policies with *price* in their "
    "names learn it",
}


def terms() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the sections of the glossary in `purse.types`, with what their words mean."""
    text = inspect.cleandoc(types.__doc__ or "").partition("--------\n")[2]
    for section in text.partition("Letters for sizes")[0].strip().split("\n\n"):
        title, *lines = section.splitlines()
        yield (
            title,
            {
                match[1]: match[2]
                for line in lines
                if (match := re.fullmatch(r"(\S+(?: \S+)*?) {2,}(.*)", line))
                or (match := re.fullmatch(r"(\S+) (.*)", line))
            },
        )


def regrets() -> dict[str, str]:
    """Return each notion of regret, as `purse lab regret` explains it."""
    every = NOTIONS | CONTEXT_NOTIONS
    return {name: first_paragraph(notion.__doc__).rstrip(".") for name, notion in every.items()}


def page() -> str:
    """Return the page."""
    parts = ["# Glossary", "A word in `purse` has one meaning; other words for it stand below it."]
    sections = [*terms(), ("Words of the field", MORE), ("Notions of regret", regrets())]
    for title, words in sections:
        entries = []
        for word, meaning in words.items():
            names = "\n".join([word, *SYNONYMS.get(word, ())])
            entries.append(f"{names}\n  {meaning[0].upper()}{meaning[1:]}.")
        parts += [f"## {title}", "```{glossary}\n" + "\n\n".join(entries) + "\n```"]
    return "\n\n".join(parts) + "\n"
