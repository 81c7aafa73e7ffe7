/* api_access.c -- who may what through handles: actors, rules, taint, middleware, events. */
#include "api_kit.h"

TEST_PARAMS(api_access, ALL_KINDS)

static valise_backpack *bag_as(desk *d, const char *actor)
{
    valise_backpack_options o = desk_options(d, 0);

    o.actor = valise_str_of(actor);
    return bag_with(d, "run-1", &o);
}

/* ---- actors ---- */

TEST(api_access, an_actor_who_reads_cannot_pack) /* [K23] [B3] */
{
    desk *d = desk_open(t);
    valise_backpack *owner = bag_of(d, "run-1"), *bag, *none = NULL;
    valise_backpack_options o = desk_options(d, 0);
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};

    let_in(d, "ann", "reader", "");
    bag = bag_as(d, "ann");
    CHECK_OK(pack(owner, "k", "1", &t->err));
    CHECK_TEXT("1", got(bag, "k"));
    CHECK_RC(VALISE_E_DENIED, pack(bag, "k", "2", &t->err));
    CHECK(strstr(t->err.message, "backpack:write"));
    CHECK_RC(VALISE_E_DENIED, removal(bag, "k", &t->err));
    CHECK_RC(VALISE_E_DENIED, jail(bag, "k", "x", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_checkpoint(NULL, bag, "x", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_permit(bag, "n", NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_fork(&none, bag, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_node(&none, bag, &node, &t->err));
    o.actor = VLS_STR("ann");
    CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, d->v, "new", &o, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_backpack_from_json(&none, d->v, "new", valise_str_of(exported(bag, -1)), &o,
                                       &t->err));
    CHECK_TEXT("k=1", items(at_point(d, bag, "now")));
    CHECK(!none);
    CHECK(strstr(run_op(d, "log:reads", "{}"), "\"actor\":\"ann\"")); /* refusals are on record */
}

TEST(api_access, what_is_taken_away_is_gone_while_the_handle_is_open) /* [K23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag, *state;

    let_in(d, "ann", "writer", "");
    bag = bag_as(d, "ann");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    state = at_point(d, bag, "now");
    run_op(d, "agent:update", "{\"id\":\"ann\",\"role\":\"reader\"}");
    CHECK_RC(VALISE_E_DENIED, pack(bag, "k", "2", &t->err));
    CHECK_TEXT("1", got(bag, "k"));
    run_op(d, "agent:update",
           "{\"id\":\"ann\",\"role\":\"none\",\"capabilities\":[\"event:read\"]}");
    CHECK_TEXT("(denied)", got(bag, "k"));
    CHECK_TEXT("(denied)", items(state));
    run_op(d, "agent:update", "{\"id\":\"ann\",\"role\":\"writer\",\"capabilities\":[]}");
    CHECK_OK(pack(bag, "k", "2", &t->err));
}

/* Grants may be for some backpacks, and some nodes. */
TEST(api_access, grants_are_narrowed_by_backpack_and_node) /* [K23] [B31] */
{
    desk *d = desk_open(t);
    valise_backpack *bag, *none = NULL;
    valise_backpack_options o = desk_options(d, 0);
    valise_node node = {.size = sizeof(node), .id = VLS_STR("chat")};

    let_in(d, "ann", "none",
           "\"backpack:read\",\"backpack:write backpack=run-1\",\"backpack:as-node node=chat\"");
    bag_of(d, "run-1");
    bag_of(d, "run-2");
    bag = bag_as(d, "ann");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    o.actor = VLS_STR("ann");
    CHECK_RC(VALISE_E_DENIED, pack(bag_with(d, "run-2", &o), "k", "1", &t->err));
    CHECK_OK(valise_backpack_node(&none, bag, &node, &t->err));
    CHECK_OK(pack(none, "k", "2", &t->err));
    CHECK_TEXT("2", got(none, "k"));
    valise_backpack_close(none);
    none = NULL;
    node.id = VLS_STR("other");
    CHECK_RC(VALISE_E_DENIED, valise_backpack_node(&none, bag, &node, &t->err));
    CHECK(!none);
}

static valise_backpack *named_as(desk *d, const char *name, const char *actor)
{
    valise_backpack_options o = desk_options(d, 0);

    o.actor = valise_str_of(actor);
    return bag_with(d, name, &o);
}

/* Whoever merges or compares must be allowed to read all that is looked at. */
TEST(api_access, every_backpack_that_is_read_is_asked_for) /* [K23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *secret = bag_of(d, "secret"), *anns, *none = NULL;
    valise_backpack *empty = at_point(d, bag, "0");
    valise_backpack_options o;

    CHECK_OK(pack(secret, "token", "1", &t->err));
    let_in(d, "ann", "none",
           "\"backpack:read backpack=run-1\",\"backpack:write backpack=run-1\","
           "\"backpack:read backpack=mine*\",\"backpack:write backpack=mine*\"");
    anns = named_as(d, "run-1", "ann");
    CHECK_RC(VALISE_E_DENIED,
             valise_backpack_merge(NULL, anns, empty, secret, NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, "backpack:read"));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_merge(NULL, anns, secret, anns, NULL, NULL, &t->err));
    CHECK_TEXT("", items(bag));
    /* A fork is a way to read, and its name is one to be allowed. */
    CHECK_RC(VALISE_E_DENIED, valise_backpack_fork(&none, anns, "other", NULL, &t->err));
    o = desk_options(d, VALISE_BACKPACK_KNOWN);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_open(&none, d->v, "other", &o, &t->err));
    CHECK_OK(valise_backpack_fork(&none, anns, "mine-1", NULL, &t->err));
    valise_backpack_close(none);
    none = NULL;
    let_in(d, "wim", "none", "\"backpack:write\",\"backpack:read backpack=mine*\",\"agent:read\"");
    CHECK_RC(VALISE_E_DENIED,
             run_as(d, "wim", "backpack:fork", "{\"backpack\":\"secret\",\"name\":\"mine-2\"}"));
    CHECK(!none);
}

/* Who may not read a backpack cannot find out that it is there. */
TEST(api_access, what_may_not_be_read_looks_like_nothing) /* [K23] */
{
    static const unsigned flags[] = {0, VALISE_BACKPACK_NEW, VALISE_BACKPACK_KNOWN};
    desk *d = desk_open(t);
    valise_backpack *none = NULL;

    bag_of(d, "secret-1");
    let_in(d, "ann", "none", "\"backpack:read backpack=mine*\",\"backpack:write backpack=mine*\"");
    for (size_t i = 0; i < VLS_COUNT(flags); i++) {
        valise_backpack_options o = desk_options(d, flags[i]);
        o.actor = VLS_STR("ann");
        CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, d->v, "secret-1", &o, &t->err));
        CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, d->v, "secret-2", &o, &t->err));
    }
    CHECK(!none);
}

/* Each handle is used as its own actor. */
TEST(api_access, two_handles_have_two_actors) /* [K23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *secret = bag_of(d, "secret"), *anns, *bobs;

    CHECK_OK(pack(secret, "token", "1", &t->err));
    let_in(d, "ann", "none", "\"backpack:read backpack=run-1\"");
    let_in(d, "bob", "none", "\"backpack:read backpack=secret\"");
    anns = named_as(d, "run-1", "ann");
    bobs = named_as(d, "secret", "bob");
    CHECK_TEXT("+token=1", differs(anns, bobs));
    CHECK_TEXT("-token=1", differs(bobs, anns));
    run_op(d, "agent:update",
           "{\"id\":\"bob\",\"role\":\"none\",\"capabilities\":[\"event:read\"]}");
    CHECK_TEXT("(denied)", differs(anns, bobs));
    CHECK_TEXT("(denied)", differs(bobs, anns));
    CHECK_TEXT("(denied)", differs(bag, bobs)); /* though who looks may */
    CHECK_TEXT("+token=1", differs(bag, secret));
}

/* A view of a node shows what the node may read there, on whichever side it stands. */
TEST(api_access, each_side_has_its_own_rights) /* [B31] */
{
    const valise_permissions no_query = {.deny = NAMES("query")};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *x = bag_of(d, "x"), *in_bag, *in_x;
    valise_backpack *empty = at_point(d, x, "0");
    int64_t count = -1;

    CHECK_OK(pack(bag, "query", "1", &t->err));
    CHECK_OK(pack(bag, "fact", "2", &t->err));
    in_bag = node_of(d, bag, "n", "", &no_query);
    in_x = node_of(d, x, "n", "", NULL);
    CHECK_TEXT("(denied)", got(in_bag, "query"));
    CHECK_TEXT("-fact=2", differs(in_bag, in_x));
    CHECK_TEXT("+fact=2", differs(in_x, in_bag));
    CHECK_TEXT("+fact=2", differs(x, in_bag));
    CHECK_TEXT("+fact=2", differs(in_x, bag)); /* a node stays one beside the owner's handle */
    CHECK_TEXT("+fact=2 +query=1", differs(x, bag));
    CHECK_OK(valise_backpack_merge(&count, in_x, empty, in_bag, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("fact=2", items(x));
    /* A node stays one, whosever handle it is given. */
    CHECK_OK(valise_backpack_merge(&count, in_x, empty, bag, NULL, NULL, &t->err));
    CHECK_INT(0, count);
    CHECK_TEXT("fact=2", items(x));
}

static int note_conflict(void *arg, const valise_conflict *c, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    vls_buf_printf(out, "%.*s:%s%s%s;", VALISE_STR_ARG(c->key), c->base ? " base" : "",
                   c->ours ? " ours" : "", c->theirs ? " theirs" : "");
    return 0;
}

TEST(api_access, conflicts_show_a_node_what_it_may_read) /* [B17] [B31] */
{
    const valise_permissions no_query = {.deny = NAMES("query")};
    desk *d = desk_open(t);
    valise_backpack *x = bag_of(d, "x"), *bag, *in_x, *base;
    VLS_AUTO(buf) vls_buf list = {0};

    vls_buf_init(&list, t->env, 10000);
    CHECK_OK(pack(x, "query", "0", &t->err));
    CHECK_OK(pack(x, "fact", "0", &t->err));
    base = at_point(d, x, "now");
    bag = fork_of(d, base, "run-1");
    CHECK_OK(valise_permit(bag, "n", &no_query, &t->err));
    CHECK_OK(pack(bag, "query", "1", &t->err));
    CHECK_OK(pack(bag, "fact", "1", &t->err));
    CHECK_OK(pack(x, "query", "2", &t->err));
    CHECK_OK(pack(x, "fact", "2", &t->err));
    in_x = node_of(d, x, "n", "", NULL);
    CHECK_RC(VALISE_E_CONFLICT,
             valise_backpack_merge(NULL, in_x, base, bag, note_conflict, &list, &t->err));
    CHECK_STR(VLS_STR("fact: base ours theirs;"), vls_buf_str(&list));
}

TEST(api_access, only_the_owner_sets_things) /* [B31] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *node = node_of(d, bag, "n", "", NULL), *none = NULL;
    valise_list nobody = NOBODY;

    CHECK_RC(VALISE_E_DENIED, valise_tag_rule(node, "pii", &nobody, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_permit(node, "n", NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_checkpoint(NULL, node, "x", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_checkpoint_remove(node, "x", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_fork(&none, node, "x", NULL, &t->err));
    CHECK_TEXT("(denied)", jailed(node));
    CHECK(!none);
}

/* ---- rules ---- */

static int pack_tagged(valise_backpack *bag, const char *key, const char *json, const char *tag,
                       valise_error *err)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.tags = NAMES(tag);
    return valise_pack(NULL, bag, key, json, &o, err);
}

TEST(api_access, sc_4_access_control) /* [B19] [B30] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_list auth = NAMES("authentication-node");
    valise_backpack *chat = node_of(d, bag, "chat-node-123", "", NULL);
    valise_backpack *in = node_of(d, bag, "authentication-node", "", NULL);

    CHECK_OK(valise_tag_rule(bag, "pii", &auth, NULL, &t->err));
    CHECK_OK(pack_tagged(bag, "userEmail", "\"user@example.com\"", "pii", &t->err));
    CHECK_TEXT("(denied)", got(chat, "userEmail"));
    CHECK_TEXT("(denied)", needed(chat, "userEmail"));
    CHECK_TEXT("\"user@example.com\"", got(in, "userEmail"));
    CHECK_TEXT("", items(chat));
    CHECK_TEXT("", all_history(chat));
    CHECK(!strstr(exported(chat, -1), "example.com"));
    CHECK_OK(pack(chat, "userEmail", "1", &t->err)); /* only reading is ruled */
    CHECK_OK(valise_tag_rule(bag, "pii", NULL, NULL, &t->err));
    CHECK_TEXT("1", got(chat, "userEmail"));
}

/* A rule of the workspace holds for every backpack, those that live in memory too. */
TEST(api_access, rules_of_the_workspace_hold_for_all) /* [B19] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *node = node_of(d, bag, "n", "", NULL), *state,
                    *fork;

    CHECK_OK(pack_tagged(bag, "k", "1", "pii", &t->err));
    CHECK_TEXT("1", got(node, "k"));
    state = at_point(d, node, "now");
    run_op(d, "backpack:rule", "{\"backpack\":\"\",\"tag\":\"pii\",\"read\":[\"auth\"]}");
    CHECK_TEXT("(denied)", got(node, "k"));
    CHECK_TEXT("(denied)", seen(state, "k"));
    CHECK_RC(VALISE_E_DENIED, run_as(d, "local", "backpack:unpack",
                                     "{\"backpack\":\"run-1\",\"node\":\"n\",\"key\":\"k\"}"));
    CHECK_TEXT("1", got(node_of(d, bag, "auth", "", NULL), "k"));
    fork = fork_of(d, bag, "run-2");
    CHECK_TEXT("(denied)", got(node_of(d, fork, "n", "", NULL), "k"));
    run_op(d, "backpack:rule", "{\"backpack\":\"\",\"tag\":\"pii\",\"read\":[\"auth\",\"n\"]}");
    CHECK_TEXT("1", got(node, "k"));
    run_op(d, "backpack:rule",
           "{\"backpack\":\"\",\"tag\":\"pii\",\"read\":[\"n\"],\"write\":[\"auth\"]}");
    CHECK_RC(VALISE_E_DENIED, pack(node, "k", "2", &t->err));
    run_op(d, "backpack:rule", "{\"backpack\":\"\",\"tag\":\"pii\"}");
    CHECK_OK(pack(node, "k", "2", &t->err));
    CHECK_TEXT("1", got(node_of(d, fork, "n", "", NULL), "k"));
}

/* ---- taint ---- */

static bool has_tag(valise_backpack *bag, const char *key, const char *tag)
{
    valise_commit c = item_of(bag, key);
    const valise_str *tags = c.tags.items;

    for (size_t i = 0; i < c.tags.count; i++) {
        if (vls_str_equal(tags[i], valise_str_of(tag)))
            return true;
    }
    return false;
}

static valise_backpack *tainting(desk *d)
{
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    test *t = d->t;
    valise_backpack *bag = bag_with(d, "run-1", &o);

    CHECK_OK(pack_tagged(bag, "email", "1", "pii", &t->err));
    CHECK_OK(pack(bag, "plain", "1", &t->err));
    return bag;
}

TEST(api_access, what_a_node_packs_after_a_read_is_tainted_by_any_path) /* [B22] */
{
    static const char *const paths[] = {"unpack",
                                        "peek",
                                        "walk",
                                        "snapshot",
                                        "view of a snapshot",
                                        "snapshot at a point",
                                        "diff",
                                        "export",
                                        "dispatch",
                                        "dispatch at a point"};
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d), *old = at_point(d, bag, "0");

    for (size_t i = 0; i < VLS_COUNT(paths); i++) {
        const char *id = test_format("n%zu", i);
        valise_backpack *node = node_of(d, bag, id, "", NULL);
        test_context("by %s", paths[i]);
        CHECK_OK(pack(node, "before", "1", &t->err));
        CHECK(!has_tag(bag, "before", "pii"));
        switch (i) {
        case 0:
            CHECK_TEXT("1", got(node, "email"));
            break;
        case 1:
            CHECK_TEXT("1", seen(node, "email"));
            break;
        case 2:
            CHECK(strstr(items(node), "email=1"));
            break;
        case 3:
            CHECK_TEXT("1", seen(at_point(d, node, "now"), "email"));
            break;
        case 4:
            CHECK_TEXT("1", seen(node_of(d, at_point(d, bag, "2"), id, "", NULL), "email"));
            break;
        case 5:
            CHECK_TEXT("1", seen(at_point(d, node, "1"), "email"));
            break;
        case 6:
            CHECK(strstr(differs(old, node), "+email=1"));
            break;
        case 7:
            CHECK(strstr(exported(node, -1), "email"));
            break;
        case 8:
            run_op(d, "backpack:peek",
                   test_format("{\"backpack\":\"run-1\",\"node\":\"%s\",\"key\":\"email\"}", id));
            break;
        default:
            run_op(d, "backpack:peek",
                   test_format("{\"backpack\":\"run-1\",\"node\":\"%s\",\"key\":\"email\","
                               "\"point\":\"1\"}",
                               id));
        }
        CHECK_OK(pack(node, "after", "1", &t->err));
        CHECK(has_tag(bag, "after", "pii"));
        CHECK_INT(1, removal(bag, "after", &t->err));
        CHECK_INT(1, removal(bag, "before", &t->err));
        test_context_end();
    }
}

/* A later handle of the node knows what an earlier one has read; another node does not. */
TEST(api_access, taint_goes_with_the_node) /* [B22] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d), *reader = NULL, *writer, *other;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};

    writer = node_of(d, bag, "n", "", NULL);
    other = node_of(d, bag, "m", "", NULL);
    CHECK_OK(valise_backpack_node(&reader, bag, &node, &t->err));
    CHECK_TEXT("1", got(reader, "email"));
    valise_backpack_close(reader);
    CHECK_OK(pack(other, "theirs", "1", &t->err));
    CHECK_OK(pack(writer, "mine", "1", &t->err));
    CHECK(!has_tag(bag, "theirs", "pii"));
    CHECK(has_tag(bag, "mine", "pii"));
}

/* A query cannot put a mark where the others are; it is the same mark all the same. [B22] */
TEST(api_access, the_first_that_was_read_in_a_run_is_the_source)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_backpack *bag = bag_with(d, "x", &o);
    const valise_taint *const *taint;
    valise_commit c;

    (void)run_op(d, "backpack:pack",
                 "{\"backpack\":\"x\",\"key\":\"a\",\"value\":1,\"tags\":[\"secret\"]}");
    (void)run_op(d, "backpack:peek", "{\"backpack\":\"x\",\"key\":\"a\",\"node\":\"n\"}");
    (void)run_op(d, "backpack:pack",
                 "{\"backpack\":\"x\",\"key\":\"b\",\"value\":1,\"tags\":[\"secret\"]}");
    (void)run_op(d, "backpack:pack",
                 "{\"backpack\":\"x\",\"key\":\"c\",\"value\":1,\"node\":\"n\"}");
    (void)run_op(d, "backpack:peek", "{\"backpack\":\"x\",\"key\":\"b\",\"node\":\"n\"}");
    (void)run_op(d, "backpack:pack",
                 "{\"backpack\":\"x\",\"key\":\"d\",\"value\":1,\"node\":\"n\"}");
    c = item_of(bag, "d");
    taint = c.taints.items;
    CHECK_INT(1, c.taints.count);
    CHECK_INT(1, taint[0]->seq);
}

TEST(api_access, declassifying_needs_a_capability) /* [B22] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *node;
    valise_pack_options p = VALISE_PACK_OPTIONS_INIT;

    tainting(d);
    let_in(d, "ann", "none", "\"backpack:read\",\"backpack:write\",\"backpack:as-node\"");
    o.actor = VLS_STR("ann");
    node = node_of(d, bag_with(d, "run-1", &o), "n", "", NULL);
    CHECK_TEXT("1", got(node, "email"));
    p.declassify = NAMES("pii");
    CHECK_RC(VALISE_E_DENIED, valise_pack(NULL, node, "out", "1", &p, &t->err));
    run_op(d, "agent:update",
           "{\"id\":\"ann\",\"capabilities\":[\"backpack:read\",\"backpack:write\","
           "\"backpack:as-node\",\"backpack:declassify\"]}");
    CHECK_OK(valise_pack(NULL, node, "out", "1", &p, &t->err));
    CHECK(!has_tag(node, "out", "pii"));
    CHECK_OK(pack(node, "out2", "1", &t->err));
    CHECK(has_tag(node, "out2", "pii"));
}

/* ---- middleware ---- */

TEST(api_access, middleware_sees_and_refuses) /* [K12] [B28] */
{
    guard g = {.refuses = NULL};
    const valise_middleware m = guard_middleware(&g);
    const valise_middleware *const list[] = {&m, NULL};
    valise_options how = VALISE_OPTIONS_INIT;
    valise_backpack *bag;
    desk *d;
    int before;

    how.middleware = list;
    d = desk_open_with(t, &how);
    bag = bag_of(d, "run-1");
    before = g.before;
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_INT(before + 1, g.before);
    CHECK(g.after > 0);
    g.refuses = "backpack:pack";
    CHECK_RC(VALISE_E_LIMIT, pack(bag, "k", "2", &t->err));
    CHECK_TEXT("k=1", items(bag));
    CHECK_INT(1, removal(bag, "k", &t->err));
    g.refuses = "backpack:rm";
    CHECK_RC(VALISE_E_LIMIT, removal(bag, "k", &t->err));
}

/* ---- events ---- */

TEST(api_access, events_of_what_happens) /* [B28] [B32] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *state = NULL;
    valise_permissions p = {.deny = NAMES("email")};
    valise_backpack *node = node_of(d, bag, "n", "", &p);
    listener *l = listen_to(d, "BACKPACK_*");
    const char *e;

    CHECK_OK(pack_tagged(bag, "email", "\"me@example.com\"", "pii", &t->err));
    e = heard(l);
    CHECK(strstr(e, "BACKPACK_PACK unknown "));
    CHECK(strstr(e, "[redacted]") && !strstr(e, "example.com") && !strstr(e, "outcome"));
    CHECK_TEXT("\"me@example.com\"", got(bag, "email"));
    e = heard(l);
    CHECK(strstr(e, "BACKPACK_UNPACK unknown ") && strstr(e, "\"outcome\":\"found\""));
    CHECK_TEXT("(absent)", got(bag, "zz"));
    CHECK(strstr(heard(l), "\"outcome\":\"absent\""));
    CHECK_TEXT("(denied)", got(node, "email"));
    e = heard(l);
    CHECK(strstr(e, "BACKPACK_UNPACK n ") && strstr(e, "\"outcome\":\"denied\""));
    CHECK(strstr(e, "\"reason\":\"node 'n' may not read 'email'\""));
    CHECK_RC(VALISE_E_DENIED, pack(node, "email", "1", &t->err));
    e = heard(l);
    CHECK(strstr(e, "BACKPACK_DENIED n "));
    CHECK(strstr(e, "may not write 'email'"));
    CHECK_RC(VALISE_E_DENIED, removal(node, "email", &t->err));
    CHECK(strstr(heard(l), "may not remove 'email'"));
    CHECK_TEXT("(invalid)", got(bag, ""));
    CHECK_TEXT("\"me@example.com\"", seen(bag, "email"));
    CHECK_TEXT("", heard(l)); /* neither is a read that anybody hears of */
    CHECK_OK(jail(bag, "email", "x", &t->err));
    CHECK(strstr(heard(l), "BACKPACK_QUARANTINE"));
    CHECK_OK(valise_release(NULL, bag, "email", 0, &t->err));
    CHECK(strstr(heard(l), "BACKPACK_RELEASE"));
    CHECK_OK(valise_snapshot_at_seq(&state, bag, 1, &t->err));
    valise_backpack_close(state);
    CHECK_TEXT("BACKPACK_SNAPSHOT  {\"seq\":1}", heard(l));
    run_op(d, "backpack:snapshot", "{\"backpack\":\"run-1\",\"point\":\"1\"}");
    CHECK_TEXT("BACKPACK_SNAPSHOT unknown {\"seq\":1}", heard(l));
    CHECK_INT(1, removal(bag, "email", &t->err));
    CHECK(strstr(heard(l), "BACKPACK_DELETE"));
    CHECK_TEXT("", heard(l));
}

/* Whoever may act through the handle is told of, whatever else the actor may. */
TEST(api_access, events_of_an_actor_with_little_rights) /* [B28] */
{
    desk *d = desk_open(t);
    listener *l = listen_to(d, "BACKPACK_*");
    valise_backpack *bag;

    bag_of(d, "run-1");
    let_in(d, "ann", "none", "\"backpack:read\",\"backpack:write\"");
    bag = bag_as(d, "ann");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK(strstr(heard(l), "BACKPACK_PACK"));
    CHECK_TEXT("1", got(bag, "k"));
    CHECK(strstr(heard(l), "BACKPACK_UNPACK"));
}

/* Who may listen, but not read backpacks, hears nothing of them. */
TEST(api_access, events_are_for_who_may_read) /* [B32] [B31] */
{
    static const char *const types[] = {"BACKPACK_*", NULL};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_subscription *s = NULL;
    const valise_event *event;
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .queue_max = 10,
                                  .actor = VLS_STR("ann")};

    let_in(d, "ann", "none", "\"event:read\"");
    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    CHECK_OK(pack(bag, "k", "\"something\"", &t->err));
    CHECK_TEXT("\"something\"", got(bag, "k"));
    CHECK_INT(0, valise_subscription_next(&event, s, 0, &t->err));
    run_op(d, "agent:update",
           "{\"id\":\"ann\",\"capabilities\":[\"event:read\",\"backpack:read\"]}");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_INT(1, valise_subscription_next(&event, s, 0, &t->err));
    valise_unsubscribe(s);
}

typedef struct packing {
    valise_backpack *bag;
    int calls;
} packing;

static int pack_more(void *arg, const valise_event *event, valise_error *err)
{
    packing *p = arg;

    (void)event;
    if (p->calls++ < 3)
        return pack(p->bag, test_format("more%d", p->calls), "1", err);
    return 0;
}

/* A callback may pack again. */
TEST(api_access, who_is_told_may_pack) /* [K15] */
{
    static const char *const types[] = {"BACKPACK_PACK", NULL};
    desk *d = desk_open(t);
    packing p = {bag_of(d, "run-1"), 0};
    valise_subscription *s = NULL;
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .fn = pack_more,
                                  .arg = &p};

    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    CHECK_OK(pack(p.bag, "k", "1", &t->err));
    valise_unsubscribe(s);
    CHECK_INT(4, p.calls);
    CHECK_TEXT("k more1 more2 more3", keys(p.bag));
}
