/* SAO before it switches to EXP3.P, which i.i.d. rewards give it no reason to do (it stops with an error if it would). */
#include "game.h"

static double log_beta, gain[MOST], pulls[MOST], rewards[MOST], stop[MOST], floors[MOST], chance[MOST];

static void prepare(void) {
  const double rounds = ceil(budget / c_min);
  log_beta = log(10 * arms * rounds * rounds * rounds / 0.05);
}

static void begin(void) {
  for (int i = 0; i < arms; i++) gain[i] = pulls[i] = rewards[i] = stop[i] = floors[i] = 0, chance[i] = 1.0 / arms;
}

static int choose(long t, double left, double *p) {
  double u = uniform();
  int arm = 0;
  while (arm < arms - 1 && u >= chance[arm]) u -= chance[arm++];
  *p = chance[arm];
  return arm;
}

static double width(double x) {
  const double ratio = arms * log_beta / x;
  return sqrt(4 * ratio + 5 * ratio * ratio);
}

static void learn(long t, int arm, double p, double reward) {
  const double n = t;
  pulls[arm]++;
  rewards[arm] += reward;
  gain[arm] += reward / p;
  double best = 0, rest = 1;
  int active = 0;
  for (int i = 0; i < arms; i++)
    if (stop[i] == 0) best = fmax(best, gain[i] / n);
  const double wide = 6 * width(n);
  for (int i = 0; i < arms; i++) {
    const double estimate = gain[i] / n, behind = best - estimate;
    if (stop[i] == 0 && behind > wide) stop[i] = n, floors[i] = chance[i] * n;
    const double s = stop[i] > 0 ? stop[i] : n;
    if (stop[i] > 0 && (behind <= 2 * width(s) || (s > 1 && behind > 10 * width(s - 1)))) exit(1);
    const double spread = arms * s / (n * n) + (stop[i] > 0 ? (n - s) / (floors[i] * n) : 0), ratio = arms * log_beta / s;
    const double allowed = sqrt(2 * log_beta / pulls[i]) + sqrt(4 * spread * log_beta + 5 * ratio * ratio);
    if (pulls[i] > 0 && fabs(estimate - rewards[i] / pulls[i]) > allowed) exit(1);
  }
  for (int i = 0; i < arms; i++) {
    chance[i] = floors[i] / (n + 1);
    rest -= chance[i];
    active += stop[i] == 0;
  }
  for (int i = 0; i < arms; i++)
    if (stop[i] == 0) chance[i] = rest / active;
}
