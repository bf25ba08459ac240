"""The help of the options of `purse campaign` and `purse account`.

A default that the method has is added to it; every other one stands in the text.
"""

# {command: {argument of the method: text}}; "account new" stands for what accounts say otherwise
OPTIONS = {
    "new": {
        "arms": "Arm and the most that a pull of it may cost, for several resources as 0.01,500; "
        "or, with --prompt-tokens, a language model; repeat it for each arm",
        "prompt_tokens": "The longest prompt of a language model [default: --arm says what pulls "
        "cost]",
        "answer_tokens": "The longest answer, hidden reasoning included [default: --arm says what "
        "pulls cost]",
        "budget": "The amount that may be spent in all, or in each period; for several resources "
        "as 0.01,500",
        "cost_min": "The least that a pull costs, as the policy knows it: of all arms, or of each "
        "as NAME=COST; repeat it for several [default: a thousandth of the most]",
        "resources": "The names of what is spent, such as USD and tokens; repeat it for several "
        "[default: those of the account above, or units]",
        "horizon": "The number of rounds, of each period; traffic: a forecast from the times of "
        "asks, for which the campaign needs --every or --until; auto: traffic if there is one of "
        "them and the policy plans by forecasts, else no limit; never: no limit",
        "skip": "Let rounds pass without a pull, so that money is kept for others, which needs a "
        "horizon; if not, every ask that is granted has an arm",
        "policy": "A name with options, such as exp3++.bwk:beta=1, or the path of a policy file",
        "seed": "The same seed and the same reports give the same choices",
        "expires_after": "Time after which a ticket without a report counts as spent at its "
        "maximum; never: its hold stays until a report comes",
        "cooldown": "Time for which an arm is not chosen after a call of it failed; twice as long "
        "after the next failure, up to 5 minutes; never: failures have no consequence",
        "reward_within": "Time after its cost in which the reward of a ticket has to come "
        "[default: it may come at any time]",
        "missing_reward": "What a reward counts as that does not come in time; to be given with "
        "--reward-within",
        "reward_range": "The least and the largest reward, such as 0,20 for revenue [default: 0,1]",
        "explore": "The share of the money for arms drawn at random, such as 0.05, so that the "
        "journal can be evaluated [default: nothing]",
        "capacity": "Places for arms; for one more the policy learns its journal again [default: "
        "as many as are named]",
        "cost_ceiling": "The most that a pull may come to cost, as the policy knows it: of all "
        "arms, or of one as NAME=COST; repeat it for several; above it, the policy learns again "
        "[default: what --arm says]",
        "features": 'What a context holds: names, their number, or JSON such as {"length": [0, '
        '8000], "source": ["chat", "code"]} [default: no contexts]',
        "map": "Random cosines of the features that the policy sees, too, such as fourier:48, so "
        "that it can learn what is not linear [default: none]",
        "account": "The account above the campaign, from which its money comes, too [default: "
        "none]",
        "every": "How often the budget is renewed and --horizon begins again: day, week, month, "
        "or hours such as 6h. Days begin at midnight, weeks on Monday, months on the first "
        "[default: never]",
        "until": "The last day, such as 2027-12-31, or a time, such as 2027-12-31T18:00, after "
        "which asks are refused; reports are still taken. never: no end",
        "time_zone": "The time zone of days, weeks and months, and of --until, such as "
        "Europe/Berlin [default: that of the account above, or UTC]",
        "carry": "What is kept at the end of a period of the money that is left: none or all",
        "alerts": "Rules of the events that webhooks are told of: 80% of a budget, from 1% to "
        "100%, overrun, cooling-down, expired and forecast; repeat it for several",
        "limits": "Key of labels and the most that each of its values may spend and hold, in each "
        "period if there are any, such as user=2.00; repeat it for several [default: labels have "
        "no limits]",
        "unlabelled": "What becomes of an ask without a label whose key has a limit: refuse or "
        "allow",
        "exist_ok": "Take the campaign of this name if it was created with the same values",
    },
    "ask": {
        "request_id": "1 to 200 printable characters that name this ask; a repeat prints the same "
        "ticket and holds nothing more",
        "n": "Tickets at most, up to 1,000: as many as fit, and at least one [default: one]",
        "arms": "Arm that may be chosen; repeat it for several [default: all arms]",
        "contexts": "The values of the features, such as length=812,code=0, as JSON, or in a JSON "
        "file; repeat it for each ticket",
        "labels": "What the call is for, such as tenant=acme, which stays in the journal; repeat "
        "it for several",
        "session": "The name of a conversation, whose asks keep the arm of the first one while it "
        "may be chosen, within an hour of the last ask [default: none]",
    },
    "audit": {
        "full": "Begin at the first entry and compare every ticket; otherwise begin where the "
        "last audit that found nothing ended, and compare what has changed since",
        "acknowledged": "File with the numbers of tickets whose reports were acknowledged, one in "
        "each line",
        "noted": "Length and digest of the journal that an earlier status showed",
    },
    "tickets": {
        "states": "Any of held, told, void, presumed, skipped, settled and failed; repeat it for "
        "several",
        "limit": "The number of tickets at most",
        "after": "Only tickets whose number is above this one",
    },
    "probabilities": {
        "arms": "Arm that may be chosen; repeat it for several [default: all arms]",
        "context": "The values of the features, such as length=812,code=0, as JSON, or in a JSON "
        "file",
    },
    "labels": {
        "key": "Only labels with this key [default: with any]",
        "limit": "The number of labels at most, 1 to 10,000; by day that of each day",
        "by": "Day sums the tickets of each day on which they were asked for, in the campaign's "
        "time zone, the latest day last; it reads the whole journal [default: of all days]",
    },
    "top-up": {
        "amount": "A positive amount; for several resources one for each",
        "request_id": "1 to 200 printable characters that name this request; a repeat adds nothing",
    },
    "set-budget": {
        "amount": "What there is in all, top-ups included; of a budget that is renewed, what a "
        "period has in all; for several resources one for each",
        "when": "Now for this period and later ones, next from the next one on",
        "request_id": "1 to 200 printable characters that name this request; a repeat changes "
        "nothing",
    },
    "charge": {
        "amount": "What was spent besides; for several resources one for each",
        "labels": "Of a campaign: its purpose, such as tenant=acme; repeat it for several",
        "note": "For people; the journal keeps the first 200 printable characters",
        "request_id": "1 to 200 printable characters that name this request; a repeat books "
        "nothing",
    },
    "set-alerts": {
        "alerts": "Rules of the events that webhooks are told of: 80% of a budget, from 1% to "
        "100%, overrun, cooling-down, expired and forecast"
    },
    "set-limit": {
        "key": "A key of labels, such as user, for all of its values; or one value, such as "
        "user=ada, whose limit alone changes",
        "amount": "The most that each may spend and hold, in each period if there are any; for "
        "several resources as 0.01,500; none: one value has that of its key again",
    },
    "settle": {"cost": "An amount, at least 0; for several resources as 0.01,500"},
    "reward": {"reward": "From 0 to 1, or in the campaign's range"},
    "fail": {
        "cost": "What it cost all the same, as tell takes it; 0 for a call that was refused or "
        "never sent [default: not known, as after a time-out: the hold stays]",
        "reason": "For people; the journal keeps the first 200 printable characters",
        "rest": "Time for which the arm cools down at least, such as a provider's Retry-After "
        "[default: as long as the campaign says]",
    },
    "add-arm": {
        "cost_min": "The least that a pull costs, for several resources one amount for each "
        "[default: of a new arm the least that new allows, of a retired one as before]",
        "cost_max": "The most that a pull costs, in the same way [default: of a new arm the most "
        "that new allows, of a retired one as before]",
    },
    "set-arm": {
        "cost_min": "The least that a pull costs, for several resources one amount for each "
        "[default: as before]",
        "cost_max": "The most that a pull costs, in the same way [default: as before]",
    },
    "certificate": {"confidence": "Of the statement, above 0 and below 1"},
    "account new": {
        "resources": "The names of what is spent; everything below the account has the same; "
        "repeat it for several [default: those of the account above, or units]",
        "account": "The account above it, which has none above itself [default: none]",
        "every": "How often the budget is renewed and horizon begins again: day, week, month, or "
        "hours such as 6h. Days begin at midnight, weeks on Monday, months on the first [default: "
        "never]",
        "time_zone": "The time zone of days, weeks and months, and of until, such as "
        "Europe/Berlin [default: that of the account above, or UTC]",
        "alerts": "Rules of the events that webhooks are told of: 80% of the budget, from 1% to "
        "100%, and overrun; repeat it for several",
        "exist_ok": "Take the account of this name if it was created with the same values",
    },
    "account set-alerts": {
        "alerts": "Rules of the events that webhooks are told of: 80% of the budget, from 1% to "
        "100%, and overrun"
    },
}
