"""The instances that several claims are tried on."""

from purse.lab.study.compare import DEFAULT_WORLDS

# five arms, i.i.d. rewards, a constant cost each; the best efficiency is 1.4
FIVE = str(DEFAULT_WORLDS["stochastic"])
TEN = "bernoulli:rewards=[.42,.5,.4,.3,.6,.3,.35,.45,.5,.2],costs=[.3,.5,.6,.4,.9,.5,.6,.7,.8,.4]"
# constant arms (1, 1) and (0.05, 0.1)
CHEAP_ARM = "atoms:probabilities=[[1],[1]],rewards=[[1],[.05]],costs=[[1],[.1]]"
# constant arms (1, 1) and (0.005, 0.1)
CHEAPER_ARM = "atoms:probabilities=[[1],[1]],rewards=[[1],[.005]],costs=[[1],[.1]]"
WORLD_1, WORLD_2 = (f"two_worlds:cost_min=0.1,world={number}" for number in (1, 2))
PLAYERS = ("exp3.bwk", "exp3++.bwk")
