/* UCB-BV1: an index with a logarithm for all and a root per arm. */
#define INITIAL_PULLS 1
#include "game.h"

static double pulls[MOST], rewards[MOST], costs[MOST], score[MOST];

static void prepare(void) {}

static void begin(void) {
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = costs[i] = 0;
}

static int choose(long t, double left, double *p) {
  const double log_t = log(t - 1);
  for (int i = 0; i < arms; i++) {
    const double eta = sqrt(log_t / pulls[i]);
    score[i] = eta < c_min ? rewards[i] / costs[i] + (1 + 1 / c_min) * eta / (c_min - eta) : INFINITY;
  }
  return largest(score);
}

static void learn(long t, int arm, double p, double reward) {
  pulls[arm]++;
  rewards[arm] += reward;
  costs[arm] += cost[arm];
}
