"""The symbols of the page on the paper: what each stands for, in the order of the page."""

NOTATION = {
    "K, B": "the number of arms; the budget",
    "c": "the smallest cost: costs lie in [c, 1], and rewards in [0, 1]",
    "log": "the natural logarithm",
    "r_t(i), c_t(i)": "reward and cost of arm i in round t",
    "e_t(i)": "r_t(i)/c_t(i), the efficiency of arm i in round t",
    "i_t": "the arm played in round t",
    "τ": "the number of rounds that were paid for",
    "σ": "the round in which the game ends, the unaffordable pull included",
    "G": "the gain, the sum of rewards",
    "T(i)": "the number of rounds that arm i alone can be paid for",
    "i*": "the arm with the largest Σ_{t ≤ T(i)} e_t(i)",
    "μ(i), ρ(i)": "mean reward and mean cost, in i.i.d. worlds",
    "e(i), e*": "μ(i)/ρ(i), and the largest of them",
    "Δ(i)": "e* − e(i), the gap of arm i",
    "N(i)": "the number of pulls of arm i",
    "Σ ρ(i)Δ(i)N(i)": "the pseudo-regret",
    "regret": "how much more the best fixed arm gains on the same draws, where nothing else is "
    "said",
    "γ": "the learning rate of EXP3.BwK",
    "ε_t(i), δ_t(i)": "the exploration rate of EXP3++.BwK, and its third term",
    "Δ̂(i)": "the estimate of Δ(i) in EXP3++.BwK",
    "η, λ, c̄": "what the confidence bounds of EXP3++.BwK are made from; c̄ is a mean cost so far",
    "p, p̃": "the probabilities of EXP3++.BwK before and after exploration",
    "α, β": "the constants in its confidence bounds and in its exploration rate",
    "R(B)": "√2(4√K − 2)√(B + 1)/c + 1/c, what is proved for `tsallis-inf.coin`",
    "X, S": "reward and cost of one of its blocks",
    "C": "Σ_t max_i |E r_t(i) − e(i)·E c_t(i)|, how far a world is from efficiencies e(i)",
    "slope": "of log regret against log B; its interval is a bootstrap over paths, so it tells the "
    "noise and not how well a straight line fits, for which there are the slopes from budget to "
    "budget",
}
