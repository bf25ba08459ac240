/* Replan: a linear program on what is left, with optimistic numbers that are made afresh in every round; a dense simplex tableau.
   The player is told the same bounds on the costs of all arms: all fit or none does. There are no caps, no masks and no late reports. */
#include "game.h"

#define SIGNALS (1 + RESOURCES) /* a report: the reward, then the costs */
#define SIZES 11                /* blocks of 8, 16, ... reports */

static const double scale = 0.5, threshold = 1.5, fade = 0.25, looks = 0.05;
static double weight[MOST], average[MOST][SIGNALS], variance[MOST][SIGNALS], top[MOST][SIGNALS];
static double law_mean, law_variance; /* of the arms' mean rewards */
static double guess[RESOURCES];       /* of what an untried arm costs */
static double changes;
static long last; /* round in which all reports faded */
static double limit[LIMITS], gain[MOST], use[MOST][LIMITS], alone[MOST], pulls[MOST], chance[MOST];
static double table[LIMITS + 1][MOST + LIMITS], amount[LIMITS]; /* columns: arms, then slacks; last row: gains */
static int basis[LIMITS];
static long reports[MOST];
static double sums[MOST][SIGNALS], before[MOST][SIZES][SIGNALS]; /* of the change test */

static void begin_test(void) {
  for (int i = 0; i < arms; i++) reports[i] = 0;
  for (int i = 0; i < arms; i++)
    for (int s = 0; s < SIGNALS; s++) sums[i][s] = 0;
  for (int i = 0; i < arms; i++)
    for (int b = 0; b < SIZES; b++)
      for (int s = 0; s < SIGNALS; s++) before[i][b][s] = 0;
}

static void prepare(void) {}

static void begin(void) {
  changes = last = 0;
  law_mean = 0.5, law_variance = 1 / 12.0;
  for (int j = 0; j < RESOURCES; j++) guess[j] = 0.5;
  for (int i = 0; i < arms; i++) {
    weight[i] = 0;
    for (int s = 0; s < SIGNALS; s++) average[i][s] = variance[i][s] = 0, top[i][s] = s == 0;
  }
  begin_test();
}

static double width(double level, double spread, double most, double n) {
  const double v = (n * spread + most * most / 4) / (n + 1);
  return sqrt(2 * level * v / (n + 1)) + level * most / (3 * (n + 1));
}

/* The variance of a reward, with one more observation of the largest possible one. */
static double noise(int i) { return (weight[i] * variance[i][0] + 0.25) / (weight[i] + 1); }

static void estimate(int i) {
  const double n = weight[i], share = n * law_variance / (n * law_variance + noise(i));
  double affordable = LIMITS > 1 ? limit[LIMITS - 1] : INFINITY;
  for (int j = 0; j < RESOURCES; j++) affordable = fmin(affordable, limit[j] / fmax(c_min, n > 0 ? average[i][1 + j] : guess[j]));
  affordable /= sqrt(arms);
  const double level = scale * log(1 + affordable / fmax(1, n));
  gain[i] = fmin(1, fmax(0, law_mean + share * (average[i][0] - law_mean) + sqrt(2 * level * law_variance * (1 - share))));
  for (int j = 0; j < RESOURCES; j++) {
    const double c = average[i][1 + j];
    if (n > 0) use[i][j] = fmax(c_min, c / (1 + width(level, variance[i][1 + j], top[i][1 + j], n) / c));
    else use[i][j] = fmax(c_min, fmin(guess[j], sqrt(fmax(c_min, guess[j] / 100) * guess[j])) / (1 + sqrt(level) + level));
  }
  if (LIMITS > 1) use[i][LIMITS - 1] = 1;
}

static void pivot(int row, int column) {
  const int columns = arms + LIMITS;
  const double by = table[row][column];
  for (int i = 0; i < columns; i++) table[row][i] /= by;
  amount[row] /= by;
  for (int r = 0; r <= LIMITS; r++) {
    if (r == row) continue;
    const double times = table[r][column];
    for (int i = 0; i < columns; i++) table[r][i] -= times * table[row][i];
    if (r < LIMITS) amount[r] = fmax(0, amount[r] - times * amount[row]);
  }
  basis[row] = column;
}

/* The simplex method from doing nothing; each column is scaled to what the arm alone may be. */
static void run_simplex(double least) {
  for (int r = 0; r <= LIMITS; r++) {
    for (int i = 0; i < arms; i++) table[r][i] = (r < LIMITS ? use[i][r] : gain[i]) * alone[i];
    for (int j = 0; j < LIMITS; j++) table[r][arms + j] = r == j;
    if (r < LIMITS) basis[r] = arms + r, amount[r] = limit[r];
  }
  for (int turn = 0; turn < 40 * (LIMITS + 1); turn++) {
    int column = -1, row = -1;
    double most = least, furthest = INFINITY;
    for (int i = 0; i < arms + LIMITS; i++)
      if (table[LIMITS][i] > most) most = table[LIMITS][i], column = i;
    if (column < 0) break;
    for (int r = 0; r < LIMITS; r++)
      if (table[r][column] > 1e-12 && amount[r] / table[r][column] < furthest) furthest = amount[r] / table[r][column], row = r;
    if (row < 0) break;
    pivot(row, column);
  }
  for (int r = 0; r < LIMITS; r++)
    if (basis[r] < arms) pulls[basis[r]] = amount[r] * alone[basis[r]];
}

/* The sum of all pulls in the plan. */
static double solve(void) {
  int best = 0;
  double total = 0;
  for (int i = 0; i < arms; i++) {
    double part = 0;
    for (int j = 0; j < LIMITS; j++) part = fmax(part, use[i][j] / limit[j]);
    alone[i] = 1 / part;
    pulls[i] = 0;
    if (gain[i] * alone[i] > gain[best] * alone[best]) best = i;
  }
  if (LIMITS == 1) pulls[best] = alone[best];
  else run_simplex(1e-9 * gain[best] * alone[best]);
  for (int i = 0; i < arms; i++) total += pulls[i];
  return total;
}

/* Each arm's chance of a look, and their sum. */
static double add_looks(long t, double total) {
  const double rate = fmin(0.25, looks * sqrt((double)arms * t) / (t + 1000)) / arms;
  double sum = 0;
  for (int i = 0; i < arms; i++) sum += chance[i] = rate * fmin(1, alone[i] / total);
  return sum;
}

static int same(int i, int k) {
  int equal = gain[i] == gain[k];
  for (int j = 0; j < LIMITS; j++) equal &= use[i][j] == use[k][j];
  return equal;
}

/* Write the probability of each arm. */
static void plan(long t, double left) {
  limit[0] = fmax(left, 1e-12);
  if (LIMITS > 1) limit[LIMITS - 1] = (double)(horizon - t + 1);
  if (LIMITS > 2) limit[1] = fmax(second_left, 1e-12);
  for (int i = 0; i < arms; i++) estimate(i);
  const double total = solve(), rest = 1 - add_looks(t, total);
  for (int i = 0; i < arms; i++) {
    if (pulls[i] == 0) continue;
    int equals = 0;
    for (int k = 0; k < arms; k++) equals += same(i, k);
    for (int k = 0; k < arms; k++)
      if (same(i, k)) chance[k] += rest * pulls[i] / total / equals;
  }
}

static int choose(long t, double left, double *p) {
  plan(t, left);
  double u = uniform();
  int arm = 0;
  while (arm < arms - 1 && u >= chance[arm]) u -= chance[arm++];
  *p = chance[arm];
  return arm;
}

static double kl(double p, double q) {
  return (p > 0 ? p * log(p / fmax(q, 1e-12)) : 0) + (p < 1 ? (1 - p) * log((1 - p) / fmax(1 - q, 1e-12)) : 0);
}

/* The reports in the block that differs from all before it; 0 where none does. A believed one has the means from then on. */
static long find_change(int arm, int believed) {
  const long n = ++reports[arm];
  long size = 8;
  for (int b = 0; b < SIZES && n % size == 0; b++, size *= 2) {
    for (int s = 0; s < SIGNALS; s++) {
      if (n < 2 * size) break;
      const double all = sums[arm][s] / n / top[arm][s], old = before[arm][b][s] / (n - size) / top[arm][s];
      const double new = (sums[arm][s] - before[arm][b][s]) / size / top[arm][s];
      if ((n - size) * kl(old, all) + size * kl(new, all) <= threshold + log(n)) continue;
      for (int k = 0; k < SIGNALS && believed; k++) average[arm][k] = (sums[arm][k] - before[arm][b][k]) / size;
      return size;
    }
    for (int s = 0; s < SIGNALS; s++) before[arm][b][s] = sums[arm][s];
  }
  return 0;
}

/* One step of expectation and maximisation towards the law of the arms' mean rewards. */
static void pool(void) {
  double below = 1 / law_variance, above = 0.5 / law_variance, within = 1 / 12.0, tried = 1;
  for (int i = 0; i < arms; i++) {
    if (weight[i] == 0) continue;
    const double w = weight[i] / (weight[i] * law_variance + noise(i)), share = w * law_variance;
    const double off = share * (average[i][0] - law_mean);
    below += w;
    above += w * average[i][0];
    within += off * off + law_variance * (1 - share);
    tried++;
  }
  for (int j = 0; j < RESOURCES; j++) {
    guess[j] = 0;
    for (int i = 0; i < arms; i++) guess[j] += average[i][1 + j] / (tried - 1);
  }
  law_mean = above / below;
  law_variance = within / tried;
}

static void learn(long t, int arm, double p, double reward) {
  const double report[] = {reward, cost[arm], second_cost[arm]};
  int settled = 16 * (t - last) > t;
  if (settled) {
    for (int i = 0; i < arms; i++)
      if (weight[i] > 0) weight[i] = fmax(1, weight[i] * t / (t + (fade + changes) * (t - last)));
    last = t;
  }
  weight[arm]++;
  for (int s = 0; s < SIGNALS; s++) {
    const double off = report[s] - average[arm][s];
    average[arm][s] += off / weight[arm];
    variance[arm][s] += (off * (report[s] - average[arm][s]) - variance[arm][s]) / weight[arm];
    top[arm][s] = fmax(top[arm][s], report[s]);
    sums[arm][s] += report[s];
  }
  const int believed = changes < 8 + log(t) * log(t);
  const long kept = find_change(arm, believed);
  if (kept > 0) {
    for (int i = 0; i < arms && believed; i++) weight[i] = i == arm ? kept : fmin(2, weight[i]);
    changes += believed;
    settled |= believed;
    begin_test();
  }
  if (settled) pool();
}
