/* omega-UCB: Wilson's upper bound on the mean reward over Wilson's lower bound on the mean cost. */
#define INITIAL_PULLS 1
#include "game.h"

static double pulls[MOST], rewards[MOST], costs[MOST], score[MOST];

static void prepare(void) {}

static void begin(void) {
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = costs[i] = 0;
}

static int choose(long t, double left, double *p) {
  const double z2 = 2 * log(t), z = sqrt(z2);
  for (int i = 0; i < arms; i++) {
    const double n = pulls[i], r = rewards[i], c = costs[i];
    const double upper = (r + z2 / 2 + z * sqrt(r * (n - r) / n + z2 / 4)) / (n + z2);
    const double lower = (c + z2 / 2 - z * sqrt(c * (n - c) / n + z2 / 4)) / (n + z2);
    score[i] = fmin(1, upper) / lower;
  }
  return largest(score);
}

static void learn(long t, int arm, double p, double reward) {
  pulls[arm]++;
  rewards[arm] += reward;
  costs[arm] += cost[arm];
}
