/* basic.c -- pack, unpack, and who did it (the PRD's example 1). */
#include <stdio.h>

#include <valise.h>

static int print_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("%lld  %-9.*s  %-9.*s  v%lld  %.*s\n", (long long)commit->seq,
           VALISE_STR_ARG(commit->node_id), VALISE_STR_ARG(commit->key), (long long)commit->version,
           VALISE_STR_ARG(commit->summary));
    return 0;
}

static int answer(valise_backpack *bag, valise_error *err)
{
    const valise_str user_input[] = {VALISE_STR("user-input")},
                     llm_output[] = {VALISE_STR("llm-output")};
    const valise_node chat = {
        .size = sizeof(chat), .id = VALISE_STR("chat-1"), .name = VALISE_STR("ChatNode")};
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    valise_backpack *node = NULL;
    valise_blob *query = NULL;
    int rc;

    options.tags = (valise_list){user_input, 1};
    rc = valise_pack_text(NULL, bag, "userQuery", "What is AI?", &options, err);
    if (rc == 0)
        rc = valise_backpack_node(&node, bag, &chat, err); /* from here on chat-1 acts */
    if (rc == 0)
        rc = valise_unpack_required(&query, node, "userQuery", err);
    if (rc == 0) {
        printf("chat-1 was asked %s\n", valise_blob_text(query));
        options.tags = (valise_list){llm_output, 1};
        rc = valise_pack_text(NULL, node, "response", "A field of study.", &options, err);
    }
    valise_blob_unref(query);
    valise_backpack_close(node);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_history all = VALISE_HISTORY_INIT;
    valise_backpack *bag = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = answer(bag, &err);
    all.oldest_first = true;
    if (rc == 0)
        rc = valise_history_each(bag, &all, print_commit, NULL, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
