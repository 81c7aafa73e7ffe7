/* bench.c -- timing in turns, medians, and the table.
 *
 * usage: bench [--json] [--quick] [--only GROUP]
 * Bars are shown, not enforced: a slow machine must not turn anything red. */
#define VLS_ALLOW_MALLOC
#include "bench/bench.h"

#include <math.h>
#include <time.h>

#define MAX_ROUNDS 41

struct bench {
    bool json, quick;
    bool any; /* a JSON row was printed already */
    int rounds;
    double slice_ns; /* how long one round of one side takes */
};

bool bench_is_quick(const bench *b)
{
    return b->quick;
}

static bench_group *all_groups;

void bench_register(bench_group *g)
{
    bench_group **at = &all_groups;

    while (*at && strcmp((*at)->name, g->name) < 0)
        at = &(*at)->next;
    g->next = *at;
    *at = g;
}

static double now_ns(bool cpu)
{
    struct timespec t;

    clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(bench_fn *fn, void *arg, size_t times, bool cpu)
{
    double start = now_ns(cpu);

    fn(arg, times);
    return now_ns(cpu) - start;
}

/* How often to repeat so that one round takes about b->slice_ns. Also warms up. */
static size_t calibrate(const bench *b, bench_fn *fn, void *arg, bool cpu)
{
    size_t times = 1;
    double spent;

    for (;;) {
        spent = time_of(fn, arg, times, cpu);
        if (spent > b->slice_ns / 4 || times > (size_t)1 << 40)
            break;
        times *= 4;
    }
    double wanted = (double)times * b->slice_ns / (spent > 1 ? spent : 1);
    return wanted < 1 ? 1 : (size_t)wanted;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[count / 2];
}

static const char *duration(char out[32], double ns)
{
    if (ns < 1e3)
        (void)snprintf(out, 32, "%.1f ns", ns);
    else if (ns < 1e6)
        (void)snprintf(out, 32, "%.2f us", ns / 1e3);
    else
        (void)snprintf(out, 32, "%.2f ms", ns / 1e6);
    return out;
}

/* "ok", "MISS", or nothing where there is no bar. */
static const char *verdict(double value, double at_most)
{
    if (at_most <= 0)
        return "";
    return value <= at_most ? "ok" : "MISS";
}

static void begin_json_row(bench *b)
{
    fputs(b->any ? ",\n" : "\n", stdout);
    b->any = true;
}

void bench_compare(bench *b, const bench_row *row)
{
    double ours[MAX_ROUNDS], base[MAX_ROUNDS], ratio[MAX_ROUNDS];
    double per = row->per > 0 ? row->per : 1;
    size_t ours_times = calibrate(b, row->ours, row->arg, row->cpu);
    size_t base_times = calibrate(b, row->baseline, row->arg, row->cpu);
    char a[32], c[32], rate[32] = "", bar[16] = "-";

    for (int i = 0; i < b->rounds; i++) {
        ours[i] = time_of(row->ours, row->arg, ours_times, row->cpu) / (double)ours_times;
        base[i] = time_of(row->baseline, row->arg, base_times, row->cpu) / (double)base_times * per;
        ratio[i] = ours[i] / base[i];
    }
    double o = median(ours, b->rounds), r = median(ratio, b->rounds), n = median(base, b->rounds);
    if (b->json) {
        begin_json_row(b);
        printf("{\"name\":\"%s\",\"requires\":\"%s\",\"against\":\"%s\",\"ours_ns\":%.1f,"
               "\"baseline_ns\":%.1f,\"ratio\":%.3f,\"bar\":%.3f}",
               row->name, row->requires ? row->requires : "", row->against, o, n, r, row->at_most);
        return;
    }
    if (row->bytes)
        (void)snprintf(rate, sizeof(rate), "%.0f MB/s", (double)row->bytes * 1e3 / o);
    if (row->at_most > 0)
        (void)snprintf(bar, sizeof(bar), "%.2f", row->at_most);
    printf("  %-38s %10s %11s  %-30s %10s %7.2f %6s %s\n", row->name, duration(a, o), rate,
           row->against, duration(c, n), r, bar, verdict(r, row->at_most));
    fflush(stdout);
}

/* The slope of log(cost) over log(size), least squares. */
static double exponent(const double *cost, const size_t *sizes, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (int i = 0; i < count; i++) {
        double x = log((double)sizes[i]), y = log(cost[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

void bench_growth(bench *b, const bench_growth_row *row)
{
    double cost[4], rounds[MAX_ROUNDS];
    int count = 0;
    char a[32];

    for (; count < 4 && row->sizes[count]; count++) {
        void *arg = row->setup(row->sizes[count]);
        size_t times = calibrate(b, row->fn, arg, row->cpu);
        for (int i = 0; i < b->rounds; i++)
            rounds[i] = time_of(row->fn, arg, times, row->cpu) / (double)times;
        cost[count] = median(rounds, b->rounds);
        row->teardown(arg);
    }
    double fitted = exponent(cost, row->sizes, count);
    if (b->json) {
        begin_json_row(b);
        printf("{\"name\":\"%s\",\"exponent\":%.3f,\"promised\":%.3f,\"cost_ns\":[", row->name,
               fitted, row->promised);
        for (int i = 0; i < count; i++)
            printf("%s%.1f", i ? "," : "", cost[i]);
        puts("]}");
        return;
    }
    printf("  %-38s", row->name);
    for (int i = 0; i < count; i++)
        printf(" %zu: %s", row->sizes[i], duration(a, cost[i]));
    printf("  exponent %.2f (promised %.2f)\n", fitted, row->promised);
    fflush(stdout);
}

void bench_fact(bench *b, const char *name, double value, const char *unit, double at_most)
{
    if (b->json) {
        begin_json_row(b);
        printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"bar\":%.3f}", name, value, unit,
               at_most);
        return;
    }
    printf("  %-38s %10.2f %s", name, value, unit);
    if (at_most > 0)
        printf("  (bar: %.2f) %s", at_most, verdict(value, at_most));
    putchar('\n');
}

int main(int argc, char **argv)
{
    bench b = {.rounds = 15, .slice_ns = 10e6};
    const char *only = NULL;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            b.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            b.quick = true;
            b.rounds = 5;
            b.slice_ns = 2e6;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--json] [--quick] [--only GROUP]\n", argv[0]);
            return 2;
        }
    }
    if (b.json)
        fputs("[", stdout);
    else
        printf("  %-38s %10s %11s  %-30s %10s %7s %6s\n", "what", "ours", "rate", "baseline",
               "takes", "ratio", "bar");
    for (bench_group *g = all_groups; g; g = g->next) {
        if (only && strcmp(only, g->name) != 0)
            continue;
        if (!b.json)
            printf("%s\n", g->name);
        g->run(&b);
    }
    if (b.json)
        puts("\n]");
    return 0;
}
