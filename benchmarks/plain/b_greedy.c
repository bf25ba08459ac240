/* b-greedy: the best ratio so far, which changes only for the arm that was pulled, and any arm with probability K / t. */
#define INITIAL_PULLS 1
#include "game.h"

static double rewards[MOST], costs[MOST], ratio[MOST];

static void prepare(void) {}

static void begin(void) {
  for (int i = 0; i < arms; i++) rewards[i] = costs[i] = 0;
}

static int choose(long t, double left, double *p) {
  if (uniform() < (double)arms / t) return (int)(uniform() * arms);
  return largest(ratio);
}

static void learn(long t, int arm, double p, double reward) {
  rewards[arm] += reward;
  costs[arm] += cost[arm];
  ratio[arm] = rewards[arm] / costs[arm];
}
