"""Route calls to three language models under a budget of ten dollars: which one gives most quality
per dollar?

The calls are made up here (`call` below); put yours in its place. Run it: python
examples/route_llm_calls.py
"""

from __future__ import annotations

import random

import purse

MODELS = ["small", "medium", "large"]
QUALITY = [0.55, 0.75, 0.85]
DOLLARS = [0.002, 0.004, 0.02]


def call(model: int) -> tuple[float, str]:
    """Return a call's quality, from 0 to 1, and its price in dollars, which varies with the length
    of the answer.
    """
    return float(random.random() < QUALITY[model]), f"{DOLLARS[model] * random.uniform(0.5, 2):.6f}"


def main() -> None:
    """Spend the budget; a call that fails costs nothing and is voided."""
    random.seed(0)
    policy = purse.Policy(
        "exp3++.price",
        n_arms=len(MODELS),
        budget="10.00",
        cost_min="0.001",
        cost_max="0.05",
        seed=0,
    )
    calls = [0] * len(MODELS)
    while True:
        try:
            ticket = policy.ask()
        except purse.BudgetExhausted:
            break
        if random.random() < 0.01:
            policy.void(ticket)
            continue
        quality, dollars = call(ticket.arm)
        policy.tell(ticket, reward=quality, cost=dollars)
        calls[ticket.arm] += 1
    print(
        f"spent ${policy.spent:.4f} of $10.00 on {sum(calls)} calls; quality in all "
        f"{policy.gain:.0f}"
    )
    for model, count in zip(MODELS, calls, strict=True):
        print(f"  {model:<7} {count:>5} calls")


if __name__ == "__main__":
    main()
