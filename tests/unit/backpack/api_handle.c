/* api_handle.c -- handles: opening, closing in any order, options, arguments that are none. */
#include "api_kit.h"

TEST_PARAMS(api_handle, ALL_KINDS)

TEST(api_handle, refuses_arguments_that_are_none)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *none = NULL;
    valise_blob *value = NULL;
    valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise_uuid id = {{1}};
    int64_t n;

    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(NULL, d->v, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, NULL, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_node(&none, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_node(&none, NULL, &node, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, NULL, "k", "1", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, NULL, "1", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_unpack(NULL, bag, "k", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_unpack(&value, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_unpack_required(&value, NULL, "k", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_peek(&value, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_has(bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, removal(NULL, "k", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_clear(&n, NULL, VLS_STR("t"), VLS_STR(""), &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_item_get(bag, "k", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_each_item(bag, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_each_key(bag, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_size(NULL, bag, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_history_each(bag, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_access_log(bag, NULL, false, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_blame(bag, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot(NULL, bag, 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_named(&none, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_at_commit(&none, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_at_seq(&none, bag, -1, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_before_node(&none, bag, "n", 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_after_node(&none, bag, NULL, 1, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_snapshot_at(&none, bag, (valise_str){NULL, 0}, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_checkpoint(NULL, bag, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_checkpoint_remove(NULL, "x", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_fork(&none, NULL, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_replay_from_commit(&none, bag, &id, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_diff(bag, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_bisect(bag, 3, 2, NULL, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_merge(NULL, bag, bag, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_quarantine(NULL, bag, "k", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_release(NULL, bag, NULL, 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_quarantined(bag, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_to_json(&value, bag, -2, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_backpack_from_json(&none, d->v, "x", (valise_str){NULL, 0}, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_usage(NULL, bag, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_flush(NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_permit(bag, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tag_rule(bag, NULL, NULL, NULL, &t->err));
    CHECK(!none && !value);
    valise_backpack_close(NULL);
}

/* A program that was compiled with other sizes: what it does not know is as if not given. */
TEST(api_handle, takes_structs_of_other_sizes)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_pack_options p = VALISE_PACK_OPTIONS_INIT;
    valise_node node = {.size = sizeof(node), .id = VLS_STR("n"), .name = VLS_STR("beyond")};
    valise_history h = VALISE_HISTORY_INIT;
    valise_quarantine_options q = {.size = sizeof(q), .reason = VLS_STR("x")};
    valise_backpack *bag, *none = NULL, *view = NULL;
    struct {
        valise_pack_options known;
        char more[64];
    } longer = {VALISE_PACK_OPTIONS_INIT, {7}};

    o.size = offsetof(valise_backpack_options, max_commits);
    o.max_commits = -5; /* not looked at */
    bag = bag_with(d, "run-1", &o);
    o.size = 2;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o.size = 5000;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    p.size = offsetof(valise_pack_options, tags);
    p.expect = 77;
    CHECK_OK(valise_pack(NULL, bag, "k", "1", &p, &t->err));
    p.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &p, &t->err));
    longer.known.size = sizeof(longer);
    longer.known.node_id = VLS_STR("later");
    CHECK_OK(valise_pack(NULL, bag, "k", "2", &longer.known, &t->err));
    node.size = offsetof(valise_node, name);
    CHECK_OK(valise_backpack_node(&view, bag, &node, &t->err));
    CHECK_OK(pack(view, "m", "1", &t->err));
    CHECK_STR(VLS_STR("unknown"), item_of(bag, "m").node_name);
    valise_backpack_close(view);
    node.size = 8;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_node(&none, bag, &node, &t->err));
    h.size = offsetof(valise_history, actions);
    h.node_id = VLS_STR("later");
    h.limit = -1;
    CHECK_TEXT("2 pack k v2 by later", history(bag, &h));
    h.size = 0;
    CHECK_TEXT("(invalid)", history(bag, &h));
    q.size = offsetof(valise_quarantine_options, error);
    CHECK_OK(valise_quarantine(NULL, bag, "k", &q, &t->err));
    q.size = 9999;
    CHECK_RC(VALISE_E_INVALID, valise_quarantine(NULL, bag, "k", &q, &t->err));
    CHECK(!none);
}

TEST(api_handle, refuses_options_that_do_not_fit)
{
    desk *d = desk_open(t);
    valise_backpack *none = NULL;
    valise_backpack_options o = desk_options(d, 1u << 20);
    char actor[200];

    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o = desk_options(d, VALISE_BACKPACK_NEW | VALISE_BACKPACK_KNOWN);
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o = desk_options(d, 0);
    o.max_bytes = -1;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o.max_bytes = 1000;
    if (d->durable)
        CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o = desk_options(d, d->durable ? 0 : VALISE_BACKPACK_WRITE_BEHIND);
    if (!d->durable)
        CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o = desk_options(d, 0);
    memset(actor, 'a', sizeof(actor));
    o.actor = vls_str(actor, sizeof(actor));
    CHECK_RC(VALISE_E_TOO_LARGE, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    o.actor = VLS_STR("nobody-knows");
    CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, d->v, "x", &o, &t->err));
    CHECK(!none);
    CHECK_TEXT("{\"items\":[]}", run_op(d, "backpack:list", "{}"));
}

/* Handles hold what they need, whoever is closed first. */
TEST(api_handle, are_closed_in_any_order)
{
    for (unsigned order = 0; order < 24; order++) {
        unsigned left = order, taken = 0;
        valise *v = NULL;
        valise_backpack *h[4] = {NULL};
        valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
        valise_options how = VALISE_OPTIONS_INIT;
        const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};

        how.env = t->env;
        if (strcmp(t->param, "sqlite") == 0 && order % 6 != 0)
            continue; /* slow, and the same */
        CHECK_OK(desk_try(&v, t->param, test_format("%s/%u", test_tmpdir(), order), &how, &t->err));
        if (strcmp(t->param, "memory") == 0 || strcmp(t->param, "sqlite") == 0)
            o.flags = VALISE_BACKPACK_DURABLE;
        CHECK_OK(valise_backpack_open(&h[0], v, "run-1", &o, &t->err));
        CHECK_OK(pack(h[0], "k", "1", &t->err));
        CHECK_OK(valise_backpack_node(&h[1], h[0], &node, &t->err));
        CHECK_OK(valise_snapshot_at_seq(&h[2], h[1], 1, &t->err));
        CHECK_OK(valise_snapshot_at_seq(&h[3], h[2], 0, &t->err));
        for (unsigned i = 4; i > 0; i--) {
            unsigned n = left % i, k = 0;
            left /= i;
            while (taken & (1u << k))
                k++;
            for (; n > 0; n--)
                for (k++; taken & (1u << k); k++)
                    ;
            for (unsigned j = 0; j < 4; j++) {
                if (!(taken & (1u << j)))
                    CHECK_TEXT(j == 3 ? "" : "k=1", items(h[j]));
            }
            valise_backpack_close(h[k]);
            taken |= 1u << k;
        }
        valise_close(v);
    }
}

static int no_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)arg, (void)item, (void)err;
    return 0;
}

/* The workspace was closed first: nothing works any more, and nothing is lost or freed twice. */
TEST(api_handle, outlive_their_workspace)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, d->durable ? VALISE_BACKPACK_WRITE_BEHIND : 0);
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise_backpack *bag = NULL, *view = NULL, *state = NULL, *none = NULL;
    valise_usage usage = VALISE_USAGE_INIT;
    valise_blob *value = NULL;

    CHECK_OK(valise_backpack_open(&bag, d->v, "run-1", &o, &t->err));
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_OK(valise_backpack_node(&view, bag, &node, &t->err));
    CHECK_OK(valise_snapshot_at_seq(&state, view, 1, &t->err));
    CHECK_OK(pack(view, "k", "2", &t->err));
    valise_close(d->v);
    d->v = NULL;
    for (int i = 0; i < 3; i++) {
        valise_backpack *h = i == 0 ? bag : i == 1 ? view : state;
        CHECK_RC(VALISE_E_INVALID, pack(h, "k", "3", &t->err));
        CHECK(i == 2 || strstr(t->err.message, "closed"));
        CHECK_RC(VALISE_E_INVALID, valise_unpack(&value, h, "k", &t->err));
        CHECK_RC(VALISE_E_INVALID, removal(h, "k", &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_each_item(h, no_item, NULL, &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_snapshot_at_seq(&none, h, 0, &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_backpack_fork(&none, h, "x", NULL, &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_backpack_flush(h, &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_backpack_usage(&usage, h, &t->err));
        CHECK_RC(VALISE_E_INVALID, valise_backpack_merge(NULL, h, h, h, NULL, NULL, &t->err));
    }
    CHECK_RC(VALISE_E_INVALID, valise_backpack_node(&none, bag, &node, &t->err));
    CHECK(!none && !value);
    valise_backpack_close(bag);
    valise_backpack_close(state);
    valise_backpack_close(view);
}

typedef struct nested {
    valise_backpack *bag;
    valise_error *err;
    int calls;
} nested;

/* No lock is held while a callback runs: it may use the backpack. */
static int use_it(void *arg, const valise_item *item, valise_error *err)
{
    nested *n = arg;

    (void)err;
    n->calls++;
    CHECK_INT(0, pack(n->bag, test_format("n%d", n->calls), "1", n->err));
    CHECK(strcmp("(absent)", seen(n->bag, test_format("n%d", n->calls))) != 0);
    CHECK_INT(1, removal(n->bag, test_format("n%d", n->calls), n->err));
    CHECK_INT(1, item->commit->key.len);
    return n->calls == 2 ? 9 : 0;
}

TEST(api_handle, callbacks_may_use_the_backpack_and_stop)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    nested n = {bag, &t->err, 0};

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_OK(pack(bag, "c", "1", &t->err));
    CHECK_INT(9, valise_each_item(bag, use_it, &n, &t->err));
    CHECK_INT(2, n.calls);
    CHECK_TEXT("a=1 b=1 c=1", items(bag));
    n.calls = 1;
    CHECK_INT(9, valise_item_get(bag, "a", use_it, &n, &t->err));
    CHECK_INT(0, valise_item_get(bag, "zz", use_it, &n, &t->err));
}

/* A second handle, and one of another actor. */
TEST(api_handle, share_one_state)
{
    desk *d = desk_open(t);
    valise_backpack *a = bag_of(d, "run-1"), *b;
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_KNOWN);

    let_in(d, "ann", "writer", "");
    o.actor = VLS_STR("ann");
    b = bag_with(d, "run-1", &o);
    CHECK_OK(pack(a, "k", "1", &t->err));
    CHECK_OK(pack(b, "k", "2", &t->err));
    CHECK_TEXT("k=2", items(a));
    CHECK_TEXT(all_history(a), all_history(b));
}

/* Somebody dropped it: whoever has it open is told, and never gets another of that name. */
TEST(api_handle, of_a_backpack_that_was_dropped)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *state = at_point(d, bag, "0"), *again, *none = NULL;
    valise_backpack *node = node_of(d, bag, "n", "", NULL);

    CHECK_OK(pack(bag, "k", "1", &t->err));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    again = bag_of(d, "run-1");
    CHECK_OK(pack(again, "new", "1", &t->err));
    CHECK_TEXT("(not found)", got(bag, "k"));
    CHECK_TEXT("(not found)", items(state));
    CHECK_RC(VALISE_E_NOT_FOUND, pack(bag, "k", "2", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, pack(node, "k", "2", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, removal(bag, "new", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_checkpoint(NULL, bag, "x", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_tag_rule(bag, "t", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_fork(&none, bag, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_backpack_merge(NULL, again, again, bag, NULL, NULL, &t->err));
    CHECK_TEXT("new=1", items(again));
    CHECK_TEXT("1 pack new v1 by unknown", all_history(again));
    CHECK_RC(VALISE_E_NOT_FOUND, run_as(d, "local", "backpack:drop", "{\"backpack\":\"zz\"}"));
}
