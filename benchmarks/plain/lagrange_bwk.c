/* LagrangeBwK, stochastic: EXP3.P on what an arm brings at prices of money and of time that follow from what is spent. */
#include "game.h"

static double rounds, stake, step, eta, gamma_, beta, spent, gain[MOST], chance[MOST];

static void prepare(void) {
  rounds = ceil(budget / c_min);
  stake = rounds / budget;
  step = sqrt(8 * log(2) / rounds);
  const double log_arms = log(arms);
  beta = sqrt((log_arms - log(0.05)) / (arms * rounds));
  eta = 0.95 * sqrt(log_arms / (arms * rounds));
  gamma_ = 1.05 * sqrt(arms * log_arms / rounds);
  if (gamma_ > 0.5) gamma_ = 1;
}

static void begin(void) {
  spent = 0;
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
  const double money = step / (1 + stake) * stake * spent, time = step / (1 + stake) * (t - 1);
  const double price = 1 / (1 + exp(time - money)); /* of money; that of time is what is missing to 1 */
  const double worth = (reward + stake - (1 - price) - stake * price * cost[arm]) / (1 + stake);
  spent += cost[arm];
  for (int i = 0; i < arms; i++) gain[i] += beta / chance[i];
  gain[arm] += worth / p;
}
