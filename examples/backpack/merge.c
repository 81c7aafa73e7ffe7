/* merge.c -- two tries from one state, side by side; one is merged, the other does not fit any
 * more.
 *
 * A fork copies nothing. A merge brings what the other side changed since both were one, with who
 * changed it; where both changed the same item nothing at all is merged, and each such key is
 * told. */
#include <stdio.h>

#include <valise.h>

static int pack_as(valise_backpack *bag, const char *node, const char *key, const char *json,
                   valise_error *err)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = valise_str_of(node);
    return valise_pack(NULL, bag, key, json, &options, err);
}

static int print_blame(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("  %.*s is by %.*s: %.*s\n", VALISE_STR_ARG(commit->key),
           VALISE_STR_ARG(commit->node_id), VALISE_STR_ARG(commit->summary));
    return 1; /* the newest one is enough */
}

static int print_conflict(void *arg, const valise_conflict *conflict, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("  conflict: %.*s is %s here and %s there\n", VALISE_STR_ARG(conflict->key),
           valise_blob_text(conflict->our_value), valise_blob_text(conflict->their_value));
    return 0;
}

/* base NULL: found by the forks. */
static int merge(valise_backpack *run, valise_backpack *theirs, const char *name, valise_error *err)
{
    int64_t count = 0;
    int rc = valise_backpack_merge(&count, run, NULL, theirs, print_conflict, NULL, err);

    if (rc == 0)
        printf("%s: merged, %lld changed\n", name, (long long)count);
    else if (rc == VALISE_E_CONFLICT)
        printf("%s: not merged\n", name);
    return rc == VALISE_E_CONFLICT ? 0 : rc;
}

static int tries(valise_backpack *run, valise_backpack *quick, valise_backpack *thorough,
                 valise_error *err)
{
    int rc = pack_as(quick, "quick-1", "price", "80", err);

    if (rc == 0)
        rc = pack_as(thorough, "thorough-1", "price", "87", err);
    if (rc == 0)
        rc = pack_as(thorough, "thorough-1", "source", "\"the list of May\"", err);
    if (rc == 0)
        rc = merge(run, thorough, "thorough", err);
    if (rc == 0)
        rc = merge(run, quick, "quick", err);
    if (rc == 0)
        rc = valise_blame(run, "price", print_blame, NULL, err);
    return rc < 0 ? rc : 0;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *run = NULL, *quick = NULL, *thorough = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&run, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = pack_as(run, "ask-1", "question", "\"What does a lamp cost?\"", &err);
    if (rc == 0)
        rc = valise_backpack_fork(&quick, run, "run-1-quick", NULL, &err);
    if (rc == 0)
        rc = valise_backpack_fork(&thorough, run, "run-1-thorough", NULL, &err);
    if (rc == 0)
        rc = tries(run, quick, thorough, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(thorough);
    valise_backpack_close(quick);
    valise_backpack_close(run);
    valise_close(v);
    return rc < 0;
}
