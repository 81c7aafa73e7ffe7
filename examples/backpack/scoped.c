/* scoped.c -- no junk drawer: a node sees what it declares, and what misleads is put aside.
 *
 * A fetch fails twice, then works; a validator complains; a summary node may read what research
 * found and the question, and nothing else. What a tool could not do is packed all the same: the
 * model has to know. */
#include <stdio.h>

#include <valise.h>

/* Three attempts. What a failed one left is of no use to anybody but who debugs it. */
static int fetch(valise_backpack *run, valise_error *err)
{
    const valise_node me = {.size = sizeof(me),
                            .id = VALISE_STR("fetch-1"),
                            .namespace_name = VALISE_STR("research.web")};
    valise_quarantine_options why = {.size = sizeof(why),
                                     .reason = VALISE_STR("a later attempt worked")};
    valise_backpack *bag = NULL;
    int rc = valise_backpack_node(&bag, run, &me, err);

    for (int attempt = 1; rc == 0 && attempt <= 2; attempt++) {
        char key[32];
        snprintf(key, sizeof(key), "attempt-%d", attempt);
        rc = valise_pack_text(NULL, bag, key, "no answer in time", NULL, err);
        if (rc == 0)
            rc = valise_quarantine(NULL, bag, key, &why, err);
    }
    if (rc == 0)
        rc = valise_pack(NULL, bag, "results", "[\"Paris has 2 million people\"]", NULL, err);
    if (rc == 0)
        rc = valise_pack(NULL, bag, "weather", "{\"error\":\"the service is closed\"}", NULL, err);
    valise_backpack_close(bag); /* the run of the node ends here */
    return rc;
}

static int print_item(void *arg, const valise_item *item, valise_error *err)
{
    valise_str value = item->value ? valise_blob_bytes(item->value) : valise_str_of("");

    (void)err;
    printf("  %s%-10.*s %.*s\n", arg ? "aside: " : "", VALISE_STR_ARG(item->commit->key),
           VALISE_STR_ARG(value));
    return 0;
}

/* Permissions come with the view: whatever this code tries is checked against them. */
static int summarize(valise_backpack *run, valise_error *err)
{
    const valise_str read[] = {VALISE_STR("question")}, write[] = {VALISE_STR("summary")},
                     deny[] = {VALISE_STR("complaint")}, from[] = {VALISE_STR("research.*")};
    const valise_permissions may = {
        .read = {read, 1}, .write = {write, 1}, .deny = {deny, 1}, .namespace_read = {from, 1}};
    const valise_node me = {.size = sizeof(me),
                            .id = VALISE_STR("summary-1"),
                            .namespace_name = VALISE_STR("summary"),
                            .permissions = &may};
    valise_backpack *bag = NULL;
    valise_blob *value = NULL;
    int rc = valise_backpack_node(&bag, run, &me, err);

    printf("summary-1 sees\n");
    if (rc == 0)
        rc = valise_each_item(bag, print_item, NULL, err); /* what it may not read is not there */
    if (rc == 0 && valise_unpack(&value, bag, "complaint", err) == VALISE_E_DENIED)
        printf("denied: %s\n", err->message);
    if (rc == 0 && valise_pack_text(NULL, bag, "question", "?", NULL, err) == VALISE_E_DENIED)
        printf("denied: %s\n", err->message);
    if (rc == 0)
        rc = valise_pack_text(NULL, bag, "summary", "Many people; weather unknown.", NULL, err);
    valise_blob_unref(value);
    valise_backpack_close(bag);
    return rc;
}

int main(void)
{
    valise_pack_options validator = VALISE_PACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *run = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    validator.node_id = valise_str_of("validate-1");
    if (rc == 0)
        rc = valise_backpack_open(&run, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = valise_pack_text(NULL, run, "question", "How is Paris?", NULL, &err);
    if (rc == 0)
        rc = fetch(run, &err);
    if (rc == 0)
        rc = valise_pack_text(NULL, run, "complaint", "only one source", &validator, &err);
    if (rc == 0)
        rc = summarize(run, &err);
    printf("all there is\n");
    if (rc == 0)
        rc = valise_each_item(run, print_item, NULL, &err);
    if (rc == 0)
        rc = valise_quarantined(run, print_item, run, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(run);
    valise_close(v);
    return rc < 0;
}
