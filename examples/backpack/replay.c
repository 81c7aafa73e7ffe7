/* replay.c -- run one node again on the state it found (the PRD's example 3). */
#include <stdio.h>

#include <valise.h>

/* A node: reads the query, packs what it found. `careful` is what we want to try. */
static int research(valise_backpack *bag, bool careful, valise_error *err)
{
    const valise_node node = {.size = sizeof(node), .id = VALISE_STR("research-2")};
    valise_backpack *view = NULL;
    valise_blob *query = NULL;
    int rc = valise_backpack_node(&view, bag, &node, err);

    if (rc == 0)
        rc = valise_unpack_required(&query, view, "query", err);
    if (rc == 0)
        rc = valise_pack_text(NULL, view, "fact", careful ? "Paris" : "Lyon", NULL, err);
    valise_blob_unref(query);
    valise_backpack_close(view);
    return rc;
}

static int print_fact(valise_backpack *bag, const char *name, valise_error *err)
{
    valise_blob *fact = NULL;
    int rc = valise_unpack_required(&fact, bag, "fact", err);

    if (rc == 0)
        printf("%s: %s\n", name, valise_blob_text(fact));
    valise_blob_unref(fact);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL, *before = NULL, *again = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = valise_pack_text(NULL, bag, "query", "Capital of France?", NULL, &err);
    if (rc == 0)
        rc = research(bag, false, &err);

    /* It went wrong. The state before the node is a snapshot; a fork of it can be written to. */
    if (rc == 0)
        rc = valise_snapshot_before_node(&before, bag, "research-2", 1, &err);
    if (rc == 0)
        rc = valise_backpack_fork(&again, before, "run-1-again", NULL, &err);
    if (rc == 0)
        rc = research(again, true, &err);

    if (rc == 0)
        rc = print_fact(bag, "run-1", &err);
    if (rc == 0)
        rc = print_fact(again, "run-1-again", &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(again);
    valise_backpack_close(before);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
