/* Replan: a linear program on what is left, with optimistic numbers that are made afresh in every round; a dense simplex tableau.
   The player is told the same bounds on the costs of all arms: all fit or none does. There are no caps, no masks and no late reports. */
#include "game.h"

#define SIGNALS (1 + RESOURCES) /* a report: the reward, then the costs */
#define SIZES 11                /* blocks of 8, 16, ... reports */

static const double scale = 0.5, threshold = 1.5, fade = 0.15, looks = 0.2, guard = 0.05;
static double weight[MOST], average[MOST][SIGNALS], spread[MOST][SIGNALS], top[MOST][SIGNALS], last[MOST];
static double paid[MOST][SIGNALS], count[MOST], lost[MOST], first_logs, firsts, changes; /* paid, count: never faded */
static double limit[LIMITS], gain[MOST], use[MOST][LIMITS], alone[MOST], pulls[MOST], mine[MOST], chance[MOST];
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
  first_logs = firsts = changes = 0;
  for (int i = 0; i < arms; i++) {
    weight[i] = last[i] = count[i] = 0;
    for (int s = 0; s < SIGNALS; s++) paid[i][s] = average[i][s] = spread[i][s] = 0, top[i][s] = s == 0;
  }
  begin_test();
}

/* What the reports on an arm count for in round t. */
static double faded(long t, int i) {
  const double factor = exp(-(fade + changes) / t * (t - last[i]));
  return weight[i] * factor >= 1 ? factor : 1 / fmax(1, weight[i]);
}

static double width(double level, double squares, double most, double n) {
  const double v = (squares + most * most / 4) / (n + 1);
  return sqrt(2 * level * v / (n + 1)) + level * most / (3 * (n + 1));
}

static void estimate(long t, int i, double share) {
  const double factor = faded(t, i), n = factor * weight[i];
  double affordable = LIMITS > 1 ? limit[LIMITS - 1] : INFINITY;
  for (int j = 0; j < RESOURCES; j++) affordable = fmin(affordable, limit[j] / fmax(c_min, n > 0 ? average[i][1 + j] : share));
  affordable /= arms;
  const double level = scale * log(1 + affordable / fmax(1, n));
  gain[i] = n > 0 ? fmin(1, average[i][0] + width(level, factor * spread[i][0], 1, n)) : 1 - 1 / (1 + sqrt(affordable));
  for (int j = 0; j < RESOURCES; j++) {
    const double c = average[i][1 + j];
    if (n > 0) use[i][j] = fmax(c_min, c / (1 + width(level, factor * spread[i][1 + j], top[i][1 + j], n) / c));
    else use[i][j] = fmax(c_min, fmin(share, sqrt(fmax(c_min, share / 100) * share)) / (1 + sqrt(level) + level));
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
  for (int i = 0; i < arms; i++) chance[i] = rate;
  for (int j = 0; j < LIMITS; j++) {
    double usual = 0;
    for (int i = 0; i < arms; i++) usual += pulls[i] * use[i][j] / total;
    for (int i = 0; i < arms; i++)
      if (use[i][j] > usual) chance[i] = fmin(chance[i], rate * usual / use[i][j]);
  }
  for (int i = 0; i < arms; i++) sum += chance[i];
  return sum;
}

static double expected(int i) { return (weight[i] * average[i][0] + 0.5) / (weight[i] + 1); }

static double sure(int i) { return fmax(0, expected(i) - sqrt(spread[i][0] + 0.25) / (weight[i] + 1) / 2); }

/* The arm with a report that takes the smallest part of a budget; all budgets are equal. */
static int find_safe(void) {
  int safe = -1;
  double least = INFINITY;
  for (int i = 0; i < arms; i++) {
    const double c = RESOURCES > 1 ? fmax(average[i][1], average[i][2]) : average[i][1];
    if (weight[i] > 0 && c < least) least = c, safe = i;
  }
  return safe;
}

/* How often the safe arm can be pulled for what is left, or for all there was. */
static double pulls_of(int safe, int all) {
  double most = LIMITS > 1 ? (all ? (double)horizon : limit[LIMITS - 1]) : INFINITY;
  for (int j = 0; j < RESOURCES; j++) most = fmin(most, (all ? budget : limit[j]) / average[safe][1 + j]);
  return most;
}

/* The pulls of the safe arm that a pull of i now takes the place of. */
static double displaced(int safe, int i) {
  double after = LIMITS > 1 ? limit[LIMITS - 1] - 1 : INFINITY;
  for (int j = 0; j < RESOURCES; j++) after = fmin(after, (limit[j] - average[i][1 + j]) / average[safe][1 + j]);
  return pulls_of(safe, 0) - fmax(0, after);
}

/* What each arm lost; the losses of the safe one and of dearer ones together. */
static double count_lost(int safe, double rho) {
  double gone = pulls_of(safe, 1) - pulls_of(safe, 0), dear = 0, more = 0, base = 1, part = 1, sum = 0;
  for (int i = 0; i < arms; i++) {
    lost[i] = LIMITS > 1;
    for (int j = 0; j < RESOURCES && count[i] > 0; j++) lost[i] = fmax(lost[i], paid[i][1 + j] / count[i] / average[safe][1 + j]);
    if (i == safe) lost[i] = 1;
    if (lost[i] > 1 + 1e-6) dear += count[i], more += count[i] * (lost[i] - 1);
    else gone -= count[i] * lost[i];
  }
  if (LIMITS > 1 && dear > 0) base = fmin(1, fmax(0, gone / dear)), part = fmin(1, fmax(0, (gone - dear) / more));
  for (int i = 0; i < arms; i++) {
    const int dearer = lost[i] > 1 + 1e-6;
    lost[i] = count[i] * rho * (dearer ? base + part * (lost[i] - 1) : lost[i]) - paid[i][0];
    if (dearer || i == safe) sum += lost[i];
  }
  return sum;
}

/* Never an untried arm: none is declared dearer than the safe one. */
static int too_risky(int safe, int i) {
  if (weight[i] == 0) return 0;
  const double places = displaced(safe, i), rho = sure(safe);
  if (places <= 1 + 1e-6) return 0;
  const double sum = count_lost(safe, rho);
  return lost[i] > 0 && sum + rho * places - expected(i) > guard * rho * pulls_of(safe, 1);
}

static int same(int i, int k) {
  int equal = gain[i] == gain[k];
  for (int j = 0; j < LIMITS; j++) equal &= use[i][j] == use[k][j];
  return equal;
}

/* Write the probability of each arm. */
static void plan(long t, double left) {
  const double share = firsts > 0 ? exp(first_logs / firsts) : 0.5;
  limit[0] = fmax(left, 1e-12);
  if (LIMITS > 1) limit[LIMITS - 1] = (double)(horizon - t + 1);
  if (LIMITS > 2) limit[1] = fmax(second_left, 1e-12);
  for (int i = 0; i < arms; i++) estimate(t, i, share);
  const double total = solve();
  const int safe = find_safe();
  double held = 0;
  for (int i = 0; i < arms; i++) {
    mine[i] = pulls[i] / total;
    if (pulls[i] == 0 || safe < 0 || safe == i || !too_risky(safe, i)) continue;
    held += mine[i];
    pulls[safe] += pulls[i];
    mine[i] = pulls[i] = 0;
  }
  const double rest = 1 - add_looks(t, total);
  for (int i = 0; i < arms; i++) {
    if (mine[i] == 0) continue;
    int equals = 0;
    for (int k = 0; k < arms; k++) equals += same(i, k);
    for (int k = 0; k < arms; k++)
      if (same(i, k)) chance[k] += rest * mine[i] / equals;
  }
  if (held > 0) chance[safe] += rest * held;
}

static int choose(long t, double left, double *p) {
  plan(t, left);
  double u = uniform();
  int arm = 0;
  while (arm < arms - 1 && u >= chance[arm]) u -= chance[arm++];
  *p = chance[arm];
  return arm;
}

static void weigh(int i, double factor) {
  weight[i] *= factor;
  for (int s = 0; s < SIGNALS; s++) spread[i][s] *= factor;
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

static void learn(long t, int arm, double p, double reward) {
  const double report[] = {reward, cost[arm], second_cost[arm]};
  if (weight[arm] > 0) weigh(arm, faded(t, arm));
  else
    for (int j = 0; j < RESOURCES; j++) first_logs += log(report[1 + j]), firsts++;
  last[arm] = t;
  weight[arm]++;
  count[arm]++;
  for (int s = 0; s < SIGNALS; s++) {
    const double off = report[s] - average[arm][s];
    average[arm][s] += off / weight[arm];
    spread[arm][s] += off * (report[s] - average[arm][s]);
    top[arm][s] = fmax(top[arm][s], report[s]);
    sums[arm][s] += report[s];
    paid[arm][s] += report[s];
  }
  const int believed = changes < 8 + log(t) * log(t);
  const long kept = find_change(arm, believed);
  if (kept == 0) return;
  for (int i = 0; i < arms && believed; i++)
    if (weight[i] > 0) weigh(i, (i == arm ? kept : fmin(2, weight[i])) / weight[i]);
  changes += believed;
  begin_test();
}
