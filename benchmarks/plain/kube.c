/* KUBE: the greedy knapsack of what is left, in the order of an index; the order of the round before is sorted by insertion. */
#define INITIAL_PULLS 1
#include "game.h"

static double pulls[MOST], rewards[MOST], score[MOST], count[MOST];
static int order[MOST];

static void prepare(void) {}

static void begin(void) {
  for (int i = 0; i < arms; i++) pulls[i] = rewards[i] = 0, order[i] = i;
}

static int choose(long t, double left, double *p) {
  const double log_t = 2 * log(t - 1);
  for (int i = 0; i < arms; i++) score[i] = (rewards[i] / pulls[i] + sqrt(log_t / pulls[i])) / cost[i];
  for (int j = 1; j < arms; j++) {
    const int i = order[j];
    int k = j;
    while (k > 0 && score[order[k - 1]] < score[i]) order[k] = order[k - 1], k--;
    order[k] = i;
  }
  double total = 0;
  for (int k = 0; k < arms; k++) {
    const int i = order[k];
    count[i] = floor(left / cost[i]);
    left -= count[i] * cost[i];
    total += count[i];
  }
  if (total == 0) return -1;
  double u = uniform() * total;
  int arm = 0;
  while (arm < arms - 1 && u >= count[arm]) u -= count[arm++];
  *p = count[arm] / total;
  return arm;
}

static void learn(long t, int arm, double p, double reward) {
  pulls[arm]++;
  rewards[arm] += reward;
}
