"""What worlds do not take: the message names the field, its value and what is allowed."""

import re
from math import inf, nan

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base.spec import parse

WORDS = {
    "AMOUNT": "must be a number with at most nine decimals, up to 4,611,686,018",
    "FINITE": "must be a finite number",
    "LONG": "must be a whole number from 1 to 1000000000000",
    "POSITIVE": "must be positive, at least 1e-9",
    "SHARE": "must lie between 0 and 1",
    "PART": "must be a number at least 0 and at most 1",
    "ABOVE": "must be a number above 0",
    "UP": "must be a whole number from 1 up",
    "ONE_AXIS": "must have 1 dimension and at least one entry",
    "TWO_AXES": "must have 2 dimensions and at least one entry",
    "USED": "must not be negative, and each arm needs a resource that it always uses",
}
# a bad value of a field of the world's example | what is said; a message that begins with "must"
# comes behind the field and the value
REFUSED = """
ad_slots values [.5] | values has 1 arms, and clicks has 3
ad_slots prices [.1] | costs of shape (1,) do not match rewards of 3 arms
ad_slots views 0 | {UP}
atoms probabilities [[.7,.7],[1,0]] | probabilities=[[1.4, 1.0]]: must sum to 1 for each arm
atoms probabilities [[1.5,-.5],[1,0]] | probabilities=1.5: {SHARE}
atoms probabilities [[nan,1],[1,0]] | probabilities=nan: {FINITE}
atoms probabilities [.5,.5] | {TWO_AXES}
atoms probabilities [[1],[1]] | probabilities (1, 2, 1), rewards (1, 2, 2) and costs
atoms rewards [[1,-1],[1,1]] | rewards=-1.0: {SHARE}
atoms costs [[1,0],[1,1]] | costs=0: {POSITIVE}
atoms costs [1,1] | costs of shape (2,) do not match rewards of shape (2, 2)
atoms costs np.ones((2,2,1,1)) | costs of shape (2, 2, 1, 1) do not match rewards
atoms costs np.ones((2,2,0)) | costs of shape (2, 2, 0) do not match rewards
atoms costs [[[0,0],[1,1]],[[1,1],[1,1]]] | costs=0: {USED}
auction bids [.1,0] | must be positive
auction bids [] | {ONE_AXIS}
auction bids [[.1]] | {ONE_AXIS}
auction bids [.01,.04] | must have a bid that can win at a positive price
auction rivals [.1,.2,.3,-.1] | must not be negative
auction rivals [.1,.2] | chances has 4 entries, and rivals has 2
auction rivals [0,0,0,0] | bids=[0.1, 0.2, 0.4, 0.8]: must have a bid that can win
auction chances [.4,.3,.2,.2] | must sum to 1, and not to 1.1
auction chances [1.4,0,0,-.4] | chances=1.4: {SHARE}
auction conversion 1.5 | {PART}
auction auctions 0 | {UP}
bernoulli rewards [1.1,.5,0] | rewards=1.1: {SHARE}
bernoulli rewards [-.1,.5,0] | rewards=-0.1: {SHARE}
bernoulli rewards [nan,.5,0] | rewards=nan: {FINITE}
bernoulli rewards [inf,.5,0] | rewards=inf: {FINITE}
bernoulli rewards ["high",.5,0] | must be a rectangular array of numbers
bernoulli rewards [[.5,.5,.5]] | {ONE_AXIS}
bernoulli rewards [] | {ONE_AXIS}
bernoulli rewards .5 | {ONE_AXIS}
bernoulli costs [1,1,0] | costs=0: {POSITIVE}
bernoulli costs [1,1,1e-10] | costs=0: {POSITIVE}
bernoulli costs [1,1,-1] | costs=-1: {POSITIVE}
bernoulli costs [1,1,nan] | costs=nan: {AMOUNT}
bernoulli costs [1,1,inf] | costs=inf: {AMOUNT}
bernoulli costs [1,1,"x"] | costs='x': {AMOUNT}
bernoulli costs [1,1,"0.0000000001"] | costs='0.0000000001': {AMOUNT}
bernoulli costs [[1],[1,2],[1]] | must be a rectangular array of numbers
bernoulli costs [1,1] | costs of shape (2,) do not match rewards of 3 arms
bernoulli costs 1 | costs of shape () do not match rewards of 3 arms
bernoulli costs np.ones((3,0)) | costs of shape (3, 0) do not match rewards of 3 arms
bernoulli costs [[0,0],[1,1],[1,1]] | costs=0: {USED}
bernoulli costs [[-1,1],[1,1],[1,1]] | costs=-1: {USED}
beta rewards [-1e-9,0,0] | rewards=-1e-09: {SHARE}
beta costs [.05,.5,.5] | must lie between cost_min=0.1 and cost_max=1
beta concentration 0 | {ABOVE}
beta concentration "tight" | {ABOVE}
beta concentration 1e10 | {ABOVE} and at most 1e+09
class_contexts classes 0 | must be a whole number from 1 to 256
corrupted rounds 0 | {LONG}
corrupted rounds 1.5 | {LONG}
corrupted rounds True | {LONG}
corrupted fake_rewards [.1] | fake_rewards has 1 arms, and rewards has 3
corrupted fake_rewards [.1,1.1,0] | fake_rewards=1.1: {SHARE}
corrupted costs [1] | costs of shape (1,) do not match rewards of 3 arms
drifting rounds 0 | {LONG}
drifting rounds [1,2] | {LONG}
drifting rewards [[.1,.5,.1]] | must have at least two rows
drifting rewards [[1,0,0],[0,0,-1e-9]] | rewards=-1e-09: {SHARE}
drifting costs [1] | costs of shape (1,) do not match rewards of shape (2, 3)
linear_contexts arms 0 | must be a whole number from 1
linear_contexts features 257 | must be a whole number from 1 to
linear_contexts rows 0 | {UP}
linear_contexts rows 10**6 | must be at most 200,000 for 5 arms
linear_contexts seed -1 | must be a whole number from 0 up
linear_contexts strength 2 | must be
logistic_contexts horizon 0 | {UP}
moving_costs efficiencies [1.5,0] | efficiencies=1.5: must be at least 0, and times any cost at
moving_costs efficiencies [-.5,0] | efficiencies=-0.5: must be at least 0
moving_costs costs [[.5]] | costs has 1 arms, and efficiencies has 2
outages up [[1,1]] | must be rows of 3 entries, 0 or 1, one for each arm
outages up [[1,2,0]] | must be rows of 3 entries, 0 or 1, one for each arm
outages up [[1,0,0],[0,0,0]] | must have an arm that may be played in each row
outages up "down" | must be rows of 0 and 1
outages segments [3,1,2] | segments has 3 lengths, and up has 2 rows
outages segments None | up has 2 segments, and {INNER} has 1 phases; pass segments=...
pricing prices [1,2] | chances has 4 entries, and prices has 2
pricing prices [0,1,1,1] | must be positive
pricing chances [1.5,0,0,0] | chances=1.5: {SHARE}
pricing customers 0 | {UP}
requests rounds 0 | must be a whole number from 1 to 100000
requests kinds [[1,1],[0,1]] | must be rows of 3 entries, 0 or 1, one for each arm
requests kinds [[1,1,1]] | kinds has 1 rows, and shares has 2 entries
requests kinds None | kinds and shares: give both, or none
requests shares None | kinds and shares: give both, or none
requests shares [[.5,.4],[0,0]] | must be numbers from 0 up, and not all 0
requests shares [1.5,-.5] | must be numbers from 0 up, and not all 0
requests run 0 | must be a whole number from 1 to 200
requests told 1 | must be True or False
routing prompts -1 | {UP}
routing_contexts steepness -1 | must be a number at least 0 and at most 100
similar_costs cost_min .6 | must be a number
similar_costs n_arms 1 | must be a whole number from 2
similar_costs best 5 | must be a whole number from 0 to 4
spend_or_save budget 1 | must be a whole number from 2 to 1000000000000
spend_or_save budget 10.5 | must be a whole number from 2 to 1000000000000
spend_or_save cost_min 1.1 | {ABOVE} and at most 1
spend_or_save cost_min 1e-12 | must be at least 1e-9
spend_or_save later 1.1 | {PART}
spend_or_save fixed_costs 1 | must be True or False
switching segments [1,2,3] | segments has 3 lengths, and rewards has 2 segments
switching segments [] | segments has 0 lengths, and rewards has 2 segments
switching segments [1,1.5] | segments=1.5: {LONG}
switching segments [0,2] | segments=0: {LONG}
switching segments "long" | {LONG}
switching segments [[1],[2,3]] | segments=[1]: {LONG}
switching rewards [[1,0],[0,1.2]] | rewards=1.2: {SHARE}
switching rewards [[],[]] | {TWO_AXES}
switching costs [1,0] | costs=0: {POSITIVE}
switching costs [1,1,1] | costs of shape (3,) do not match rewards of shape (2, 2)
switching costs [[1,1]] | costs of shape (1, 2) do not match rewards of shape (2, 2)
table rewards [[1.5,0]]*3 | rewards=1.5: {SHARE}
table costs [[1,0]]*3 | costs=0: {POSITIVE}
table costs [[1,1]] | costs of shape (1, 2) do not match rewards of shape (3, 2)
table shuffle "yes" | must be True or False
table sample 1 | must be True or False
table sample True | shuffle and sample: a table has one of them
table features [[1],[2]] | features of shape (2, 1) do not match 3 rows of 2 arms
table features [[inf]] | features=inf: {FINITE}
table features 3 | {ONE_AXIS}
table horizon 4 | must be a whole number from 1 to 3
theorem2 n_arms 2.5 | must be a whole number from 1 to 10000000
theorem2 budget 0 | {ABOVE}
theorem2 budget .62 | must be at least 4 scale² K c = 0.625
theorem2 scale 4 | budget=100: must be at least 4 scale² K c = 160
theorem2 scale 1e200 | must be
theorem2 scale -1 | must be a number at least 0
theorem2 cost_min 0 | {ABOVE}
theorem2 cost_min 1e-12 | must be at least 1e-9
theorem2 best 5 | must be a whole number from 0 to 4
theorem5 budget .99 | must be a number at least 1
theorem5 budget True | must be a number at least 1
theorem5 budget 5e9 | {AMOUNT}
theorem5 alpha 1.1 | {PART}
theorem5 best 2 | must be a whole number from 0 to 1
two_point rewards [1.5,0] | rewards=1.5: {SHARE}
two_point costs [.05,.5] | must lie between cost_min=0.2 and cost_max=1
two_point costs [1.2,.5] | must lie between cost_min=0.2 and cost_max=1
two_point costs [.5] | costs of shape (1,) do not match rewards of 2 arms
two_point costs [[.5,.5],[.5,.5]] | must be one mean for each arm: this world has one resource
two_point cost_min 0 | {POSITIVE}
two_point cost_min nan | {AMOUNT}
two_point cost_max "much" | {AMOUNT}
two_point cost_max .05 | cost_min=0.2: must be at most cost_max=0.05
two_worlds world 3 | must be a whole number from 1 to 2
two_worlds budget 10.5 | {LONG}
two_worlds cost_min 1.1 | {ABOVE} and at most 1
two_worlds cost_min 1e-12 | must be at least 1e-9
"""


@pytest.mark.parametrize("row", REFUSED.strip().splitlines())
def test_a_bad_value_is_refused_by_name(row: str) -> None:
    call, message = row.split(" | ")
    name, field, text = call.split(" ", 2)
    options = parse(worlds.example(name))[1]
    value = eval(text, {"nan": nan, "inf": inf, "np": np})
    said = message.format(**WORDS, INNER=options.get("world"))
    if said.startswith("must"):
        said = f"{field}={value!r}: {said}"
    if name in ("similar_costs", "spend_or_save", "theorem2", "theorem5", "two_worlds"):
        options["budget"] = 100
    with pytest.raises(purse.InvalidInput, match="^" + re.escape(said)):
        worlds.function(name)(**options | {field: value})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bernoulli:reward=1", "unknown option of bernoulli 'reward'; did you mean 'rewards'?"),
        ("same_costs:budget=1", "unknown option of same_costs 'budget'; there are none"),
        ("bernoulli:rewards=[.5]", "bernoulli needs costs; write bernoulli:costs=..."),
        ("table", "table needs rewards, costs; write table:rewards=...,costs=..."),
        ("theorem2", "theorem2 needs n_arms, cost_min; write theorem2:n_arms=...,cost_min=..."),
        ("bernouli:rewards=[.5],costs=[1]", "unknown world 'bernouli'; did you mean 'bernoulli'?"),
        ("qqqqq", "unknown world 'qqqqq'; known: ad_slots, atoms"),
        ("_draw", "unknown world '_draw'"),
        (
            "two_worlds:2",
            "cannot read 'two_worlds:2'; write name or name:option=value,option=value",
        ),
        ("two_worlds:world=", "cannot read 'two_worlds:world='"),
        ("two_worlds:world=1+1", "cannot read 'two_worlds:world=1+1'"),
        ("spend_or_save:fixed_costs=yes", "fixed_costs='yes': must be True or False"),
    ],
)
def test_text_that_cannot_be_used_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match="^" + re.escape(message)):
        worlds.make(text, budget=10)
