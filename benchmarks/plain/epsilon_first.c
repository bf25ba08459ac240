/* Epsilon-first: sweep after sweep with the first part of the budget, then the best ratio among the arms that can be paid for. */
#include "game.h"

static double explore, pulls[MOST], rewards[MOST], learnt, score[MOST];

static void prepare(void) {
  double all = 0;
  for (int i = 0; i < arms; i++) all += cost[i];
  const double epsilon = fmin(1, cbrt(all * log(arms * budget / cost[arms - 1]) / (2 * budget)));
  explore = fmin(budget, fmax(epsilon * budget, all));
}

static void begin(void) {
  learnt = 0;
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = 0;
}

static int choose(long t, double left, double *p) {
  const double rest = explore - (budget - left);
  long fitting = 0;
  for (int i = 0; i < arms; i++) fitting += cost[i] <= rest;
  if (fitting > 0) {
    long turn = (t - 1) % fitting;
    for (int i = 0; i < arms; i++)
      if (cost[i] <= rest && turn-- == 0) return i;
  }
  for (int i = 0; i < arms; i++) score[i] = cost[i] > left ? -INFINITY : pulls[i] > 0 ? rewards[i] / pulls[i] / cost[i] : INFINITY;
  const int arm = largest(score);
  return score[arm] > -INFINITY ? arm : -1;
}

static void learn(long t, int arm, double p, double reward) {
  if (pulls[arm] > 0 && learnt + cost[arm] > explore) return;
  learnt += cost[arm];
  pulls[arm]++;
  rewards[arm] += reward;
}
