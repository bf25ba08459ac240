/* EXP3++.BwK, the floor that the engine is held against: the game of game.h written out, which is a twentieth faster. The confidence
   bounds are left out, because with the theory's beta they cannot matter within these budgets (it stops with an error if they could). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 100000 /* no power of two, lest arrays share cache lines */

static uint64_t counter;

static double uniform(void) {
  uint64_t z = counter += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int arms = atoi(argv[1]), runs = atoi(argv[3]);
  const double budget = atof(argv[2]), c_min = 0.2, beta = 256 / (c_min * c_min);
  static double mean[MOST], cost[MOST], loss[MOST], weight[MOST];
  if (arms < 2 || arms > MOST) return 2;
  for (int i = 0; i < arms; i++) mean[i] = 0.1 + 0.72 * i / (arms - 1), cost[i] = 0.9 - 0.54 * i / (arms - 1);
  const double log_arms = log(arms);
  double sum_gains = 0, squares = 0;
  long rounds = 0;
  const double start = seconds();
  for (int run = 0; run < runs; run++) {
    counter = (uint64_t)(run + 1) << 40;
    double left = budget, gain = 0;
    for (int i = 0; i < arms; i++) loss[i] = 0, left -= cost[i], gain += uniform() < mean[i];
    long t = arms;
    for (;;) {
      t++;
      const double log_t = log(t), root = sqrt(log_arms / ((double)arms * t));
      const double rate = fmin(0.5 / arms, 0.5 * root), gamma = 0.5 * c_min * root;
      if (beta * log_t * c_min * c_min / t < rate) return 1;
      double low = loss[0], sum = 0;
      for (int i = 1; i < arms; i++) low = fmin(low, loss[i]);
      for (int i = 0; i < arms; i++) sum += weight[i] = exp(-gamma * (loss[i] - low));
      const double scale = (1 - arms * rate) / sum;
      double u = uniform(), p = 0;
      int arm = 0;
      for (;; arm++) {
        p = scale * weight[arm] + rate;
        if (u < p || arm == arms - 1) break;
        u -= p;
      }
      const double reward = uniform() < mean[arm];
      if (cost[arm] > left) break;
      left -= cost[arm];
      gain += reward;
      loss[arm] += (1 / c_min - reward / cost[arm]) / p;
    }
    rounds += t - 1;
    sum_gains += gain;
    squares += gain * gain;
  }
  const double elapsed = seconds() - start, average = sum_gains / runs;
  printf("%.0f %.17g %.17g\n", rounds / elapsed, average, runs > 1 ? sqrt((squares / runs - average * average) / (runs - 1)) : 0);
  return 0;
}
