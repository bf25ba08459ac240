/* LinUCB.Price: ridge regression of each arm's reward and cost, bounds as wide as the noise that was measured, and one price for money.
   The player is told the same bounds on the costs of all arms: all fit or none does. There is one resource, and there are no late reports. */
#include "game.h"

#if LIMITS > 2
#error "one resource"
#endif

static const double scale = 0.5, eta = 0.2, ridge = 1, guard = 0.05;
static int n;                                        /* numbers of a context */
static double rate;                                  /* rounds of pace that a unit of cost takes */
static double *inverse, *coefficients[2], *room;     /* (arms, n, n), (arms, n) of reward and cost, (n) */
static double squares[2][MOST], sums[2][MOST], top[MOST], reports[MOST];
static double averages[2][MOST], gain[MOST], use[MOST], score[MOST];
static double earned, spent, spread, first_logs, firsts;

static void prepare(void) {
  n = features + 1;
  rate = LIMITS > 1 ? horizon / budget : 1;
  inverse = malloc(sizeof(double) * arms * n * n);
  for (int s = 0; s < 2; s++) coefficients[s] = malloc(sizeof(double) * arms * n);
  room = malloc(sizeof(double) * n);
}

static void begin(void) {
  earned = spread = first_logs = firsts = 0;
  spent = LIMITS > 1 ? 0 : (c_min + 1) / 2;
  for (int i = 0; i < arms; i++) {
    for (int k = 0; k < n; k++)
      for (int m = 0; m < n; m++) inverse[(i * n + k) * n + m] = k == m ? 1 / ridge : 0;
    for (int s = 0; s < 2; s++) {
      for (int k = 0; k < n; k++) coefficients[s][i * n + k] = s == 0 && k == n - 1 ? 0.5 : 0;
      squares[s][i] = sums[s][i] = 0;
    }
    top[i] = reports[i] = 0;
  }
}

static double predict(int s, int i) {
  const double *w = coefficients[s] + i * n;
  double total = 0;
  for (int k = 0; k < n; k++) total += w[k] * seen[k];
  return total;
}

/* x'Vx; V is symmetric: each pair of numbers is met once. */
static double leverage(int i) {
  double total = 0;
  for (int k = 0; k < n; k++) {
    const double *row = inverse + (i * n + k) * n;
    double line = 0.5 * row[k] * seen[k];
    for (int m = k + 1; m < n; m++) line += row[m] * seen[m];
    total += line * seen[k];
  }
  return fmax(0, 2 * total);
}

static double width(double noise, double most, double level, double square, double part) {
  return sqrt(2 * level * (noise + most * most / 4) * part * square) + level * most * square / 3;
}

static void bound_untried(int i, double pulls, double share) {
  const double level = scale * log(1 + pulls);
  gain[i] = 1 - 1 / (1 + sqrt(pulls));
  use[i] = fmax(c_min, fmin(share, sqrt(fmax(c_min, share / 100) * share)) / (1 + sqrt(level) + level));
}

static void bound(int i, double left, double rounds_left, double share) {
  const double reported = reports[i], part = 1 / (reported + 1);
  averages[0][i] = reported > 0 ? sums[0][i] / reported : 0.5;
  averages[1][i] = reported > 0 ? sums[1][i] / reported : share;
  const double pulls = 1 / (fmax(1 / rounds_left, fmax(averages[1][i], c_min) / left) * arms);
  if (reported == 0) {
    bound_untried(i, pulls, share);
    return;
  }
  const double square = leverage(i), speaking = fmax(1, 1 / square - ridge);
  const double level = scale * log(1 + pulls / ((double)n * n * speaking));
  gain[i] = fmin(1, fmax(0, predict(0, i) + width(squares[0][i], 1, level, square, part)));
  const double c = fmax(predict(1, i), 0.01 * averages[1][i]);
  use[i] = fmin(1, fmax(c_min, c * c / (c + width(squares[1][i], top[i], level, square, part))));
}

static double price(long t, double left) {
  if (LIMITS == 1) return (0.5 + earned) / spent;
  const double over = (budget - left) * rate - (t - 1);
  return fmin(1, fmax(0, eta * over / sqrt(fmax(1, 1 + (t - 1) + spread))));
}

static double expected(int i) { return (reports[i] * averages[0][i] + 0.5) / (reports[i] + 1); }

static double sure(int i) { return fmax(0, expected(i) - sqrt(squares[0][i] + 0.25) / (reports[i] + 1) / 2); }

/* The cheapest arm with a report, where a pull of the other could leave much less than it alone would bring. */
static int guarded(int arm, double left, double rounds_left) {
  int safe = -1;
  for (int i = 0; i < arms; i++)
    if (reports[i] > 0 && (safe < 0 || averages[1][i] < averages[1][safe])) safe = i;
  if (safe < 0 || safe == arm || reports[arm] == 0) return arm;
  const double each = averages[1][safe];
  const double alone = fmin(LIMITS > 1 ? (double)horizon : INFINITY, budget / each);
  const double after = fmin(rounds_left - 1, fmax(0, left - averages[1][arm]) / each);
  return earned + expected(arm) + sure(safe) * after < (1 - guard) * sure(safe) * alone ? safe : arm;
}

static int choose(long t, double left, double *p) {
  const double share = firsts > 0 ? exp(first_logs / firsts) : 0.5, rounds_left = LIMITS > 1 ? (double)(horizon - t + 1) : INFINITY;
  const double rest = fmax(left, 1e-12);
  for (int i = 0; i < arms; i++) bound(i, rest, rounds_left, share);
  const double by = price(t, left) * rate;
  for (int i = 0; i < arms; i++) score[i] = gain[i] - by * use[i];
  const int arm = largest(score);
  return LIMITS > 1 && score[arm] < 0 ? SKIP : guarded(arm, left, rounds_left);
}

static void learn(long t, int arm, double p, double reward) {
  const double report[] = {reward, cost_now(arm)}, used = report[1] * rate;
  double square = 0;
  if (reports[arm] == 0) first_logs += log(report[1]), firsts++, coefficients[1][arm * n + n - 1] = report[1];
  for (int k = 0; k < n; k++) {
    const double *row = inverse + (arm * n + k) * n;
    double line = 0;
    for (int m = 0; m < n; m++) line += row[m] * seen[m];
    room[k] = line;
    square += line * seen[k];
  }
  const double part = 1 / (1 + fmax(0, square));
  reports[arm]++;
  for (int s = 0; s < 2; s++) {
    const double error = report[s] - predict(s, arm);
    squares[s][arm] += part * error * error;
    sums[s][arm] += report[s];
    for (int k = 0; k < n; k++) coefficients[s][arm * n + k] += part * error * room[k];
  }
  top[arm] = fmax(top[arm], report[1]);
  for (int k = 0; k < n; k++)
    for (int m = k; m < n; m++) inverse[(arm * n + m) * n + k] = inverse[(arm * n + k) * n + m] -= part * room[k] * room[m];
  earned += reward;
  spent += used;
  spread += used * (used - 2);
}
