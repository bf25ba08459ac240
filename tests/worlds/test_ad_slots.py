from __future__ import annotations

import purse
from purse import worlds
from purse.engine.draws import draws


def test_ads_take_money_for_clicks_and_an_impression_for_every_view() -> None:
    world = worlds.ad_slots(clicks=[0.1, 0.5], values=[1, 0.2], prices=[0.5, 0.1], views=100)
    rewards, costs = draws(world, 100)
    assert (costs[:, :, 1] == 10**9).all()
    assert set(zip(rewards[:, 0], costs[:, 0, 0], strict=True)) == {(1.0, 5 * 10**8), (0.0, 0)}
    run = purse.simulate("uniform", world, [100, 30], n_paths=5)
    assert (run.rounds == 30).all()
