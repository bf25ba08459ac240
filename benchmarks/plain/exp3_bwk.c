/* EXP3.BwK: the weights of all arms from their logarithms in every round, and a draw that walks along them. */
#include "game.h"

static double gamma_, rate, log_weight[MOST], weight[MOST];

static void prepare(void) {
  gamma_ = fmin(1, sqrt(c_min * arms * log(arms) / ((M_E - 1) * budget)));
  rate = gamma_ * c_min / arms;
}

static void begin(void) {
  for (int i = 0; i < arms; i++) log_weight[i] = 0;
}

static int choose(long t, double left, double *p) {
  double top = log_weight[0], sum = 0;
  for (int i = 1; i < arms; i++) top = fmax(top, log_weight[i]);
  for (int i = 0; i < arms; i++) sum += weight[i] = exp(log_weight[i] - top);
  double u = uniform();
  for (int i = 0;; i++) {
    *p = (1 - gamma_) * weight[i] / sum + gamma_ / arms;
    if (u < *p || i == arms - 1) return i;
    u -= *p;
  }
}

static void learn(long t, int arm, double p, double reward) { log_weight[arm] += rate * reward / (p * cost[arm]); }
