/* EXP3++.BwK, the floor that the engine is held against. The confidence bounds are left out, because with the theory's beta they
   cannot matter within these budgets (it stops with an error if they could). */
#define SWEEP 1
#include "game.h"

static double log_arms, beta, loss[MOST], weight[MOST];

static void prepare(void) {
  log_arms = log(arms);
  beta = 256 / (c_min * c_min);
}

static void begin(void) {
  for (int i = 0; i < arms; i++) loss[i] = 0;
}

static int choose(long t, double left, double *p) {
  const double root = sqrt(log_arms / ((double)arms * t));
  const double rate = fmin(0.5 / arms, 0.5 * root), gamma = 0.5 * c_min * root;
  if (beta * log(t) * c_min * c_min / t < rate) exit(1);
  double low = loss[0], sum = 0;
  for (int i = 1; i < arms; i++) low = fmin(low, loss[i]);
  for (int i = 0; i < arms; i++) sum += weight[i] = exp(-gamma * (loss[i] - low));
  const double scale = (1 - arms * rate) / sum;
  double u = uniform();
  for (int i = 0;; i++) {
    *p = scale * weight[i] + rate;
    if (u < *p || i == arms - 1) return i;
    u -= *p;
  }
}

static void learn(long t, int arm, double p, double reward) {
  if (t > arms) loss[arm] += (1 / c_min - reward / cost[arm]) / p;
}
