/* Elimination race: layers that see rounds with probabilities 1/2, 1/4, ..., each with its own active arms. */
#include "game.h"

#define LAYERS 64

static int layers, layer, active[LAYERS][MOST / LAYERS], size[LAYERS];
static double log_term, pulls[LAYERS][MOST / LAYERS], rewards[LAYERS][MOST / LAYERS], upper[LAYERS][MOST / LAYERS], lower[LAYERS][MOST / LAYERS];

static void prepare(void) {
  const double rounds = ceil(budget / c_min);
  if (arms > MOST / LAYERS) exit(1);
  layers = (int)fmax(1, ceil(log2(rounds)));
  log_term = log(4 * arms * rounds * layers / 0.05);
}

static void begin(void) {
  for (int l = 0; l < layers; l++) {
    size[l] = arms;
    for (int i = 0; i < arms; i++) active[l][i] = 1, pulls[l][i] = rewards[l][i] = 0, upper[l][i] = INFINITY, lower[l][i] = -INFINITY;
  }
}

static int choose(long t, double left, double *p) {
  double edge = 0.5;
  const double u = uniform();
  for (layer = 0; u < edge && layer < layers; layer++) edge /= 2;
  if (layer == layers) layer = 0;
  int from = layer;
  while (size[from] == 0) from++;
  int skip = (int)(uniform() * size[from]);
  for (int i = 0; i < arms; i++)
    if (active[from][i] && skip-- == 0) return i;
  return -1;
}

static void learn(long t, int arm, double p, double reward) {
  if (size[layer] == 0) return;
  const double n = ++pulls[layer][arm], average = (rewards[layer][arm] += reward) / n, width = log_term / n + sqrt(log_term / n);
  upper[layer][arm] = average + width;
  lower[layer][arm] = average - width;
  double bar = -INFINITY;
  for (int i = 0; i < arms; i++)
    if (active[layer][i]) bar = fmax(bar, lower[layer][i]);
  for (int i = 0; i < arms; i++)
    if (active[layer][i] && upper[layer][i] < bar)
      for (int l = 0; l <= layer; l++) size[l] -= active[l][i], active[l][i] = 0;
}
