/* EXP3.P: exponential weights on estimated gains, to which every arm's bonus is added in every round. */
#include "game.h"

static double eta, gamma_, beta, gain[MOST], chance[MOST];

static void prepare(void) {
  const double rounds = ceil(budget / c_min), log_arms = log(arms);
  beta = sqrt((log_arms - log(0.05)) / (arms * rounds));
  eta = 0.95 * sqrt(log_arms / (arms * rounds));
  gamma_ = 1.05 * sqrt(arms * log_arms / rounds);
  if (gamma_ > 0.5) gamma_ = 1;
}

static void begin(void) {
  for (int i = 0; i < arms; i++) gain[i] = 0;
}

static int choose(long t, double left, double *p) {
  double top = gain[0], sum = 0;
  for (int i = 1; i < arms; i++) top = fmax(top, gain[i]);
  for (int i = 0; i < arms; i++) sum += chance[i] = exp(eta * (gain[i] - top));
  for (int i = 0; i < arms; i++) chance[i] = (1 - gamma_) * chance[i] / sum + gamma_ / arms;
  double u = uniform();
  int arm = 0;
  while (arm < arms - 1 && u >= chance[arm]) u -= chance[arm++];
  *p = chance[arm];
  return arm;
}

static void learn(long t, int arm, double p, double reward) {
  for (int i = 0; i < arms; i++) gain[i] += beta / chance[i];
  gain[arm] += reward / p;
}
