/* pii.c -- an item that only one node may read (the PRD's example 4). */
#include <stdio.h>

#include <valise.h>

static int read_as(valise_backpack *bag, const char *id, valise_error *err)
{
    const valise_node node = {.size = sizeof(node), .id = valise_str_of(id)};
    valise_backpack *view = NULL;
    valise_blob *email = NULL;
    int rc = valise_backpack_node(&view, bag, &node, err);

    if (rc == 0)
        rc = valise_unpack(&email, view, "userEmail", err);
    if (rc > 0) {
        printf("%s reads %s\n", id, valise_blob_text(email));
    } else if (rc == VALISE_E_DENIED) {
        printf("%s: %s\n", id, err->message);
        rc = 0;
    }
    valise_blob_unref(email);
    valise_backpack_close(view);
    return rc < 0 ? rc : 0;
}

int main(void)
{
    const valise_str tags[] = {VALISE_STR("pii")}, nodes[] = {VALISE_STR("authentication-node")};
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    options.tags = (valise_list){tags, 1};
    options.read = options.write = (valise_list){nodes, 1};
    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = valise_pack_text(NULL, bag, "userEmail", "user@example.com", &options, &err);
    if (rc == 0)
        rc = read_as(bag, "authentication-node", &err);
    if (rc == 0)
        rc = read_as(bag, "chat-node-123", &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
