/* reads.c -- nodes and what is known about them: views, orders, limits, equal answers. [C4] [C13]
 * [C14] */
#include "base/hex.h"
#include "context/kit.h"
#include "context/ops.h"
#include "harness/fault.h"
#include "bus/bus.h"

TEST_PARAMS(reads, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 src/run.sh*=3 ln>src/a.c README=hello"

static const char *get(yard *y, const char *node, const char *view)
{
    return yard_run(y, "node:get",
                    test_format("{\"node\":\"%s\",\"view\":\"%s\",\"noScan\":true}", node, view));
}

/* The texts of the frames an answer has, in order. */
static const char *texts(yard *y, const char *answer)
{
    const char *all = "";

    for (int i = 0;; i++) {
        const char *id = yard_member(y, answer, test_format("frames.%d.frameId", i));
        if (!id[0])
            return all;
        all = test_format("%s%s%s", all, i ? " " : "",
                          yard_member(y, answer, test_format("frames.%d.text", i)));
    }
}

/* "GetNode(node_id, ContextView): Retrieve node context using policy-driven view". [C4] */
TEST(reads, the_record_of_a_node)
{
    yard *y = yard_open(t);
    const char *dir, *file, *link, *root;
    vls_id_text id;

    yard_grow(y, TREE, "");
    file = get(y, "src/run.sh", "");
    id = vls_id_hex(&grove_get(&y->state, "src/run.sh")->id);
    CHECK_TEXT(id.s, yard_member(y, file, "node.nodeId"));
    CHECK_TEXT("file", yard_member(y, file, "node.kind"));
    CHECK_TEXT("true", yard_member(y, file, "node.exec"));
    CHECK_TEXT("1", yard_member(y, file, "node.size"));
    CHECK_TEXT("src", yard_member(y, file, "node.parent"));
    CHECK_TEXT(vls_id_hex(&grove_get(&y->state, "src")->id).s,
               yard_member(y, file, "node.parentId"));
    CHECK_TEXT(file, get(y, id.s, "")); /* by path, by id, by its first digits */
    id.s[12] = '\0';
    CHECK_TEXT(file, get(y, id.s, ""));
    dir = get(y, "src", "");
    CHECK_TEXT("a.c", yard_member(y, dir, "node.children.0.name"));
    CHECK_TEXT("run.sh", yard_member(y, dir, "node.children.2.name"));
    CHECK_TEXT("", yard_member(y, dir, "node.children.3.name"));
    link = get(y, "ln", "");
    CHECK_TEXT("src/a.c", yard_member(y, link, "node.target"));
    root = get(y, ".", "");
    CHECK_TEXT("", yard_member(y, root, "node.parent"));
    CHECK_TEXT("3", yard_member(y, root, "node.size"));
}

/* "Same request yields same frame set (deterministic selection)"; orders and limits. [C14] */
TEST(reads, views_choose_and_order)
{
    yard *y = yard_open(t);
    const char *all;

    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "README", "b", "one", "");
    (void)yard_put(y, "s", "README", "c", "two", "");
    (void)yard_put(y, "w", "README", "a", "three", "");
    (void)yard_put(y, "w", "README", "b", "four", "");
    CHECK_TEXT("three four two", texts(y, get(y, "README", "")));
    CHECK_TEXT("four three two", texts(y, get(y, "README", "recency")));
    CHECK_TEXT("two three four", texts(y, get(y, "README", "agent")));
    CHECK_TEXT("four three two one", texts(y, get(y, "README", "history,recency")));
    CHECK_TEXT("four three", texts(y, get(y, "README", "history,recency,max=2")));
    CHECK_TEXT("four one", texts(y, get(y, "README", "history,recency,type=b")));
    CHECK_TEXT("two", texts(y, get(y, "README", "agent=s")));
    CHECK_TEXT("", texts(y, get(y, "README", "path=src/**")));
    CHECK_TEXT("", texts(y, get(y, "README", "state=stale")));
    /* Hard limits: what does not fit is left out, and a smaller one behind it may be taken. */
    CHECK_TEXT("four two", texts(y, get(y, "README", "recency,max_bytes=8")));
    CHECK_TEXT("four three", texts(y, get(y, "README", "recency,max_tokens=4")));
    CHECK_TEXT("", texts(y, get(y, "README", "recency,max_bytes=2")));
    all = get(y, "README", "history,recency,max=1,type=b");
    CHECK_TEXT("4", yard_member(y, all, "total"));
    CHECK_TEXT("2", yard_member(y, all, "matched"));
    CHECK_TEXT("1", yard_member(y, all, "returned"));
    CHECK_TEXT(all, get(y, "README", "history,recency,max=1,type=b"));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "node:get", "{\"node\":\"README\",\"view\":\"newest\"}", NULL));
    CHECK(strstr(t->err.message, "'newest' is not known"));
    yard_grow(y, "README=changed", "");
    CHECK_TEXT("three four two", texts(y, get(y, "README", "state=stale")));
    CHECK_TEXT("", texts(y, get(y, "README", "state=fresh")));
    (void)yard_put(y, "w", "README", "b", "a", "");
    (void)yard_put(y, "w", "README", "a", "many words, more than fit", "");
    CHECK_TEXT("a", texts(y, get(y, "README", "recency,max_tokens=1")));
}

/* What stands outside of `meta` is the same wherever the roots are. [C13] */
static const char *without_meta(yard *y, const char *answer)
{
    const char *text =
        test_format("%s %s %s %s %s", yard_member(y, answer, "node"),
                    yard_member(y, answer, "treeRoot"), yard_member(y, answer, "contextRoot"),
                    yard_member(y, answer, "viewHash"), yard_member(y, answer, "total"));

    for (int i = 0;; i++) {
        const char *frame = yard_member(y, answer, test_format("frames.%d", i));
        const char *meta = yard_member(y, answer, test_format("frames.%d.meta", i));
        const char *at;
        if (!frame[0])
            return text;
        at = strstr(frame, meta);
        CHECK(at != NULL);
        text = test_format("%s %.*s%s", text, (int)(at - frame), frame, at + strlen(meta));
    }
}

TEST(reads, equal_roots_give_equal_answers)
{
    yard *y = yard_open(t), *z = test_alloc(sizeof(*z));
    valise_options o = VALISE_OPTIONS_INIT;
    const char *one, *other;

    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "README", "b", "one", "");
    (void)yard_put(y, NULL, "README", "a", "two", ",\"metadata\":{\"x\":1}");
    /* Another workspace that came there by another way. */
    *z = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&z->v, ":memory:", &o, &t->err));
    yard_grow(z, "old=hello", "");
    (void)yard_put(z, NULL, "old", "a", "wrong", "");
    (void)yard_put(z, NULL, "old", "a", "two", "");
    (void)yard_put(z, NULL, "old", "b", "one", "");
    yard_grow(z, "README=hello", "old>README");
    yard_grow(z, TREE, "");
    one = get(y, "README", "heads,agent");
    other = get(z, "README", "heads,agent");
    CHECK_TEXT(without_meta(y, one), without_meta(z, other));
    valise_close(z->v);
}

/* A node as of an earlier tree: by root, by version, by its old id. */
TEST(reads, old_versions_stay_queryable)
{
    yard *y = yard_open(t);
    vls_id_text root, old;
    const char *then, *now;

    yard_grow(y, TREE, "");
    root = vls_id_hex(&grove_get(&y->state, "")->id);
    old = vls_id_hex(&grove_get(&y->state, "README")->id);
    (void)yard_put(y, NULL, "README", "notes", "x", "");
    yard_grow(y, "README=changed", "");
    now = get(y, "README", "");
    CHECK_TEXT("stale", yard_member(y, now, "frames.0.state"));
    then = yard_run(y, "node:get", test_format("{\"node\":\"README\",\"at\":\"%s\"}", root.s));
    CHECK_TEXT(old.s, yard_member(y, then, "node.nodeId"));
    CHECK_TEXT(root.s, yard_member(y, then, "treeRoot"));
    CHECK_TEXT("fresh", yard_member(y, then, "frames.0.state"));
    CHECK_TEXT(then, yard_run(y, "node:get", "{\"node\":\"README\",\"at\":\"v1\"}"));
    CHECK_TEXT(without_meta(y, then), without_meta(y, get(y, old.s, "")));
    CHECK_TEXT("earlier", yard_member(y, get(y, old.s, ""), "meta.tree"));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "node:get", "{\"node\":\"src\",\"at\":\"v2\"}", NULL));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try(y, NULL, "node:get", "{\"node\":\"README\",\"at\":\"00000000\"}", NULL));
}

/* "API calls do not trigger synthesis implicitly": a put makes one frame, and a read none. */
TEST(reads, api_calls_do_not_trigger_synthesis)
{
    yard *y = yard_open(t);

    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/a.c", "summary", "a", "");
    (void)yard_put(y, "w", "src/b.c", "summary", "b", "");
    (void)get(y, "src", "history");
    CHECK_TEXT("0", yard_member(y, get(y, "src", "history"), "total"));
    CHECK_TEXT("0", yard_member(y, get(y, ".", "history"), "total"));
}

/* What was said is erased with its place; what is left says so. [K30] */
TEST(reads, erased_contents_are_gone)
{
    yard *y = yard_open(t);
    const char *id, *shown;

    yard_grow(y, TREE, "");
    id = yard_member(y, yard_put(y, "w", "README", "notes", "secret", ""), "frameId");
    (void)yard_run(y, "workspace:erase",
                   test_format("{\"place\":\"frame/%s\",\"reason\":\"asked\"}", id));
    shown = get(y, "README", "");
    CHECK_TEXT("true", yard_member(y, shown, "frames.0.erased"));
    CHECK_TEXT("", yard_member(y, shown, "frames.0.text"));
    CHECK_TEXT("fresh", yard_member(y, shown, "frames.0.state"));
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", id));
    CHECK_TEXT("true", yard_member(y, shown, "erased"));
}

/* ---- who may read only some of it ---- */

/* May the actor? It must be either that or VALISE_E_DENIED. */
static bool may(yard *y, const char *actor, const char *type, const char *payload)
{
    test *t = y->t;
    int rc = yard_try(y, actor, type, payload, NULL);

    CHECK_MSG(rc == 0 || rc == VALISE_E_DENIED, "%s %s: %s", type, payload, t->err.message);
    return rc == 0;
}

static const char *shown_by(const char *id)
{
    return test_format("{\"frame\":\"%s\",\"noScan\":true}", id);
}

/* Narrowed to a type: the node is seen, and of the frames those of the type; the others are as if
 * they were not there, in counts too. What is asked for by itself is denied. [C7] [C13] */
TEST(reads, one_who_may_read_a_type_sees_nodes_and_that_type)
{
    yard *y = yard_open(t);
    const char *shown, *notes, *summary;

    yard_grow(y, TREE, "");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":"
                   "[\"context:read type=sum*\"]}");
    notes = yard_member(y, yard_put(y, "w", "README", "notes", "secret", ""), "frameId");
    (void)yard_put(y, "w", "README", "summary", "old", "");
    summary = yard_member(y, yard_put(y, "w", "README", "summary", "new", ""), "frameId");
    (void)yard_put(y, "w", "src/a.c", "notes", "secret", "");

    shown = yard_run_as(y, "n", "node:get", "{\"node\":\"README\",\"view\":\"history,recency\"}");
    CHECK_TEXT("README", yard_member(y, shown, "node.path"));
    CHECK_TEXT("2", yard_member(y, shown, "total"));
    CHECK_TEXT("2", yard_member(y, shown, "matched"));
    CHECK_TEXT("2", yard_member(y, shown, "returned"));
    CHECK_TEXT("new old", texts(y, shown));
    shown = yard_run_as(y, "n", "node:get", "{\"node\":\"README\",\"view\":\"type=notes\"}");
    CHECK_TEXT("1 0", test_format("%s %s", yard_member(y, shown, "total"),
                                  yard_member(y, shown, "matched")));
    shown = yard_run_as(y, "n", "node:get", "{\"node\":\"src/a.c\"}");
    CHECK_TEXT("0", yard_member(y, shown, "total"));
    shown = yard_run_as(y, "n", "frame:list", "{\"node\":\"README\"}");
    CHECK_TEXT(summary, yard_member(y, shown, "items.0.frameId"));
    CHECK_TEXT("", yard_member(y, shown, "items.2"));
    shown = yard_run_as(y, "n", "head:get", "{\"node\":\"README\"}");
    CHECK_TEXT("new", yard_member(y, shown, "items.0.text"));
    CHECK_TEXT("", yard_member(y, shown, "items.1"));
    CHECK_TEXT("empty", yard_member(y,
                                    yard_run_as(y, "n", "head:get",
                                                "{\"node\":\"src/a.c\",\"type\":\"summary\"}"),
                                    "items.0.state"));
    shown = yard_run_as(y, "n", "frame:show", shown_by(summary));
    CHECK_TEXT("new", yard_member(y, shown, "text"));
    CHECK_TEXT("fresh", yard_member(y, shown, "slots.0.state"));
    CHECK(may(y, "n", "frame:proof", "{\"node\":\"README\",\"type\":\"summary\"}"));

    CHECK(!may(y, "n", "frame:show", shown_by(notes)));
    CHECK(!may(y, "n", "frame:list", "{\"node\":\"README\",\"type\":\"notes\"}"));
    CHECK(!may(y, "n", "head:get", "{\"node\":\"README\",\"type\":\"notes\"}"));
    CHECK(!may(y, "n", "frame:proof", "{\"node\":\"README\",\"type\":\"notes\"}"));
}

/* Narrowed to a path: everything there, nothing elsewhere; a frame that is in both places is seen
 * in the one. [C7] */
TEST(reads, one_who_may_read_a_path_sees_what_is_there)
{
    static const char *const reads[] = {"node:get", "frame:list", "head:get", "frame:proof"};
    yard *y = yard_open(t);
    const char *both, *elsewhere, *shown;

    yard_grow(y, "src/a.c=same README=same", "");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":"
                   "[\"context:read path=src/**\",\"context:write type=x path=src/**\"]}");
    (void)yard_put(y, "w", "README", "notes", "said twice", "");
    both = yard_member(y, yard_put(y, "w", "src/a.c", "notes", "said twice", ""), "frameId");
    elsewhere = yard_member(y, yard_put(y, "w", "README", "notes", "only there", ""), "frameId");
    for (size_t i = 0; i < VLS_COUNT(reads); i++) {
        CHECK(may(y, "n", reads[i], "{\"node\":\"src/a.c\"}"));
        CHECK(!may(y, "n", reads[i], "{\"node\":\"README\"}"));
        CHECK(!may(
            y, "n", reads[i],
            test_format("{\"node\":\"%s\"}", vls_id_hex(&grove_get(&y->state, "README")->id).s)));
    }
    shown = yard_run_as(y, "n", "frame:show", shown_by(both));
    CHECK_TEXT("1", yard_member(y, shown, "slotCount"));
    CHECK_TEXT("src/a.c", yard_member(y, shown, "slots.0.path"));
    CHECK_TEXT("2", yard_member(y, yard_run(y, "frame:show", shown_by(both)), "slotCount"));
    CHECK(!may(y, "n", "frame:show", shown_by(elsewhere)));
    /* With both conditions: neither alone is enough. */
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"m\",\"role\":\"none\",\"capabilities\":"
                   "[\"context:read path=src/** type=x\"]}");
    CHECK_TEXT("0",
               yard_member(y, yard_run_as(y, "m", "node:get", "{\"node\":\"src/a.c\"}"), "total"));
    CHECK(!may(y, "m", "frame:show", shown_by(both)));
    CHECK(!may(y, "m", "node:get", "{\"node\":\"README\"}"));
}

/* An id of an earlier version shows that version, in every read. */
TEST(reads, an_earlier_id_shows_what_was_there)
{
    yard *y = yard_open(t);
    const char *node, *shown;

    yard_grow(y, TREE, "");
    node = test_format("{\"node\":\"%s\"}", vls_id_hex(&grove_get(&y->state, "README")->id).s);
    (void)yard_put(y, "w", "README", "notes", "x", "");
    yard_grow(y, "README=changed", "");
    CHECK_TEXT("stale node-changed", yard_state(y, "README", "notes"));
    shown = yard_run(y, "head:get", node);
    CHECK_TEXT("fresh", yard_member(y, shown, "items.0.state"));
    CHECK_TEXT("earlier", yard_member(y, shown, "items.0.meta.tree"));
    shown = yard_run(y, "frame:list", node);
    CHECK_TEXT("fresh", yard_member(y, shown, "items.0.state"));
    CHECK_TEXT("earlier", yard_member(y, shown, "items.0.meta.tree"));
    CHECK_TEXT("earlier", yard_member(y, yard_run(y, "node:get", node), "meta.tree"));
}

/* ---- views with names ---- */

TEST(reads, views_may_have_names)
{
    yard *y;
    const char *folder = test_format("%s/yard", test_tmpdir());

    if (strcmp(t->param, "memory") == 0)
        SKIP("a workspace in memory has no configuration");
    y = yard_open(t);
    valise_close(y->v);
    test_write_file(test_format("%s/.valise/config", folder),
                    VLS_STR("[view \"brief\"]\n\tspec = recency,max=1\n"
                            "[view \"broken\"]\n\tspec = recency,max=none\n"
                            "[context]\n\tframe-max = 5\n"));
    {
        valise_options o = VALISE_OPTIONS_INIT;
        o.env = t->env;
        o.flags = VALISE_OPEN_NO_USER_CONFIG;
        CHECK_OK(valise_open(&y->v, folder, &o, &t->err));
    }
    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "README", "a", "one", "");
    (void)yard_put(y, NULL, "README", "b", "two", "");
    CHECK_TEXT("two", texts(y, get(y, "README", "brief")));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "node:get", "{\"node\":\"README\",\"view\":\"broken\"}", NULL));
    CHECK(strstr(t->err.message, "'max=none'") && strstr(t->err.hint, "view 'broken'"));
    CHECK_INT(VALISE_E_TOO_LARGE, yard_try_put(y, NULL, "README", "a", "sixsix", ""));
}

/* ---- without memory ---- */

static int use_once(fault *f, void *arg)
{
    test local = *f->t;
    valise_reply reply = VALISE_REPLY_INIT;
    yard *y;
    int rc;

    (void)arg;
    fault_off(f);
    local.param = "memory";
    y = yard_open_with(&local, f->env);
    y->t = f->t;
    yard_grow(y, "src/a.c=1 b.c=2", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "one", "");
    (void)yard_put(y, NULL, "b.c", "notes", "two", "");
    fault_on(f);
    rc = valise_dispatch(NULL, y->v, "frame:put",
                         "{\"node\":\"src/a.c\",\"content\":\"eA==\",\"recipe\":\"eA==\","
                         "\"metadata\":{\"a\":1},\"noScan\":true}",
                         NULL, &f->err);
    if (rc == 0)
        rc = valise_dispatch(&reply, y->v, "node:get",
                             "{\"node\":\"src/a.c\",\"view\":\"history,recency,max_tokens=99\"}",
                             NULL, &f->err);
    valise_reply_release(&reply);
    if (rc == 0)
        rc = valise_dispatch(&reply, y->v, "frame:proof", "{\"node\":\"src/a.c\"}", NULL, &f->err);
    valise_reply_release(&reply);
    if (rc == 0) {
        vls_slot_move move = {VLS_STR("src"), VLS_STR("lib")};
        const vls_slot_move *items[] = {&move};
        rc = vls_run(y->v, &vls_op_context_slot_move, &(vls_slot_move_args){.moves = {items, 1}},
                     NULL, NULL, NULL, &(vls_run_more){.internal = true}, &f->err);
    }
    fault_off(f);
    f->recovered = rc == 0; /* caches do without */
    yard_check(y);
    valise_close(y->v);
    return rc;
}

TEST(reads, without_memory)
{
    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    fault_each_alloc(t, 0, use_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, use_once, NULL);
}
