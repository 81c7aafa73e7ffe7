/* api_fault.c -- every allocation of an ephemeral backpack's functions fails in turn. */
#include "api_kit.h"
#include "harness/fault.h"

typedef int deed(fault *f, valise *v, valise_backpack *bag);

/* A workspace and a backpack are made without faults; only the deed has them. */
static int with_bag(fault *f, void *arg)
{
    deed *const *d = arg;
    valise_options how = VALISE_OPTIONS_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    const char *before;
    int rc;

    fault_off(f);
    how.env = f->env;
    how.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&v, ":memory:", &how, &f->err));
    o.flags = VALISE_BACKPACK_TAINT;
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &f->err));
    tagged.tags = NAMES("pii");
    CHECK_INT(0, valise_pack(NULL, bag, "email", "\"me\"", &tagged, &f->err));
    CHECK_INT(0, pack_as(bag, "n", "k", "{\"a\":[1,2]}", &f->err));
    before = items(bag);
    fault_on(f);
    rc = (*d)(f, v, bag);
    fault_off(f);
    if (rc == VALISE_E_NO_MEMORY)
        CHECK_TEXT(before, items(bag));            /* as it was */
    CHECK_INT(0, pack(bag, "last", "1", &f->err)); /* and it goes on */
    CHECK_TEXT("1", seen(bag, "last"));
    valise_backpack_close(bag);
    valise_close(v);
    fault_on(f);
    return rc;
}

static void each(test *t, deed *d)
{
    fault_each_alloc(t, 0, with_bag, &d);
    fault_each_alloc(t, FAULT_ONWARD, with_bag, &d);
}

static int open_one(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *other = NULL;
    int rc;

    (void)bag;
    o.sticky = NAMES("own");
    o.actor = VLS_STR("local");
    rc = valise_backpack_open(&other, v, "run-2", &o, &f->err);
    CHECK(!other == (rc < 0));
    valise_backpack_close(other);
    return rc;
}

static int pack_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    (void)v;
    o.tags = NAMES("x", "y");
    o.read = NAMES("n");
    o.namespace_name = VLS_STR("a.b");
    return valise_pack(NULL, bag, "new", "{ \"b\" : [1, {\"c\":null}] }", &o, &f->err);
}

static int pack_text_it(fault *f, valise *v, valise_backpack *bag)
{
    (void)v;
    return valise_pack_text(NULL, bag, "new", "it says \"no\"", NULL, &f->err);
}

static int unpack_text_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_blob *text = NULL;
    int rc = valise_unpack_text(&text, bag, "email", &f->err);

    (void)v;
    CHECK(!text == (rc < 0));
    CHECK_TEXT(rc < 0 ? "" : "me", valise_blob_text(text));
    valise_blob_unref(text);
    f->recovered = rc == 1; /* the log of reads counts what it cannot keep */
    return rc < 0 ? rc : 0;
}

static int unpack_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_blob *value = NULL;
    int rc = valise_unpack_required(&value, bag, "k", &f->err);

    (void)v;
    CHECK(!value == (rc < 0));
    if (value)
        CHECK_STR(VLS_STR("{\"a\":[1,2]}"), valise_blob_bytes(value));
    valise_blob_unref(value);
    f->recovered = rc == 0; /* the log of reads counts what it cannot keep */
    return rc;
}

static int change_it(fault *f, valise *v, valise_backpack *bag)
{
    int rc;

    (void)v;
    rc = removal(bag, "k", &f->err);
    return rc < 0 ? rc : 0;
}

static int jail_it(fault *f, valise *v, valise_backpack *bag)
{
    int rc = jail(bag, "k", "bad", &f->err);

    (void)v;
    fault_off(f);
    CHECK_TEXT(rc < 0 ? "" : "3:k={\"a\":[1,2]}(bad)", jailed(bag));
    fault_on(f);
    f->recovered = rc == 0; /* the entry may go without holding on to why */
    return rc;
}

static int snapshot_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack *state = NULL;
    valise_blob *value = NULL;
    int rc = valise_snapshot_at_seq(&state, bag, 1, &f->err);

    (void)v;
    if (rc == 0) {
        rc = valise_unpack_required(&value, state, "email", &f->err);
        f->recovered = rc == 0; /* the log of reads counts what it cannot keep */
    }
    valise_blob_unref(value);
    valise_backpack_close(state);
    return rc;
}

static int node_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_permissions p = {.deny = NAMES("zz")};
    const valise_node node = {.size = sizeof(node),
                              .id = VLS_STR("n"),
                              .namespace_name = VLS_STR("a"),
                              .permissions = &p};
    valise_backpack *view = NULL, *state = NULL;
    valise_blob *value = NULL;
    int rc = valise_backpack_node(&view, bag, &node, &f->err);

    (void)v;
    if (rc == 0)
        rc = valise_snapshot_at_seq(&state, view, 1, &f->err);
    if (rc == 0) /* taints */
        rc = valise_unpack_required(&value, state, "email", &f->err);
    valise_blob_unref(value);
    valise_backpack_close(state);
    valise_backpack_close(view); /* the end of the run may fail, unseen */
    f->recovered = rc == 0;
    return rc;
}

static int fork_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack *fork = NULL;
    int rc = valise_backpack_fork(&fork, bag, "run-2", NULL, &f->err);

    (void)v;
    CHECK(!fork == (rc < 0));
    valise_backpack_close(fork);
    return rc;
}

static int merge_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack *base = NULL, *fork = NULL;
    int64_t count;
    int rc;

    (void)v;
    fault_off(f);
    CHECK_INT(0, valise_snapshot_at(&base, bag, VLS_STR("now"), &f->err));
    CHECK_INT(0, valise_backpack_fork(&fork, base, "run-2", NULL, &f->err));
    CHECK_INT(0, pack(fork, "theirs", "1", &f->err));
    fault_on(f);
    rc = valise_backpack_merge(&count, bag, NULL, fork, NULL, NULL, &f->err);
    f->recovered =
        rc == 0 && fault_has_hit(f); /* that it was merged is not remembered: once more is fine */
    if (f->recovered) {
        fault_off(f);
        CHECK_INT(0, valise_backpack_merge(&count, bag, NULL, fork, NULL, NULL, &f->err));
        CHECK_INT(0, count);
        fault_on(f);
    }
    valise_backpack_close(fork);
    valise_backpack_close(base);
    return rc;
}

static int json_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack *copy = NULL;
    valise_blob *json = NULL;
    int rc = valise_backpack_to_json(&json, bag, -1, &f->err);

    if (rc == 0)
        rc = valise_backpack_from_json(&copy, v, "run-2", valise_blob_bytes(json), NULL, &f->err);
    CHECK(!copy == (rc < 0));
    if (rc == 0) {
        fault_off(f);
        CHECK_TEXT(items(bag), items(copy));
        CHECK_TEXT(all_history(bag), all_history(copy));
        fault_on(f);
        f->recovered = true; /* a copy that saves time was not made */
    }
    valise_blob_unref(json);
    valise_backpack_close(copy);
    return rc;
}

static int create_it(fault *f, valise *v, valise_backpack *bag)
{
    valise_backpack_options known = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *made = NULL;
    int rc = valise_dispatch(NULL, v, "backpack:create",
                             "{\"name\":\"run-2\",\"ephemeral\":true,\"items\":{\"a\":1}}", NULL,
                             &f->err);

    (void)bag;
    known.flags = VALISE_BACKPACK_KNOWN;
    fault_off(f);
    if (rc == 0)
        CHECK_INT(0, valise_dispatch(NULL, v, "backpack:drop", "{\"backpack\":\"run-2\"}", NULL,
                                     &f->err));
    else if (valise_backpack_open(&made, v, "run-2", &known, NULL) == 0)
        CHECK_TEXT("a=1", items(made)); /* only the answer was missing: nothing half is there */
    valise_backpack_close(made);
    fault_on(f);
    return rc;
}

/* Rules of the workspace are taken over when somebody asks anew. */
static int rule_it(fault *f, valise *v, valise_backpack *bag)
{
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise_backpack *view = NULL;
    valise_blob *value = NULL;
    int rc;

    fault_off(f);
    CHECK_INT(0, valise_backpack_node(&view, bag, &node, &f->err));
    CHECK_INT(0, valise_dispatch(NULL, v, "backpack:rule",
                                 "{\"backpack\":\"\",\"tag\":\"pii\",\"read\":[\"x\",\"y\"]}", NULL,
                                 &f->err));
    fault_on(f);
    rc = valise_unpack_required(&value, view, "email", &f->err);
    CHECK(rc == VALISE_E_DENIED || rc == VALISE_E_NO_MEMORY); /* never what the rule forbids */
    CHECK(!value);
    fault_off(f);
    valise_backpack_close(view);
    fault_on(f);
    if (rc == VALISE_E_DENIED)
        f->err = (valise_error)VALISE_ERROR_INIT;
    f->recovered = rc == VALISE_E_DENIED;
    return rc == VALISE_E_DENIED ? 0 : rc;
}

/* [B11] [K4] */
TEST(api_fault, opening)
{
    each(t, open_one);
}
TEST(api_fault, packing)
{
    each(t, pack_it);
}
TEST(api_fault, unpacking)
{
    each(t, unpack_it);
}
TEST(api_fault, packing_texts)
{
    each(t, pack_text_it);
}
TEST(api_fault, unpacking_texts)
{
    each(t, unpack_text_it);
}
TEST(api_fault, removing)
{
    each(t, change_it);
}
TEST(api_fault, quarantine)
{
    each(t, jail_it);
}
TEST(api_fault, snapshots)
{
    each(t, snapshot_it);
}
TEST(api_fault, nodes)
{
    each(t, node_it);
}
TEST(api_fault, forks)
{
    each(t, fork_it);
}
TEST(api_fault, merges)
{
    each(t, merge_it);
}
TEST(api_fault, json)
{
    each(t, json_it);
}
TEST(api_fault, creating)
{
    each(t, create_it);
}
TEST(api_fault, rules)
{
    each(t, rule_it);
}
