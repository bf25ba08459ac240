/* PrimalDualBwK for one resource without a horizon: the ratio of an upper to a lower bound, which change only for the arm that was pulled. */
#define INITIAL_PULLS 1
#include "game.h"

static double pulls[MOST], rewards[MOST], costs[MOST], upper[MOST], lower[MOST], score[MOST];

static void prepare(void) {}

static void begin(void) {
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = costs[i] = lower[i] = 0, upper[i] = 1;
}

static int choose(long t, double left, double *p) {
  for (int i = 0; i < arms; i++) score[i] = lower[i] > 0 ? upper[i] / lower[i] : INFINITY;
  return largest(score);
}

static double radius(double x, double n) { return sqrt(x / n) + 1 / n; }

static void learn(long t, int arm, double p, double reward) {
  const double n = ++pulls[arm], r = (rewards[arm] += reward) / n, c = (costs[arm] += cost[arm]) / n;
  upper[arm] = fmin(1, r + radius(r, n));
  lower[arm] = fmax(0, c - radius(c, n));
}
