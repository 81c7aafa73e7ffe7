/* tally.c -- a program outside of Valise's tree. It counts its runs, and knows each of them.
 *
 *     tally FOLDER        the folder gets a workspace when it has none */
#include <stdio.h>
#include <stdlib.h>

#include <valise.h>

/* 0 where nothing was counted yet. */
static int read_count(long *out, valise_backpack *bag, valise_error *err)
{
    valise_blob *value = NULL;
    char digits[32] = "0";
    int rc = valise_unpack(&value, bag, "runs", err);

    if (rc == 1)
        (void)snprintf(digits, sizeof(digits), "%.*s", VALISE_STR_ARG(valise_blob_bytes(value)));
    if (rc >= 0)
        *out = strtol(digits, NULL, 10);
    valise_blob_unref(value);
    return rc < 0 ? rc : 0;
}

static int print_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("run %.*s\n", VALISE_STR_ARG(commit->summary));
    return 0;
}

/* Two that run at the same time do not count as one: who comes second gets VALISE_E_CONFLICT. */
static int count_run(valise_backpack *bag, valise_error *err)
{
    valise_history all = VALISE_HISTORY_INIT;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    long runs = 0;
    char next[32];
    int rc = read_count(&runs, bag, err);

    (void)snprintf(next, sizeof(next), "%ld", runs + 1);
    options.expect = runs; /* each run makes one version */
    if (rc == 0)
        rc = valise_pack(NULL, bag, "runs", next, &options, err);
    all.oldest_first = true;
    if (rc == 0)
        rc = valise_history_each(bag, &all, print_commit, NULL, err);
    return rc;
}

int main(int argc, char **argv)
{
    valise_options options = VALISE_OPTIONS_INIT;
    valise_backpack_options durable = VALISE_BACKPACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise *v = NULL;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: tally FOLDER\n");
        return 2;
    }
    printf("compiled with Valise %s, runs with %s\n", VALISE_VERSION, valise_version());
    options.flags = VALISE_OPEN_CREATE;
    durable.flags = VALISE_BACKPACK_DURABLE;
    rc = valise_open(&v, argv[1], &options, &err);
    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "tally", &durable, &err);
    if (rc == 0)
        rc = count_run(bag, &err);
    if (rc < 0)
        fprintf(stderr, "tally: %s\n%s%s", err.message, err.hint, err.hint[0] ? "\n" : "");
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
