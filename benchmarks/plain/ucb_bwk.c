/* UCB-BwK for one resource without a horizon: bounds of the arm that was pulled, then the best mixture of arms under one limit. */
#include "game.h"

static double c_rad, pace, pulls[MOST], rewards[MOST], costs[MOST], upper[MOST], lower[MOST], share[MOST], total;

static void prepare(void) {
  const double rounds = ceil(budget / c_min);
  c_rad = log(arms * rounds);
  pace = budget / rounds;
}

static void begin(void) {
  total = 1;
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = costs[i] = lower[i] = 0, upper[i] = 1, share[i] = 1.0 / arms;
}

static int choose(long t, double left, double *p) {
  double u = uniform() * total;
  int arm = 0;
  while (arm < arms - 1 && u >= share[arm]) u -= share[arm++];
  *p = share[arm] / total;
  return arm;
}

/* Along the upper hull of the points (lower, upper) from doing nothing to the edge that the limit cuts. */
static void mix(void) {
  double low_cost = 0, low_reward = 0, high_cost = 0, high_reward = 0, weight = 0;
  for (int i = 0; i < arms; i++)
    if (lower[i] == 0) low_reward = fmax(low_reward, upper[i]);
  for (;;) {
    double steepest = 0;
    for (int i = 0; i < arms; i++) {
      if (lower[i] <= low_cost || upper[i] <= low_reward) continue;
      const double slope = (upper[i] - low_reward) / (lower[i] - low_cost);
      if (slope > steepest) steepest = slope, high_cost = lower[i], high_reward = upper[i];
    }
    if (steepest == 0) break;
    if (high_cost > pace) {
      weight = (pace - low_cost) / (high_cost - low_cost);
      break;
    }
    low_cost = high_cost, low_reward = high_reward;
  }
  int n_low = 0, n_high = 0;
  for (int i = 0; i < arms; i++) {
    n_low += lower[i] == low_cost && upper[i] == low_reward;
    n_high += lower[i] == high_cost && upper[i] == high_reward;
  }
  total = 0;
  for (int i = 0; i < arms; i++) {
    share[i] = 0;
    if (lower[i] == low_cost && upper[i] == low_reward) share[i] = (1 - weight) / n_low;
    else if (weight > 0 && lower[i] == high_cost && upper[i] == high_reward) share[i] = weight / n_high;
    total += share[i];
  }
}

static void learn(long t, int arm, double p, double reward) {
  const double n = ++pulls[arm], r = (rewards[arm] += reward) / n, c = (costs[arm] += cost[arm]) / n, scale = c_rad / (n + 1);
  upper[arm] = fmin(1, r + 2 * (sqrt(scale * r) + scale));
  lower[arm] = fmax(0, c - 2 * (sqrt(scale * c) + scale));
  mix();
}
