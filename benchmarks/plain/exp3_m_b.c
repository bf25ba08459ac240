/* EXP3.M.B for one play: exponential weights on reward less cost, and dependent rounding, which draws any number of plays alike. */
#include "game.h"

static double gamma_, rate, log_weight[MOST], weight[MOST], marginal[MOST];

static void prepare(void) {
  gamma_ = fmin(1, sqrt(arms * log(arms) / ((M_E - 1) * budget * (1 - c_min) / c_min)));
  rate = gamma_ / arms;
}

static void begin(void) {
  for (int i = 0; i < arms; i++) log_weight[i] = 0;
}

static int choose(long t, double left, double *p) {
  double top = log_weight[0], sum = 0;
  for (int i = 1; i < arms; i++) top = fmax(top, log_weight[i]);
  for (int i = 0; i < arms; i++) sum += weight[i] = exp(log_weight[i] - top);
  for (int i = 0; i < arms; i++) marginal[i] = (1 - gamma_) * weight[i] / sum + rate;
  double mass = marginal[0]; /* two arms at a time: one of them takes what both have, or is in */
  int open = 0;
  for (int i = 1; i < arms; i++) {
    const double both = mass + marginal[i], u = uniform();
    if (both < 1) {
      if (u * both >= mass) open = i;
      mass = both;
    } else {
      const int in = u * (2 - both) < 1 - marginal[i] ? open : i;
      *p = marginal[in];
      return in;
    }
  }
  *p = marginal[open];
  return open;
}

static void learn(long t, int arm, double p, double reward) { log_weight[arm] += rate * (reward - cost[arm]) / p; }
