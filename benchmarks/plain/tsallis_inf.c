/* Tsallis-INF: Newton's method for the one number that makes the weights sum to 1, from where it ended in the round before. */
#include "game.h"

static double x, loss[MOST], weight[MOST];

static void prepare(void) {}

static void begin(void) {
  x = -INFINITY;
  for (int i = 0; i < arms; i++) loss[i] = 0;
}

static int choose(long t, double left, double *p) {
  const double eta = 2 / sqrt(t);
  double low = loss[0];
  for (int i = 1; i < arms; i++) low = fmin(low, loss[i]);
  if (t == 1) x = low - 2 / eta;
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
  *p = weight[arm];
  return arm;
}

static void learn(long t, int arm, double p, double reward) { loss[arm] += (1 - reward) / p; }
