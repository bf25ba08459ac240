"""Draw the pictures of the README and of the dashboard: `make images`.

They are committed, because a README is read before anything is built. The dashboard is a screenshot
of the real page in the system's Chromium; the curves are those of the README's `purse compare`.
"""

from __future__ import annotations

import random
import runpy
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import purse
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.service.app import Service
from purse.service.server import Server, listening
from purse.service.settings import Settings

FOLDER = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parent.parent / "examples"
POLICIES = ("replan", "exp3++.bwk", "exp3.bwk", "uniform")
WORLD = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]"
BUDGETS = (1e3, 1e4, 1e5)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C2659B")  # Okabe and Ito, as in the report
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ENTRIES = "html[data-entries]"  # there once the page of a campaign is drawn
START = 1_790_000_000_000  # ms: the page shows the same times whenever it is drawn
MODELS = {  # the largest price of a call in USD, its mean price, how often the answer is good
    "small": ("0.01", 0.004, 0.62),
    "medium": ("0.05", 0.016, 0.78),
    "large": ("0.25", 0.11, 0.87),
}


def compare_figure() -> None:
    """Draw regret against the budget, with 95% intervals, for the README's comparison."""
    import altair as alt

    table = purse.compare(POLICIES, WORLD, budgets=BUDGETS).table()
    rows = [
        {name: row[name] for name in ("policy", "budget", "regret", "low", "high")}
        for row in table.iter_rows(named=True)
    ]
    curves = alt.Chart(alt.InlineData(rows)).encode(
        alt.X("budget:Q", title="budget B", axis=alt.Axis(values=BUDGETS, format=",.0f")).scale(
            type="log", domain=(min(BUDGETS), max(BUDGETS)), nice=False
        ),
        alt.Color("policy:N", legend=None).scale(domain=POLICIES, range=COLOURS),
    )
    regret = alt.Y("regret:Q", title="regret, mean of 50 paths").scale(type="log", domain=(10, 1e5))
    regret = regret.axis(values=[10, 100, 1_000, 10_000, 100_000], format=",.0f")
    names = curves.transform_filter(alt.datum.budget == max(BUDGETS))
    chart = alt.layer(
        curves.mark_area(opacity=0.15).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        curves.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=60)).encode(regret),
        names.mark_text(align="left", dx=12, fontSize=13).encode(regret, alt.Text("policy:N")),
    )
    chart = chart.properties(width=520, height=250, background="white", padding=12)
    chart.configure_view(stroke=None).configure_axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#E4E8EC"
    ).save(FOLDER / "compare.svg")


def spend(storage: Storage) -> None:
    """Create a campaign and let it spend for six hours of its own clock."""
    luck, now, waiting = random.Random(7), START, list[tuple[int, Any]]()
    storage.now = lambda: now
    campaign = purse.Campaign.create(
        "prompts",
        arms={name: price for name, (price, _, _) in MODELS.items()},
        budget="25.00",
        cost_min="0.0001",
        resources=["USD"],
        horizon=1_500,
        storage=storage,
    )
    while now < START + 6 * 3_600_000:
        now += int(luck.expovariate(1 / 20_000))
        waiting.append((now + int(luck.expovariate(1 / 30_000)), campaign.ask()))
        for due, ticket in [item for item in waiting if item[0] <= now]:
            waiting.remove((due, ticket))
            _, price, quality = MODELS[ticket.arm]
            cost = min(price * luck.uniform(0.4, 1.6), float(MODELS[ticket.arm][0]))
            campaign.tell(ticket, float(luck.random() < quality), f"{cost:.6f}")


@contextmanager
def served(storage: Storage) -> Iterator[str]:
    """Serve the storage on a free port of this machine."""
    settings = Settings(storage=storage, port=0)
    server = Server(Service(settings))
    with listening(settings) as (listener, url):
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(30)


@contextmanager
def dashboard(
    storage: Storage, width: int, height: int, page_of: str = "prompts", ready: str = ENTRIES
) -> Iterator[Any]:
    """Open the dashboard in a browser, at the page of a campaign or, if its name is empty, at
    the first one; `ready` is a selector of what is there once the page is.
    """
    browser_path = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser_path is None:
        sys.exit("docs/images.py: there is no Chromium; install it, for example with apt-get")
    from playwright.sync_api import sync_playwright

    with served(storage) as url, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height}, timezone_id="UTC")
        page.goto(f"{url}/#/{page_of}")
        page.wait_for_selector(ready)
        page.wait_for_timeout(1_000)  # ms: what is animated comes to rest
        yield page
        browser.close()


def dashboard_picture() -> None:
    """Photograph the dashboard of a campaign that has spent a part of its budget."""
    storage = in_memory()
    spend(storage)
    with dashboard(storage, 1160, 1246) as page:
        page.screenshot(path=FOLDER / "dashboard.png")


def accounts_picture() -> None:
    """Photograph the tree of accounts of a company with three teams."""
    storage, luck = in_memory(), random.Random(3)
    storage.now = lambda: START
    month: dict[str, Any] = {"every": "month", "carry": "none", "resources": ["USD"]}
    purse.Account.create("acme", budget=1000, storage=storage, **month)
    for team, budget, calls in (("search", 500, 190), ("support", 400, 150), ("research", 300, 90)):
        purse.Account.create(team, account="acme", budget=budget, storage=storage, **month)
        campaign = purse.Campaign.create(
            f"{team}-batches",
            account=team,
            arms={"north": 2, "south": 5},
            budget=budget,
            policy="uniform",
            storage=storage,
            **month,
        )
        for _ in range(calls):
            ticket = campaign.ask()
            campaign.tell(ticket, 1, f"{luck.uniform(0.5, 2):.2f}")
        campaign.ask_many(3)
    ready = "#list:has(tbody):not(:has-text('…'))"  # histories are read one by one
    with dashboard(storage, 1160, 900, "", ready) as page:
        page.screenshot(path=FOLDER / "accounts.png")


def outage_picture() -> None:
    """Photograph what the dashboard says in the outage of `examples/provider_outage.py`."""
    traffic = runpy.run_path(str(EXAMPLES / "provider_outage.py"))["Traffic"]()
    traffic.run(210)
    with dashboard(traffic.storage, 960, 900) as page:
        arms = page.locator("section", has=page.locator("#arms")).bounding_box()
        clip = {"x": 0, "y": 0, "width": 960, "height": arms["y"] + arms["height"] + 20}
        page.screenshot(path=FOLDER / "outage.png", full_page=True, clip=clip)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    dashboard_picture()
    accounts_picture()
    outage_picture()
    compare_figure()
