/* The game that every program of this folder plays: Bernoulli rewards, a fixed cost per arm, until a pull cannot be paid.
   Compiled with LIMITS=2 it also ends after two rounds for each unit of the budget, and with LIMITS=3 there is a second
   resource with a budget of its own, as large; then what pays more costs more, lest one arm be the best of all.
   With FEATURES each round has a context, drawn from a table of ROWS, that shifts means and costs; a rule may let a round pass then.
   Usage: PROGRAM ARMS BUDGET RUNS [FEATURES]. Prints rounds per second of processor time, the mean gain of a run and its standard error.
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

#define ROWS 1024      /* contexts; a power of two */
#define MOST_NUMBERS 64
#define SKIP -2        /* what `choose` returns to let a round pass */
static int features;   /* numbers of a context besides the constant */
static double contexts[ROWS][MOST_NUMBERS]; /* the constant last */
static const double *seen = contexts[0];    /* the context of the round */

static void prepare(void);                                   /* constants of the rule */
static void begin(void);                                     /* a new run */
static int choose(long t, double left, double *p);           /* an arm and its probability, or SKIP; -1 ends the game */
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

/* The contexts are a lattice: number f of row r is r 5^f modulo ROWS, mapped to (-1, 1). */
static void write_contexts(void) {
  for (long r = 0; r < ROWS; r++) {
    long step = r;
    for (int f = 0; f < features; f++, step = step * 5 % ROWS) contexts[r][f] = (2 * step + 1.0) / ROWS - 1;
    contexts[r][features] = 1;
  }
}

/* The mean reward and the cost of an arm in the context of the round. */
static inline double mean_now(int arm) { return features ? mean[arm] + (arm % 2 ? -0.15 : 0.15) * seen[arm % features] : mean[arm]; }

static inline double cost_now(int arm) { return features ? cost[arm] + 0.05 * seen[(arm + 1) % features] : cost[arm]; }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 5) return 2;
  const int runs = atoi(argv[3]);
  arms = atoi(argv[1]), budget = atof(argv[2]);
  if (arms < 2 || arms > MOST) return 2;
  features = argc > 4 ? atoi(argv[4]) : 0;
  if (features < 0 || features >= MOST_NUMBERS) return 2;
  horizon = (long)(2 * budget);
  for (int i = 0; i < arms; i++) {
    const double part = (double)i / (arms - 1);
    mean[i] = 0.1 + 0.72 * part;
    cost[i] = LIMITS > 1 ? 0.2 + 0.7 * part * part : 0.9 - 0.54 * part;
    second_cost[i] = 0.2 + 2.8 * part * (1 - part);
    if (features) mean[i] = 0.15 + 0.62 * part, cost[i] = 0.25 + 0.6 * part * part;
  }
  write_contexts();
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
      if (features) seen = contexts[(int)(uniform() * ROWS)];
      const int arm = INITIAL_PULLS && t <= arms ? (int)t - 1 : choose(t, left, &p);
      if (arm == SKIP) continue;
      if (arm < 0) break;
      const double reward = uniform() < mean_now(arm), price = cost_now(arm);
      if (price > left || (LIMITS > 2 && second_cost[arm] > second_left)) break;
      left -= price;
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
