/* Tsallis-INF with a coin: an arm is held until a coin of its cost shows heads; only then weights are computed, by Newton's method. */
#include "game.h"

static double x, theta, reward_sum, cost_sum, chance, loss[MOST], weight[MOST];
static int held;
static long block;

static void prepare(void) {}

static void begin(void) {
  held = -1, block = 1, x = -INFINITY, theta = 1 / c_min;
  for (int i = 0; i < arms; i++) loss[i] = 0;
}

static int choose(long t, double left, double *p) {
  if (held >= 0) return held;
  const double eta = sqrt(2.0 / block) / theta;
  double low = loss[0];
  for (int i = 1; i < arms; i++) low = fmin(low, loss[i]);
  if (block == 1) x = low - 2 / eta;
  for (;;) {
    double sum = 0, powers = 0;
    x = fmin(x, low - 2 / eta); /* beyond it a weight would be above 1 */
    for (int i = 0; i < arms; i++) {
      const double root = 2 / (eta * (loss[i] - x));
      weight[i] = root * root;
      sum += weight[i];
      powers += weight[i] * root;
    }
    if (fabs(sum - 1) < 1e-9) break;
    x -= (sum - 1) / (eta * powers);
  }
  double u = uniform();
  int arm = 0;
  while (arm < arms - 1 && u >= weight[arm]) u -= weight[arm++];
  held = arm, chance = weight[arm], reward_sum = cost_sum = 0;
  *p = chance;
  return arm;
}

static void learn(long t, int arm, double p, double reward) {
  reward_sum += reward, cost_sum += cost[arm];
  if (uniform() < cost[arm]) loss[arm] += (theta * cost_sum - reward_sum) / chance, held = -1, block++;
}
