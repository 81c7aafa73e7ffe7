/* time_travel.c -- which step brought the wrong fact, and what else did it change? (the PRD's
 * example 2) */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static int pack_as(valise_backpack *bag, const char *node, const char *key, const char *json,
                   valise_error *err)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;

    options.node_id = valise_str_of(node);
    return valise_pack(NULL, bag, key, json, &options, err);
}

static int run(valise_backpack *bag, valise_error *err)
{
    int rc = pack_as(bag, "research-1", "context", "{\"capital\":\"Paris\"}", err);

    if (rc == 0)
        rc = pack_as(bag, "research-2", "context", "{\"capital\":\"Lyon\"}", err); /* wrong */
    if (rc == 0)
        rc = pack_as(bag, "research-2", "validationError", "\"Bad data\"", err);
    return rc < 0 ? rc : pack_as(bag, "chat-1", "response", "\"The capital is Lyon.\"", err);
}

static int print_change(void *arg, const valise_change *change, valise_error *err)
{
    static const char *const kinds[] = {"added", "modified", "deleted"};

    (void)arg;
    (void)err;
    printf("%-9s %.*s by %.*s\n", kinds[change->kind], VALISE_STR_ARG(change->key),
           VALISE_STR_ARG(change->by->node_id));
    return 0;
}

static int print_value(valise_backpack *bag, const char *key, const char *when, valise_error *err)
{
    valise_blob *value = NULL;
    int rc = valise_peek(&value, bag, key, err);

    if (rc >= 0)
        printf("%s %s: %s\n", key, when, rc > 0 ? valise_blob_text(value) : "(absent)");
    valise_blob_unref(value);
    return rc < 0 ? rc : 0;
}

/* Is it there yet? Asked of a few states of the past: of 1,000 commits about ten times. */
static int is_wrong(void *arg, valise_backpack *state, valise_error *err)
{
    valise_blob *value = NULL, *capital = NULL;
    int rc = valise_peek(&value, state, "context", err), wrong = 0;

    (void)arg;
    if (rc > 0)
        rc = valise_json_get_text(&capital, valise_blob_bytes(value), "/capital", err);
    if (rc > 0)
        wrong = strcmp(valise_blob_text(capital), "Lyon") == 0;
    valise_blob_unref(capital);
    valise_blob_unref(value);
    return rc < 0 ? rc : wrong;
}

static int print_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("it came with commit %lld: %.*s, %.*s\n", (long long)commit->seq,
           VALISE_STR_ARG(commit->node_id), VALISE_STR_ARG(commit->summary));
    return 0;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL, *before = NULL, *after = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = run(bag, &err);
    if (rc == 0)
        rc = valise_bisect(bag, 0, 4, is_wrong, NULL, print_commit, NULL, &err);
    if (rc == 0)
        rc = valise_snapshot_before_node(&before, bag, "research-2", 1, &err);
    if (rc == 0)
        rc = valise_snapshot_after_node(&after, bag, "research-2", 1, &err);
    if (rc == 0)
        rc = print_value(before, "context", "before", &err);
    if (rc == 0)
        rc = print_value(after, "context", "after", &err);
    if (rc == 0)
        rc = valise_backpack_diff(before, after, print_change, NULL, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(after);
    valise_backpack_close(before);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
