/* Uniform play: what the game itself takes. */
#include "game.h"

static void prepare(void) {}

static void begin(void) {}

static int choose(long t, double left, double *p) {
  *p = 1.0 / arms;
  return (int)(uniform() * arms);
}

static void learn(long t, int arm, double p, double reward) {}
