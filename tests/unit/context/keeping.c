/* keeping.c -- what lasts of trees and frames: copies, parts, gc, erasure, damage, events, replay.
 * [K15] [K20] [K21] [K22] [K30] [K32] [K36] */
#define VLS_ALLOW_MALLOC
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <valise.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/str.h"
#include "context/kit.h"
#include "context/merkle.h"
#include "bus/bus.h"
#include "context/state.h"
#include "kit/replayed.h"

TEST_PARAMS(keeping, "memory", "sqlite")

/* ---- workspaces ---- */

/* Something that a command shall do. */
typedef int doing_fn(const void *arg, valise_view *view, const vls_tree_row *tree,
                     valise_error *err);
static struct {
    doing_fn *fn;
    const void *arg;
} doing; /* of the one test that runs */

static int do_it(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)in, (void)out;
    return rc < 0 ? rc : doing.fn(doing.arg, view, &tree, err);
}

static const valise_op do_op = {.size = sizeof(valise_op),
                                .name = "toy:do",
                                .brief = "Do something.",
                                .kind = VALISE_COMMAND,
                                .needs = "toy:write",
                                .decide = do_it};
static const valise_op *const toy_ops[] = {&do_op, NULL};
static const valise_extension toy = {.size = sizeof(valise_extension),
                                     .abi = VALISE_EXTENSION_ABI,
                                     .name = "toy",
                                     .version = "1",
                                     .operations = toy_ops};

static void close_it(void *arg)
{
    valise_close(arg);
}

/* A workspace in which nothing has happened yet. */
static yard *open_named(test *t, const char *name)
{
    static const valise_extension *const extensions[] = {&toy, NULL};
    yard *y = test_alloc(sizeof(*y));
    bool memory = !t->param || strcmp(t->param, "memory") == 0;
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&y->v, memory ? ":memory:" : test_format("%s/%s", test_tmpdir(), name), &o,
                         &t->err));
    test_defer(close_it, y->v);
    return y;
}

static void do_in(yard *y, doing_fn *fn, const void *arg)
{
    doing.fn = fn;
    doing.arg = arg;
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
}

static int mark(const void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    vls_slot_row slot;

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, valise_str_of(arg), VLS_STR("notes"), err));
    CHECK_INT(1, vls_slot_invalidate(view, &slot, VLS_STR("wrong"), err));
    return 0;
}

static const char *node_of(yard *y, const char *path)
{
    return yard_member(y, yard_run(y, "node:get", test_format("{\"node\":\"%s\"}", path)),
                       "node.nodeId");
}

/* Everything there can be: an old frame, one that was attached, an external one, a mark, slots that
 * moved, one that was closed, one without a head, more frames than one page has. */
static void fill(yard *y)
{
    const char *old;

    yard_grow(y, "src/a.c=1 src/b.c=2 c.c=3 d.c=4", "");
    old = node_of(y, "d.c");
    (void)yard_put(y, NULL, "src/a.c", "notes", "first words", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "second words", ",\"metadata\":{\"why\":\"told\"}");
    (void)yard_put(y, NULL, "src/b.c", "summary", "made", ",\"recipe\":\"cHJvZ3JhbQ==\"");
    (void)yard_put(y, NULL, ".", "notes", "all of it", "");
    (void)yard_put(y, NULL, "c.c", "notes", "a file", "");
    yard_grow(y, "src/a.c=1 src/b.c=2 c.c/x=3 d.c=44", "");
    (void)yard_put(y, NULL, "c.c", "notes", "a directory", "");
    (void)yard_put(y, NULL, "d.c", "past", "as it was", test_format(",\"basis\":\"%s\"", old));
    yard_grow(y, "lib/a.c=1 lib/b.c=2 c.c/x=3 d.c=44", "src>lib");
    for (int i = 0; i < 20; i++)
        (void)yard_put(y, NULL, "lib/b.c", "log", test_format("line %d", i), "");
    do_in(y, mark, "lib/a.c");
}

static const char *const paths[] = {".", "lib", "lib/a.c", "lib/b.c", "c.c", "d.c"};

/* What reads say of it, word for word. */
static const char *known(yard *y)
{
    const char *all = "";

    for (size_t i = 0; i < VLS_COUNT(paths); i++)
        all = test_format("%s%s\n", all,
                          yard_run(y, "node:get",
                                   test_format("{\"node\":\"%s\",\"view\":\"history,recency\","
                                               "\"noScan\":true}",
                                               paths[i])));
    return test_format("%s%s\n%s", all,
                       yard_run(y, "frame:proof", "{\"node\":\"lib/a.c\",\"type\":\"notes\"}"),
                       yard_run(y, "frame:proof", "{\"node\":\"lib/b.c\",\"type\":\"log\"}"));
}

static int add_problem(void *arg, valise_str json, valise_error *err)
{
    const char **all = arg;

    (void)err;
    if (vls_str_find(json, VLS_STR("\"kind\":\"problem\"")) < json.len)
        *all = test_format("%s%.*s\n", *all, VALISE_STR_ARG(json));
    return 0;
}

/* What `validate` finds, one a line. */
static const char *problems(yard *y)
{
    valise_error err = VALISE_ERROR_INIT;
    const char *found = "";
    int rc = valise_stream(NULL, y->v, "workspace:validate", "{}", add_problem, &found, NULL, &err);

    CHECK_INT(found[0] ? VALISE_E_CORRUPT : 0, rc);
    return found;
}

static const char *hash_of(yard *y)
{
    return yard_member(y, yard_run(y, "workspace:hash", "{}"), "hash");
}

static const char *tree_of(yard *y)
{
    const char *events = yard_run(y, "event:list", "{\"types\":[\"tree.changed\"],\"limit\":1}");

    return yard_member(y, events, "items.0.payload.tree");
}

/* The types of the events since a seq, without those of the commands themselves. */
static const char *told_since(yard *y, int64_t seq)
{
    const char *list = yard_run(y, "event:list", test_format("{\"since\":%lld}", (long long)seq));
    const char *all = "";

    for (int i = 0;; i++) {
        const char *type = yard_member(y, list, test_format("items.%d.type", i));
        if (!type[0])
            return all;
        if (strcmp("0", yard_member(y, list, test_format("items.%d.index", i))) != 0 &&
            strcmp("", yard_member(y, list, test_format("items.%d.index", i))) != 0)
            all = test_format("%s%s%s", all, all[0] ? " " : "", type);
    }
}

static int64_t next_seq(yard *y)
{
    return strtoll(yard_member(y, yard_run(y, "workspace:hash", "{}"), "seq"), NULL, 10) + 1;
}

static const char *export_to(yard *y, const char *name, const char *places)
{
    const char *file = test_format("%s/%s", test_tmpdir(), name);

    (void)yard_run(y, "workspace:export",
                   test_format("{\"file\":\"%s\",\"places\":[%s]}", file, places));
    return file;
}

static const char *import_from(yard *y, const char *file)
{
    return yard_run(y, "workspace:import", test_format("{\"file\":\"%s\"}", file));
}

/* ---- copies ---- */

TEST(keeping, a_copy_knows_what_the_original_knows) /* [K36] [C11] [C13] */
{
    yard *y = open_named(t, "from"), *copy = open_named(t, "to");
    const char *file, *answer;

    fill(y);
    file = export_to(y, "whole.vb", "");
    CHECK_TEXT("true", yard_member(copy, import_from(copy, file), "restored"));
    CHECK_TEXT(hash_of(y), hash_of(copy));
    CHECK_TEXT(known(y), known(copy));
    CHECK_TEXT("", problems(copy));
    answer = import_from(copy, file);
    CHECK_TEXT("0", yard_member(copy, answer, "rows"));
    CHECK_TEXT("0", yard_member(copy, answer, "seq"));
    CHECK_TEXT(hash_of(y), hash_of(copy));
    /* And it goes on there as here. */
    copy->state = y->state;
    copy->version = y->version;
    (void)yard_put(y, NULL, "d.c", "notes", "more", "");
    (void)yard_put(copy, NULL, "d.c", "notes", "more", "");
    CHECK_TEXT(yard_member(y, yard_run(y, "node:get", "{\"node\":\".\"}"), "contextRoot"),
               yard_member(copy, yard_run(copy, "node:get", "{\"node\":\".\"}"), "contextRoot"));
    CHECK_TEXT(state_of(t, copy->v), replayed(t, copy->v));
}

/* Two trees in one workspace: each stays as it is, and reads are about the own one. */
TEST(keeping, another_tree_stands_beside_the_own_one) /* [K36] */
{
    yard *y = open_named(t, "from"), *own = open_named(t, "own");
    const char *file, *before, *frame, *answer;
    int64_t since;

    fill(y);
    frame = yard_member(y, yard_run(y, "head:get", "{\"node\":\"lib/b.c\",\"type\":\"summary\"}"),
                        "items.0.frameId");
    file = export_to(y, "whole.vb", "");
    yard_grow(own, "lib/a.c=1 lib/b.c=2 c.c/x=3 d.c=44", "");
    (void)yard_put(own, NULL, "lib/a.c", "notes", "second words", ""); /* the same frame */
    (void)yard_put(own, NULL, "lib/b.c", "log", "mine", "");
    before = known(own);
    since = next_seq(own);
    answer = import_from(own, file);
    CHECK_TEXT("false", yard_member(own, answer, "restored"));
    CHECK(strcmp("0", yard_member(own, answer, "rows")) != 0);
    CHECK_TEXT(before, known(own));
    CHECK_TEXT("made",
               yard_member(own,
                           yard_run(own, "frame:show", test_format("{\"frame\":\"%s\"}", frame)),
                           "text"));
    CHECK_TEXT("", problems(own));
    answer = import_from(own, file);
    CHECK_TEXT("0", yard_member(own, answer, "rows"));
    CHECK_TEXT("0", yard_member(own, answer, "seq"));
    /* It has frames more, and nothing has happened to a slot here. */
    CHECK(strstr(told_since(own, since), "frame.added"));
    CHECK(!strstr(told_since(own, since), "head.moved"));
    CHECK(!strstr(told_since(own, since), "slot."));
    CHECK(!strstr(told_since(own, since), "tree.changed"));
    CHECK_TEXT(state_of(t, own->v), replayed(t, own->v));
}

/* A newer state of the same tree is another one: nothing is imported, and the message says what. */
TEST(keeping, a_tree_that_went_on_elsewhere_is_refused)
{
    yard *y = open_named(t, "from"), *copy = open_named(t, "to");
    const char *before;

    fill(y);
    (void)import_from(copy, export_to(y, "whole.vb", ""));
    (void)yard_put(y, NULL, "d.c", "notes", "more", "");
    before = hash_of(copy);
    CHECK_RC(VALISE_E_CONFLICT,
             yard_try(copy, NULL, "workspace:import",
                      test_format("{\"file\":\"%s\"}", export_to(y, "newer.vb", "")), NULL));
    CHECK(strstr(t->err.message, "context_root "));
    CHECK(strstr(t->err.hint, "nothing was imported"));
    CHECK_TEXT(before, hash_of(copy));
}

/* ---- parts ---- */

/* With what they need: entries, pages, bases, recipes, versions and their nodes. */
TEST(keeping, a_part_has_what_it_needs) /* [K36] */
{
    yard *y = open_named(t, "from"), *whole = open_named(t, "whole");
    const char *tree, *frame, *all, *parts[4];

    fill(y);
    tree = tree_of(y);
    frame = yard_member(y, yard_run(y, "head:get", "{\"node\":\"lib/b.c\",\"type\":\"summary\"}"),
                        "items.0.frameId");
    (void)yard_run(whole, "pin:add", "{\"name\":\"p\"}"); /* not empty any more: rows are added */
    all = yard_member(whole, import_from(whole, export_to(y, "whole.vb", "")), "rows");
    parts[0] = test_format("\"tree/%s\"", tree);
    parts[1] = test_format("\"slot/%s/lib%%2Fa.c/notes\"", tree);
    parts[2] = test_format("\"slot/%s//notes\"", tree);
    parts[3] = test_format("\"frame/%s\"", frame);
    for (int i = 0; i < 4; i++) {
        yard *other = open_named(t, test_format("part-%d", i));
        const char *file = export_to(y, test_format("part-%d.vb", i), parts[i]);
        const char *rows = yard_member(other, import_from(other, file), "rows");
        const char *shown = yard_run(other, "frame:show", test_format("{\"frame\":\"%s\"}", frame));
        CHECK_TEXT("", problems(other));
        CHECK_TEXT(i == 3 ? "1" : all, rows);
        CHECK_TEXT("made", yard_member(other, shown, "text"));
        CHECK_TEXT("external", yard_member(other, shown, "kind"));
        CHECK_TEXT("node", yard_member(other, shown, "madeOf.1.kind"));
        CHECK_TEXT("0", yard_member(other, import_from(other, file), "rows"));
        CHECK_TEXT(state_of(t, other->v), replayed(t, other->v));
    }
}

/* Names of slots in places: any bytes are possible in a path. [K2] */
TEST(keeping, a_slot_can_be_named)
{
    yard *y = open_named(t, "names");
    const char *tree, *place;

    yard_grow(y, "a.c=1 lib/b.c=2", "");
    (void)yard_put(y, NULL, "lib/b.c", "notes", "words", "");
    tree = tree_of(y);
    place = test_format("slot/%s/lib%%2Fb.c/notes", tree);
    CHECK_TEXT(place,
               yard_member(y,
                           yard_run(y, "workspace:show", test_format("{\"target\":\"%s\"}", place)),
                           "id"));
    CHECK_RC(VALISE_E_INVALID,
             yard_try(y, NULL, "workspace:show",
                      test_format("{\"target\":\"slot/%s/a%%2/notes\"}", tree), NULL));
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "workspace:show",
                      test_format("{\"target\":\"slot/%s/a.c/notes\"}", tree), NULL));
}

/* A path that is no UTF-8 has a place all the same, which is a text. */
TEST(keeping, a_slot_at_any_path_can_be_named)
{
    yard *y = open_named(t, "names");
    const char *ls, *place, *shown;

    yard_grow(y, "a\xff%=1 \xc3\xa4=2", "");
    ls = yard_run(y, "tree:ls", "{}");
    for (int i = 0; i < 2; i++)
        (void)yard_put(y, NULL, yard_member(y, ls, test_format("items.%d.nodeId", i)), "notes", "w",
                       "");
    for (int i = 0; i < 2; i++) {
        place = test_format("slot/%s/%s/notes", tree_of(y), i ? "a%FF%25" : "\xc3\xa4");
        shown = yard_run(y, "workspace:show", test_format("{\"target\":\"%s\"}", place));
        CHECK_TEXT(place, yard_member(y, shown, "id"));
        (void)export_to(y, test_format("part-%d.vb", i), test_format("\"%s\"", place));
    }
    CHECK_TEXT("", problems(y));
}

/* ---- garbage ---- */

TEST(keeping, gc_takes_nothing_that_a_history_needs) /* [K21] [K30] [C4] */
{
    yard *y = open_named(t, "gc");
    const char *before, *past, *answer;

    fill(y);
    before = known(y);
    past = yard_run(y, "node:get", "{\"node\":\"src/a.c\",\"at\":\"v1\"}");
    (void)yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK_TEXT(before, known(y));
    CHECK_TEXT(state_of(t, y->v), replayed(t, y->v));
    /* The log goes, and with it the lists of changes and the program that was given; no frame, no
     * version of the tree. */
    (void)yard_run(y, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    answer = yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK_TEXT("0", yard_member(y, answer, "rows"));
    CHECK_TEXT("4", yard_member(y, answer, "objects"));
    CHECK_TEXT(before, known(y));
    CHECK_TEXT(past, yard_run(y, "node:get", "{\"node\":\"src/a.c\",\"at\":\"v1\"}"));
    CHECK_TEXT("", problems(y));
    CHECK_TEXT("0", yard_member(y, yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}"), "objects"));
    /* What is kept of trees and slots has names of its own (prune.c), and nobody sets one by
     * accident. */
    for (int i = 0; i < 3; i++) {
        static const char *const kinds[] = {"tree_node", "slot_entry", "frame"};
        CHECK_RC(VALISE_E_NOT_FOUND,
                 yard_try(y, NULL, "retention:set",
                          test_format("{\"kind\":\"%s\",\"keepLatest\":1}", kinds[i]), NULL));
    }
}

/* ---- erasure ---- */

static const char *erase(yard *y, const char *place)
{
    return yard_run(y, "workspace:erase", test_format("{\"place\":\"%s\"}", place));
}

static const char *head_of(yard *y, const char *path)
{
    return yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"notes\"}", path));
}

static void check_proof(yard *y, const char *frame)
{
    const char *proof = yard_run(y, "frame:proof", "{\"node\":\"a.c\",\"type\":\"notes\"}");
    const char *verified =
        yard_run(y, "frame:verify",
                 test_format("{\"root\":\"%s\",\"key\":\"%s\",\"proof\":\"%s\"}",
                             yard_member(y, proof, "root"), frame, yard_member(y, proof, "proof")));

    CHECK_TEXT("true", yard_member(y, verified, "member"));
}

static bool is_on_disk(const char *text)
{
    static const char *const files[] = {"valise.db", "valise.db-wal"};

    for (size_t i = 0; i < VLS_COUNT(files); i++) {
        const char *path = test_format("%s/erase/.valise/%s", test_tmpdir(), files[i]);
        valise_str bytes = {NULL, 0};
        if (access(path, F_OK) == 0)
            bytes = test_read_file(path);
        if (bytes.len > 0 && vls_str_find(bytes, valise_str_of(text)) < bytes.len)
            return true;
    }
    return false;
}

TEST(keeping, what_was_erased_is_gone_and_ids_stay) /* [K20] [C9] */
{
    yard *y = open_named(t, "erase");
    bool disk = t->param && strcmp(t->param, "sqlite") == 0;
    const char *put, *frame, *root;

    yard_grow(y, "a.c=1 b.c=1", "");
    put = yard_put(y, NULL, "a.c", "notes", "between us two", ",\"metadata\":{\"who\":\"nobody\"}");
    frame = yard_member(y, put, "frameId");
    root = yard_member(y, put, "contextRoot");
    CHECK(!disk || is_on_disk("between us two"));
    (void)erase(y, test_format("frame/%s", frame));
    CHECK_TEXT("true", yard_member(y, head_of(y, "a.c"), "items.0.erased"));
    CHECK_TEXT("", yard_member(y, head_of(y, "a.c"), "items.0.text"));
    CHECK_TEXT(frame, yard_member(y, head_of(y, "a.c"), "items.0.frameId"));
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    check_proof(y, frame);
    CHECK_TEXT("", problems(y));
    (void)yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!disk || !is_on_disk("between us two"));
    /* Metadata are contents of the slot's entry. */
    CHECK_TEXT("nobody", yard_member(y, head_of(y, "a.c"), "items.0.meta.metadata.who"));
    (void)erase(
        y, test_format("slot_entry/%s/1", yard_member(y, head_of(y, "a.c"), "items.0.meta.slot")));
    CHECK_TEXT("", yard_member(y, head_of(y, "a.c"), "items.0.meta.metadata"));
    CHECK_TEXT("", problems(y));
    /* Said again, it is there again: the same frame, since the same time. */
    put = yard_put(y, NULL, "a.c", "notes", "between us two", "");
    CHECK_TEXT("true", yard_member(y, put, "existed"));
    CHECK_TEXT(root, yard_member(y, put, "contextRoot"));
    CHECK_TEXT("between us two", yard_member(y, head_of(y, "a.c"), "items.0.text"));
    CHECK_TEXT("false", yard_member(y, head_of(y, "a.c"), "items.0.erased"));
    CHECK_TEXT("", problems(y));
    /* And can be erased again. */
    (void)erase(y, test_format("frame/%s", frame));
    CHECK_TEXT("true", yard_member(y, head_of(y, "a.c"), "items.0.erased"));
    CHECK_TEXT("", problems(y));
    (void)yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!disk || !is_on_disk("between us two"));
}

/* Two frames that say the same are two places. */
TEST(keeping, erasing_one_frame_leaves_the_other) /* [K20] */
{
    yard *y = open_named(t, "erase");
    const char *first, *second, *answer, *content;

    yard_grow(y, "a.c=1 b.c=2", "");
    first = yard_member(y, yard_put(y, NULL, "a.c", "notes", "said twice", ""), "frameId");
    second = yard_member(y, yard_put(y, NULL, "b.c", "notes", "said twice", ""), "frameId");
    answer = erase(y, test_format("frame/%s", first));
    CHECK_TEXT(test_format("frame/%s", second), yard_member(y, answer, "others.0"));
    CHECK_TEXT("true", yard_member(y, head_of(y, "a.c"), "items.0.erased"));
    CHECK_TEXT("said twice", yard_member(y, head_of(y, "b.c"), "items.0.text"));
    CHECK_TEXT("", problems(y));
    content = yard_member(
        y, yard_run(y, "workspace:show", test_format("{\"target\":\"frame/%s\"}", second)),
        "value.content");
    (void)yard_run(y, "workspace:erase", test_format("{\"content\":\"%s\"}", content));
    CHECK_TEXT("true", yard_member(y, head_of(y, "b.c"), "items.0.erased"));
    CHECK_TEXT("", problems(y));
}

/* Without its basis nobody can tell whether a frame holds; reads go on. */
TEST(keeping, a_basis_that_was_erased_harms_no_read) /* [C12] */
{
    yard *y = open_named(t, "erase");
    const char *frame, *shown, *file;
    yard *copy = open_named(t, "copy");

    yard_grow(y, "a.c=1 b.c=2", "");
    frame = yard_member(
        y, yard_put(y, NULL, "a.c", "notes", "words", ",\"recipe\":\"cHJvZ3JhbQ==\""), "frameId");
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", frame));
    (void)yard_run(y, "workspace:erase",
                   test_format("{\"content\":\"%s\"}", yard_member(y, shown, "recipe")));
    CHECK_TEXT("", problems(y));
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    (void)yard_run(y, "workspace:erase",
                   test_format("{\"content\":\"%s\"}", yard_member(y, shown, "basis")));
    CHECK_TEXT("stale", yard_state(y, "a.c", "notes"));
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", frame));
    CHECK_TEXT("words", yard_member(y, shown, "text"));
    CHECK_TEXT("[]", yard_member(y, shown, "madeOf"));
    CHECK_TEXT("", problems(y));
    check_proof(y, frame);
    file = export_to(y, "erased.vb", "");
    (void)import_from(copy, file);
    CHECK_TEXT("", problems(copy));
    CHECK_TEXT(hash_of(y), hash_of(copy));
}

/* ---- damage ---- */

static int damage_slot(const void *arg, valise_view *view, const vls_tree_row *tree,
                       valise_error *err)
{
    int what = *(const int *)arg;
    vls_slot_row slot;
    vls_slot_entry_row first;

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, VLS_STR("a.c"), VLS_STR("notes"), err));
    CHECK_INT(1, vls_slot_entry(&first, view, &slot.id, 1, err));
    if (what == 0)
        slot.head = first.frame;
    if (what == 1)
        slot.head_entry = 1;
    if (what == 2)
        slot.root.bytes[0] ^= 1;
    if (what == 3)
        slot.marked = true;
    if (what == 4)
        slot.entries = 1;
    if (what == 5) { /* under another type: the same slot twice, too */
        slot.type = VLS_STR("other");
        return valise_view_put(view, &vls_slots, &slot, err);
    }
    return valise_view_put(view, &vls_slots, &slot, err);
}

static int damage_entry(const void *arg, valise_view *view, const vls_tree_row *tree,
                        valise_error *err)
{
    int what = *(const int *)arg;
    vls_slot_row slot, other;
    vls_slot_entry_row entry = {.number = 3, .kind = VLS_ENTRY_PUT};

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, VLS_STR("a.c"), VLS_STR("notes"), err));
    CHECK_INT(1, vls_slot_get(&other, view, &tree->id, VLS_STR("b.c"), VLS_STR("notes"), err));
    entry.slot = slot.id;
    entry.frame = what == 1 ? other.head : slot.head;
    if (what == 0)
        entry.number = 7;
    if (what == 2)
        entry.kind = VLS_ENTRY_MOVE;
    if (what == 3)
        entry.frame = (valise_id){{0}};
    if (what == 4) {
        entry.number = 1;
        entry.slot.bytes[0] ^= 1;
    }
    return valise_view_put(view, &vls_slot_entries, &entry, err);
}

static int damage_context(const void *arg, valise_view *view, const vls_tree_row *tree,
                          valise_error *err)
{
    int what = *(const int *)arg;
    vls_context_row context;

    CHECK_INT(0, vls_context_get(&context, view, &tree->id, err));
    context.slots += what == 0;
    context.heads += what == 1;
    context.marked += what == 2;
    context.frames += what == 3;
    context.root.bytes[0] ^= what == 4;
    context.derived += what == 5;
    return valise_view_put(view, &vls_contexts, &context, err);
}

static int damage_closed(const void *arg, valise_view *view, const vls_tree_row *tree,
                         valise_error *err)
{
    int what = *(const int *)arg;
    vls_slot_row slot;
    vls_slot_closed_row closed = {.tree = tree->id, .path = VLS_STR("c.c"), .type = VLS_STR("x")};
    vls_slot_entry_row end = {.kind = VLS_ENTRY_CLOSE};

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, VLS_STR("a.c"), VLS_STR("notes"), err));
    closed.id = end.slot = slot.id;
    closed.entries = what == 0 ? slot.entries : slot.entries + 1;
    closed.frames = 9;
    end.number = closed.entries;
    if (what == 1)
        CHECK_INT(0, valise_view_put(view, &vls_slot_entries, &end, err));
    return valise_view_put(view, &vls_slots_closed, &closed, err);
}

/* A head that nobody put, with the page as it should be for that. */
static int damage_page(const void *arg, valise_view *view, const vls_tree_row *tree,
                       valise_error *err)
{
    int what = *(const int *)arg;
    vls_merkle_row row = {.set = tree->id, .prefix = VLS_STR("")};
    valise_id key = {{1}};
    char page[2048];

    if (what == 0)
        return VLS_MIN(vls_merkle_put(view, &tree->id, &key, &key, err), 0);
    if (what == 3) { /* and its root is right */
        vls_context_row context;
        CHECK_INT(1, vls_merkle_put(view, &tree->id, &key, &key, err));
        CHECK_INT(0, vls_context_get(&context, view, &tree->id, err));
        CHECK_INT(0, vls_merkle_root(&context.root, NULL, view, &tree->id, err));
        return valise_view_put(view, &vls_contexts, &context, err);
    }
    CHECK_INT(1, valise_view_get(&row, view, &vls_merkles, err));
    CHECK(row.page.len < sizeof(page));
    memcpy(page, row.page.ptr, row.page.len);
    page[what == 1 ? row.page.len - 1 : 1] ^= 1; /* a value; how many there are */
    row.page = vls_str(page, row.page.len);
    return valise_view_put(view, &vls_merkles, &row, err);
}

static int damage_tree(const void *arg, valise_view *view, const vls_tree_row *tree,
                       valise_error *err)
{
    int what = *(const int *)arg;
    vls_tree_row row = *tree;
    vls_tree_node_row node = {.tree = tree->id,
                              .parent = VLS_STR(""),
                              .name = VLS_STR("z.c"),
                              .version = tree->version,
                              .kind = VLS_NODE_FILE};

    row.counts.files += what == 0;
    row.root.bytes[0] ^= what == 1;
    row.edge += 5 * (what == 2);
    if (what == 4) {
        node.name = VLS_STR("x");
        node.parent = VLS_STR("a.c");
    }
    return what < 3 ? valise_view_put(view, &vls_trees, &row, err)
                    : valise_view_put(view, &vls_tree_nodes, &node, err);
}

typedef struct damage {
    doing_fn *fn;
    int what;
    const char *place, *text;
} damage;

TEST(keeping, validate_says_what_does_not_fit) /* [K22] [C11] */
{
    static const damage all[] = {
        {damage_slot, 0, "slot", "its head is not the one that its entries tell of"},
        {damage_slot, 1, "slot", "its head is not the one that its entries tell of"},
        {damage_slot, 2, "slot", "its root is not that of the frames in it"},
        {damage_slot, 3, "slot", "its entries say that it is not marked"},
        {damage_slot, 4, "slot", "its last entry is 2, and it says 1"},
        {damage_slot, 5, "slot", "its head is of the type 'notes'"},
        {damage_entry, 0, "slot", "an entry of it is missing"},
        {damage_entry, 1, "slot_entry", "the frame it put is not among those of the slot"},
        {damage_entry, 2, "slot_entry", "it has a frame and puts none"},
        {damage_entry, 3, "slot_entry", "it puts no frame"},
        {damage_entry, 4, "slot_entry", "there is no slot that it is about"},
        {damage_context, 0, "context_root", "it counts 3 slots, and there are 2"},
        {damage_context, 1, "context_root", "it counts 3 heads, and there are 2"},
        {damage_context, 2, "context_root", "it counts 1 marked heads, and there are 0"},
        {damage_context, 3, "context_root", "it counts 4 frames, and there are 3"},
        {damage_context, 4, "context_root", "its root is not that of the heads there are"},
        {damage_context, 5, "context_root", "it counts 1 heads made by recipes, and there are 0"},
        {damage_closed, 0, "slot_closed", "its last entry did not close it"},
        {damage_closed, 1, "slot_closed", "it counts 9 frames, and there are 2"},
        {damage_page, 0, "context_root", "its root is not that of the heads there are"},
        {damage_page, 1, "slot", "the map of all heads has another one"},
        {damage_page, 2, "merkle", ""},
        {damage_page, 3, "context_root", "the map of all heads has 3, and there are 2"},
        {damage_tree, 0, "tree", "it does not match its version 1"},
        {damage_tree, 1, "tree", "it does not match its version 1"},
        {damage_tree, 2, "tree", "version 6 cannot be the oldest one"},
        {damage_tree, 3, "tree_node", "it has 4 entries, but records 3"},
        {damage_tree, 4, "tree_node", "its node id is "},
    };

    for (size_t i = 0; i < VLS_COUNT(all); i++) {
        yard *y = open_named(t, test_format("damage-%zu", i));
        int what = all[i].what;
        const char *found;
        yard_grow(y, "a.c=1 b.c=2 d.c=3", "");
        (void)yard_put(y, NULL, "a.c", "notes", "x", "");
        (void)yard_put(y, NULL, "a.c", "notes", "y", "");
        (void)yard_put(y, NULL, "b.c", "notes", "z", "");
        CHECK_TEXT("", problems(y));
        do_in(y, all[i].fn, &what);
        found = problems(y);
        CHECK_MSG(strstr(found, test_format("\"place\":\"%s ", all[i].place)) &&
                      strstr(found, all[i].text) && strstr(found, "\"remedy\":\""),
                  "%zu: %s", i, found);
    }
}

static void change_by_hand(const char *dir, const char *sql)
{
    sqlite3 *db = NULL;
    char *text = NULL;

    CHECK_INT(SQLITE_OK, sqlite3_open(test_format("%s/.valise/valise.db", dir), &db));
    CHECK_MSG(sqlite3_exec(db, sql, NULL, NULL, &text) == SQLITE_OK, "%s", text ? text : "");
    CHECK_INT(1, sqlite3_changes(db));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
}

/* With the file alone: whatever somebody edits there is found at its place. */
TEST(keeping, what_is_edited_in_the_file_is_found) /* [K22] */
{
    static const char *const edits[][2] = {
        {"merkle", "UPDATE merkle SET page = zeroblob(2) WHERE \"set\" = (SELECT id FROM tree)"},
        {"slot", "UPDATE slot SET head = (SELECT id FROM frame ORDER BY id LIMIT 1), entries = 9 "
                 "WHERE type = 'log'"},
        {"slot", "UPDATE slot SET root = zeroblob(32) WHERE type = 'log'"},
        {"context_root", "UPDATE context_root SET root = zeroblob(32)"},
        {"context_root", "UPDATE context_root SET frames = 7"},
        {"tree_node", "UPDATE tree_node SET hash = zeroblob(32) WHERE name = x'782e63'"},
        {"tree_version", "UPDATE tree_version SET root = zeroblob(32) WHERE version = 1"},
        {"tree", "UPDATE tree SET files = 99"},
        {"frame", "UPDATE frame SET agent = 'somebody' WHERE type = 'summary'"},
        {"slot", "DELETE FROM slot_entry WHERE number = 1 AND kind = 'attach'"},
        {"slot_closed", "UPDATE slot_closed SET frames = 5"},
    };

    if (!t->param || strcmp(t->param, "sqlite") != 0)
        SKIP("there is no file");
    for (size_t i = 0; i < VLS_COUNT(edits); i++) {
        const char *name = test_format("edit-%zu", i);
        yard *y = open_named(t, name);
        const char *found;
        fill(y);
        yard_grow(y, "lib/a.c=1 lib/b.c=2 c.c/x=3 d.c=44 x.c=5", "");
        CHECK_TEXT("", problems(y));
        change_by_hand(test_format("%s/%s", test_tmpdir(), name), edits[i][1]);
        found = problems(open_named(t, name));
        CHECK_MSG(strstr(found, test_format("\"place\":\"%s ", edits[i][0])) &&
                      strstr(found, "\"remedy\":\"") && !strstr(found, "\"remedy\":\"\""),
                  "%zu: %s", i, found);
    }
}

/* ---- events ---- */

static int reaffirm(const void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    vls_slot_row slot;
    vls_slot_done done;
    vls_frame_row frame;
    vls_slot_put_args put = {.tree = tree->id, .frame = &frame, .again = true};

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, valise_str_of(arg), VLS_STR("notes"), err));
    CHECK_INT(1, vls_frame_get(&frame, view, &slot.head, err));
    put.path = slot.path;
    put.dir = slot.dir;
    return vls_slot_put(&done, view, &put, err);
}

#define TOLD(types, y, ...)                                                                        \
    do {                                                                                           \
        int64_t from_here = next_seq(y);                                                           \
        __VA_ARGS__;                                                                               \
        CHECK_TEXT(types, told_since(y, from_here));                                               \
    } while (0)

TEST(keeping, whatever_happens_makes_an_event) /* [K15] */
{
    yard *y = open_named(t, "events");
    const char *old, *list, *told;
    int64_t since;

    TOLD("tree.changed", y, yard_grow(y, "a.c=1 b.c=2", ""));
    old = node_of(y, "b.c");
    TOLD("frame.added head.moved", y, (void)yard_put(y, NULL, "a.c", "notes", "x", ""));
    TOLD("frame.added head.moved", y, (void)yard_put(y, NULL, "a.c", "notes", "y", ""));
    TOLD("head.moved", y, (void)yard_put(y, NULL, "a.c", "notes", "x", "")); /* an earlier one */
    TOLD("", y, (void)yard_put(y, NULL, "a.c", "notes", "x", ""));           /* it is the head */
    TOLD("tree.changed", y, yard_grow(y, "a.c=1 b.c=22", ""));
    TOLD("frame.added frame.attached", y,
         (void)yard_put(y, NULL, "b.c", "notes", "z", test_format(",\"basis\":\"%s\"", old)));
    TOLD("slot.invalidated", y, do_in(y, mark, "a.c"));
    TOLD("slot.reaffirmed", y, do_in(y, reaffirm, "a.c"));
    CHECK_TEXT("", problems(y));
    TOLD("slot.moved tree.changed", y, yard_grow(y, "src/a.c=1 b.c=22", "a.c>src/a.c"));
    since = next_seq(y); /* with the version or with the put: it is closed once */
    yard_grow(y, "src/a.c/x=1 b.c=22", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "dir", "");
    told = told_since(y, since);
    CHECK(strstr(told, "tree.changed") && strstr(told, "frame.added") &&
          strstr(told, "head.moved"));
    told = strstr(told, "slot.closed");
    CHECK(told && !strstr(told + 1, "slot.closed"));
    list = yard_run(y, "event:list", "{\"types\":[\"slot.moved\"]}");
    CHECK_TEXT("a.c", yard_member(y, list, "items.0.payload.from"));
    CHECK_TEXT("src/a.c", yard_member(y, list, "items.0.payload.path"));
    CHECK_TEXT("notes", yard_member(y, list, "items.0.payload.type"));
    list = yard_run(y, "event:list", "{\"types\":[\"head.moved\"]}");
    CHECK_TEXT("", yard_member(y, list, "items.0.payload.previousHead"));
    CHECK_TEXT(yard_member(y, list, "items.0.payload.head"),
               yard_member(y, list, "items.1.payload.previousHead"));
    CHECK_TEXT("2", yard_member(y, list, "items.1.payload.frames"));
    CHECK_TEXT("", yard_member(y, list, "items.3.payload.previousHead")); /* of the new slot */
    list = yard_run(y, "event:list", "{\"types\":[\"tree.changed\"]}");
    CHECK_TEXT("2", yard_member(y, list, "items.2.payload.files"));
    CHECK_TEXT("3", yard_member(y, list, "items.2.payload.version"));
    CHECK_TEXT("", problems(y));
}

/* Neither the content nor anything else that may have to be erased is told. */
TEST(keeping, events_have_no_contents) /* [K15] [K20] */
{
    yard *y = open_named(t, "events");
    const char *before, *content, *frame;

    yard_grow(y, "a.c=1", "");
    frame = yard_member(
        y, yard_put(y, NULL, "a.c", "notes", "a secret", ",\"metadata\":{\"m\":\"meta secret\"}"),
        "frameId");
    do_in(y, mark, "a.c");
    content = yard_member(
        y, yard_run(y, "workspace:show", test_format("{\"target\":\"frame/%s\"}", frame)),
        "value.content");
    before = yard_run(y, "event:list", "{\"until\":5}");
    CHECK(content[0] && !strstr(before, content));
    CHECK(!strstr(before, "secret") && !strstr(before, "wrong"));
    (void)erase(y, test_format("frame/%s", frame));
    CHECK(strstr(yard_run(y, "event:list", "{\"until\":5}"), "\"frame.added\""));
}
