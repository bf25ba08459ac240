/* The game that every program of this folder plays: Bernoulli rewards, a fixed cost per arm, until a pull cannot be paid.
   Compiled with LIMITS=2 it also ends after two rounds for each unit of the budget, and with LIMITS=3 there is a second
   resource with a budget of its own, as large; then what pays more costs more, lest one arm be the best of all.
   Usage: PROGRAM ARMS BUDGET RUNS. Prints rounds per second of processor time, the mean gain of a run and its standard error.
   A program says what its rule remembers and defines the four functions below; `INITIAL_PULLS` where each arm is pulled once, in order, at first. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 100000 /* no power of two, lest arrays share cache lines */
#ifndef INITIAL_PULLS
#define INITIAL_PULLS 0
#endif
#ifndef LIMITS
#define LIMITS 1
#endif
#define RESOURCES (LIMITS > 2 ? 2 : 1)

static const double c_min = 0.2; /* what a player is told: costs lie between this and 1 */
static int arms;
static long horizon; /* rounds, with LIMITS > 1 */
static double budget, mean[MOST], cost[MOST];
static double second_cost[MOST], second_left; /* of the second resource, with LIMITS > 2 */

static void prepare(void);                                   /* constants of the rule */
static void begin(void);                                     /* a new run */
static int choose(long t, double left, double *p);           /* an arm and its probability; -1 ends the game */
static void learn(long t, int arm, double p, double reward); /* a pull that was paid */

static uint64_t counter;

static double uniform(void) {
  uint64_t z = counter += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The arm with the largest score, each of several equally likely. */
static inline int largest(const double *scores) {
  static int tied[MOST];
  double top = -INFINITY;
  int ties = 0;
  for (int i = 0; i < arms; i++) {
    if (scores[i] > top) top = scores[i], ties = 0;
    if (scores[i] == top) tied[ties++] = i;
  }
  return tied[ties > 1 ? (int)(uniform() * ties) : 0];
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int runs = atoi(argv[3]);
  arms = atoi(argv[1]), budget = atof(argv[2]);
  if (arms < 2 || arms > MOST) return 2;
  horizon = (long)(2 * budget);
  for (int i = 0; i < arms; i++) {
    const double x = (double)i / (arms - 1);
    mean[i] = 0.1 + 0.72 * x;
    cost[i] = LIMITS > 1 ? 0.2 + 0.7 * x * x : 0.9 - 0.54 * x;
    second_cost[i] = 0.2 + 2.8 * x * (1 - x);
  }
  prepare();
  double sum = 0, squares = 0;
  long rounds = 0;
  const double start = seconds();
  for (int run = 0; run < runs; run++) {
    counter = (uint64_t)(run + 1) << 40;
    double left = budget, gain = 0;
    second_left = budget;
    long t = 0;
    begin();
    for (;;) {
      double p = 1;
      t++;
      if (LIMITS > 1 && t > horizon) break;
      const int arm = INITIAL_PULLS && t <= arms ? (int)t - 1 : choose(t, left, &p);
      if (arm < 0) break;
      const double reward = uniform() < mean[arm];
      if (cost[arm] > left || (LIMITS > 2 && second_cost[arm] > second_left)) break;
      left -= cost[arm];
      if (LIMITS > 2) second_left -= second_cost[arm];
      gain += reward;
      learn(t, arm, p, reward);
    }
    rounds += t - 1;
    sum += gain;
    squares += gain * gain;
  }
  const double elapsed = seconds() - start, average = sum / runs;
  printf("%.0f %.17g %.17g\n", rounds / elapsed, average, runs > 1 ? sqrt((squares / runs - average * average) / (runs - 1)) : 0);
  return 0;
}
