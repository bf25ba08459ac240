/* Budgeted Thompson sampling: four gammas an arm (Marsaglia and Tsang), normals by the polar method, two at a time. */
#include "game.h"

static double shape[MOST][4], spare;
static int has_spare;

static double normal(void) {
  if (has_spare) return has_spare = 0, spare;
  double x, y, s;
  do {
    x = 2 * uniform() - 1, y = 2 * uniform() - 1;
    s = x * x + y * y;
  } while (s >= 1 || s == 0);
  const double scale = sqrt(-2 * log(s) / s);
  has_spare = 1, spare = y * scale;
  return x * scale;
}

static double gamma_draw(double a) {
  const double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    const double x = normal(), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    const double u = uniform();
    if (u < 1 - 0.0331 * x * x * x * x || log(u) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
  }
}

static double beta_draw(double a, double b) {
  const double x = gamma_draw(a);
  return x / (x + gamma_draw(b));
}

static void prepare(void) {}

static void begin(void) {
  has_spare = 0;
  for (int i = 0; i < arms; i++)
    for (int k = 0; k < 4; k++) shape[i][k] = 1;
}

static int choose(long t, double left, double *p) {
  double best = -1;
  int arm = 0;
  for (int i = 0; i < arms; i++) {
    const double ratio = beta_draw(shape[i][0], shape[i][1]) / beta_draw(shape[i][2], shape[i][3]);
    if (ratio > best) best = ratio, arm = i;
  }
  return arm;
}

static void learn(long t, int arm, double p, double reward) {
  shape[arm][uniform() < reward ? 0 : 1]++;
  shape[arm][uniform() < cost[arm] ? 2 : 3]++;
}
