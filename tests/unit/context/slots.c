/* slots.c -- slots follow their files, and say whether they still hold. [C11] [C12] */
#include "context/slot.h"

#include "base/hex.h"
#include "bus/bus.h"
#include "context/kit.h"
#include "context/recipe.h"
#include "context/state.h"

TEST_PARAMS(slots, "memory", "sqlite")

/* ---- states ---- */

/* Edit and revert: fresh again without any work. [C12] */
TEST(slots, an_edit_that_is_taken_back_makes_frames_fresh_again)
{
    yard *y = yard_open(t);

    yard_grow(y, "a.c=1 b.c=2", "");
    CHECK_TEXT("empty", yard_state(y, "a.c", "notes"));
    (void)yard_put(y, "w", "a.c", "notes", "x", "");
    (void)yard_put(y, "w", ".", "notes", "all", "");
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    yard_grow(y, "a.c=changed b.c=2", "");
    CHECK_TEXT("stale node-changed", yard_state(y, "a.c", "notes"));
    CHECK_TEXT("stale node-changed", yard_state(y, ".", "notes"));
    yard_grow(y, "a.c=1 b.c=2", "");
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, ".", "notes"));
    yard_grow(y, "b.c=2", "");
    CHECK_TEXT("orphaned", yard_state(y, "a.c", "notes"));
    yard_grow(y, "a.c=1 b.c=2", "");
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    yard_check(y);
}

/* Do something to the slots in a command. */
typedef struct doing {
    int (*fn)(void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err);
    void *arg;
} doing;

static doing now_doing; /* of the one test that runs */

static int do_it(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)in, (void)out;
    return rc < 0 ? rc : now_doing.fn(now_doing.arg, view, &tree, err);
}

static const valise_op do_op = {
    .size = sizeof(valise_op),
    .name = "toy:do",
    .brief = "Do something.",
    .kind = VALISE_COMMAND,
    .needs = "toy:write",
    .decide = do_it,
};
static const valise_op *const toy_ops[] = {&do_op, NULL};

static int make_nothing(valise_making *making, const void *params, valise_error *err)
{
    (void)making, (void)params, (void)err;
    return 0;
}

static const valise_policy nothing = {.size = sizeof(valise_policy),
                                      .name = "toy.nothing",
                                      .version = 2,
                                      .brief = "Nothing.",
                                      .make = make_nothing};
static const valise_policy *const toy_policies[] = {&nothing, NULL};
static const valise_extension toy = {.size = sizeof(valise_extension),
                                     .abi = VALISE_EXTENSION_ABI,
                                     .name = "toy",
                                     .version = "1",
                                     .operations = toy_ops,
                                     .policies = toy_policies};

static void close_it(void *arg)
{
    valise_close(arg);
}

static yard *open_toy(test *t)
{
    static const valise_extension *const extensions[] = {&toy, NULL};
    yard *y = test_alloc(sizeof(*y));
    bool memory = strcmp(t->param, "memory") == 0;
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&y->v, memory ? ":memory:" : test_format("%s/toy", test_tmpdir()), &o,
                         &t->err));
    test_defer(close_it, y->v);
    return y;
}

static int invalidate(void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    vls_slot_row slot;
    int *changed = arg;
    int rc = vls_slot_get(&slot, view, &tree->id, VLS_STR("a.c"), VLS_STR("notes"), err);

    CHECK_INT(1, rc);
    *changed = rc = vls_slot_invalidate(view, &slot, VLS_STR("wrong"), err);
    return VLS_MIN(rc, 0);
}

/* A mark is part of the context root; a newer head has none. [C24] */
TEST(slots, a_mark_holds_until_there_is_another_head)
{
    yard *y = open_toy(t);
    const char *clean, *marked;
    int changed = -1;

    yard_grow(y, "a.c=1", "");
    clean = yard_member(y, yard_put(y, NULL, "a.c", "notes", "x", ""), "contextRoot");
    now_doing = (doing){invalidate, &changed};
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
    CHECK_INT(1, changed);
    CHECK_TEXT("invalidated", yard_state(y, "a.c", "notes"));
    marked = yard_member(y, yard_put(y, NULL, "a.c", "notes", "x", ""), "contextRoot");
    CHECK(strcmp(clean, marked) != 0);
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL)); /* again: nothing */
    CHECK_INT(0, changed);
    CHECK_TEXT("invalidated", yard_state(y, "a.c", "notes"));
    (void)yard_put(y, NULL, "a.c", "notes", "y", "");
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    CHECK_TEXT(clean, yard_member(y, yard_put(y, NULL, "a.c", "notes", "x", ""), "contextRoot"));
    yard_check(y);
}

/* A frame about src that was made of what is said about what lies in it, by hand. */
static int derive(void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    const vls_recipe *recipe = arg;
    VLS_AUTO(buf) vls_buf basis = {0};
    VLS_AUTO(buf) vls_buf how = {0};
    vls_frame_new from = {.type = VLS_STR("summary"), .agent = VLS_STR("local")};
    vls_tree_found dir;
    vls_state_at at = {tree, tree->version, VLS_STR("src"), &dir};
    vls_inputs inputs;
    vls_frame_row frame, found;
    vls_slot_done done;
    vls_slot_put_args put = {.tree = tree->id, .path = at.path, .dir = true, .frame = &frame};
    valise_id id;

    vls_buf_init(&basis, view->arena.env, 4096);
    vls_buf_init(&how, view->arena.env, 4096);
    CHECK_INT(1, vls_tree_get(&dir, view, tree, tree->version, at.path, err));
    CHECK_INT(0, vls_recipe_write(&how, recipe, err));
    CHECK_INT(0, valise_view_add(&id, view, "recipe", vls_buf_str(&how), err));
    CHECK_INT(0, vls_inputs_read(&inputs, view, &at, from.type, recipe, NULL, err));
    CHECK_INT(0, vls_inputs_basis(&basis, &inputs, &id, &at, err));
    from.basis = vls_buf_str(&basis);
    CHECK_INT(0, valise_view_add(&from.content.id, view, "data", VLS_STR("all"), err));
    CHECK_INT(0, vls_frame_make(&frame, view, &from, err));
    CHECK_INT(VLS_FRAME_DERIVED, frame.kind);
    CHECK_INT(1, vls_frame_put(view, &frame, &from, err));
    CHECK_INT(0, vls_slot_put(&done, view, &put, err));
    /* Who was killed finds what it has made. [C23] */
    CHECK_INT(1, vls_frame_of_basis(&found, view, &frame.basis, frame.type, frame.agent, err));
    CHECK(vls_id_equal(&found.id, &frame.id));
    CHECK_INT(0, vls_frame_of_basis(&found, view, &frame.basis, VLS_STR("x"), frame.agent, err));
    return 0;
}

/* Every reason there is. [C12] */
TEST(slots, a_derived_frame_says_why_it_is_stale)
{
    yard *y = open_toy(t);
    vls_recipe recipe = {.input = VLS_STR("notes"), .policy = VLS_STR("toy.nothing"), .version = 2};

    yard_grow(y, "src/a.c=1 src/b.c=2 src/c.c=3", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "a", "");
    (void)yard_put(y, NULL, "src/b.c", "notes", "b", "");
    now_doing = (doing){derive, &recipe};
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
    CHECK_TEXT("fresh", yard_state(y, "src", "summary"));
    yard_grow(y, "src/a.c=1 src/b.c=2 src/c.c=changed", ""); /* nothing it was made of */
    CHECK_TEXT("fresh", yard_state(y, "src", "summary"));
    (void)yard_put(y, NULL, "src/a.c", "other", "a", "");
    CHECK_TEXT("fresh", yard_state(y, "src", "summary"));
    (void)yard_put(y, NULL, "src/a.c", "notes", "a, anew", "");
    CHECK_TEXT("stale child-changed:a.c", yard_state(y, "src", "summary"));
    CHECK_TEXT(
        "what is said about a child is not what it was made of",
        yard_member(y, yard_run(y, "head:get", "{\"node\":\"src\"}"), "items.0.reasons.0.text"));
    yard_grow(y, "src/a.c=1 src/c.c=changed", "");
    CHECK_TEXT("stale child-changed:a.c child-missing:b.c", yard_state(y, "src", "summary"));
    yard_grow(y, "src/a.c=1 src/b.c=2", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "a", "");
    CHECK_TEXT("fresh", yard_state(y, "src", "summary"));
    yard_grow(y, "src/a.c=1 src/b.c=2 src/c.c=3", "");
    (void)yard_put(y, NULL, "src/c.c", "notes", "c", ""); /* one more */
    CHECK_TEXT("stale child-changed:c.c", yard_state(y, "src", "summary"));
    recipe.version = 1; /* what the policy does in version 2 is something else */
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
    CHECK_TEXT("stale recipe-changed", yard_state(y, "src", "summary"));
    recipe.version = 3; /* this program is the older one, and cannot tell */
    CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
    CHECK_TEXT("fresh", yard_state(y, "src", "summary"));
}

/* ---- moves ---- */

TEST(slots, a_moved_file_takes_its_slots_along)
{
    yard *y = yard_open(t);
    const char *heads;

    yard_grow(y, "a.c=1 b.c=2", "");
    (void)yard_put(y, "w", "a.c", "notes", "about a", "");
    (void)yard_put(y, "w", "a.c", "summary", "a", "");
    yard_grow(y, "b.c=2 lib/a.c=1", "a.c>lib/a.c");
    CHECK_TEXT("fresh", yard_state(y, "lib/a.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "lib/a.c", "summary"));
    heads = yard_run(y, "head:get", "{\"node\":\"lib/a.c\",\"type\":\"notes\"}");
    CHECK_TEXT("a.c", yard_member(y, heads, "items.0.meta.movedFrom"));
    CHECK_TEXT("about a", yard_member(y, heads, "items.0.text"));
    CHECK_INT(VALISE_E_NOT_FOUND, yard_try(y, NULL, "head:get", "{\"node\":\"a.c\"}", NULL));
    yard_check(y);
}

TEST(slots, directories_move_with_all_that_is_in_them)
{
    yard *y = yard_open(t);

    yard_grow(y, "src/a.c=1 src/sub/b.c=2 src.c=3 srcs/x=4", "");
    (void)yard_put(y, "w", "src", "notes", "dir", "");
    (void)yard_put(y, "w", "src/a.c", "notes", "a", "");
    (void)yard_put(y, "w", "src/sub/b.c", "notes", "b", "");
    (void)yard_put(y, "w", "src.c", "notes", "c", "");
    (void)yard_put(y, "w", "srcs/x", "notes", "x", "");
    yard_grow(y, "lib/a.c=1 lib/sub/b.c=2 src.c=3 srcs/x=4", "src>lib");
    CHECK_TEXT("fresh", yard_state(y, "lib", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "lib/a.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "lib/sub/b.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "src.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "srcs/x", "notes"));
    /* A part of it elsewhere: the longer source counts. */
    yard_grow(y, "out/a.c=1 b.c=2 src.c=3 srcs/x=4", "lib>out lib/sub/b.c>b.c");
    CHECK_TEXT("fresh", yard_state(y, "b.c", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "out/a.c", "notes"));
    yard_check(y);
}

TEST(slots, two_files_may_be_swapped)
{
    yard *y = yard_open(t);
    const char *before;

    yard_grow(y, "a.c=1 b.c=2", "");
    (void)yard_put(y, "w", "a.c", "notes", "one", "");
    before = yard_member(y, yard_put(y, "w", "b.c", "notes", "two", ""), "contextRoot");
    yard_grow(y, "a.c=2 b.c=1", "a.c>b.c b.c>a.c");
    CHECK_TEXT("fresh", yard_state(y, "a.c", "notes"));
    CHECK_TEXT("two",
               yard_member(y, yard_run(y, "head:get", "{\"node\":\"a.c\"}"), "items.0.text"));
    CHECK_TEXT("one",
               yard_member(y, yard_run(y, "head:get", "{\"node\":\"b.c\"}"), "items.0.text"));
    yard_grow(y, "a.c=1 b.c=2", "a.c>b.c b.c>a.c");
    CHECK_TEXT(before,
               yard_member(y, yard_run(y, "node:get", "{\"node\":\"a.c\"}"), "contextRoot"));
    yard_check(y);
}

/* Who comes with its file takes the place of a slot that lost its own. */
TEST(slots, an_orphaned_slot_makes_room)
{
    yard *y = yard_open(t);
    const char *list;

    yard_grow(y, "a.c=1 b.c=2", "");
    (void)yard_put(y, "w", "a.c", "notes", "old", "");
    (void)yard_put(y, "w", "a.c", "summary", "only here", "");
    (void)yard_put(y, "w", "b.c", "notes", "new", "");
    yard_grow(y, "b.c=2", "");
    CHECK_TEXT("orphaned", yard_state(y, "a.c", "notes"));
    yard_grow(y, "a.c=2", "b.c>a.c");
    list = yard_run(y, "frame:list", "{\"node\":\"a.c\",\"type\":\"notes\"}");
    CHECK_TEXT("new",
               yard_member(y, yard_run(y, "head:get", "{\"node\":\"a.c\",\"type\":\"notes\"}"),
                           "items.0.text"));
    CHECK_TEXT("fresh", yard_member(y, list, "items.0.state"));
    CHECK_TEXT("orphaned", yard_member(y, list, "items.1.state")); /* of the one that made room */
    CHECK_TEXT("true", yard_member(y, list, "items.1.meta.closed"));
    CHECK_TEXT("", yard_member(y, list, "items.2"));
    CHECK_TEXT("stale node-changed", yard_state(y, "a.c", "summary"));
    yard_check(y);
}

static const char *count_heads(yard *y, const char *node)
{
    return yard_member(y, yard_run(y, "node:get", test_format("{\"node\":\"%s\"}", node)), "total");
}

static const char *root_of(yard *y)
{
    return yard_member(y, yard_run(y, "node:get", "{\"node\":\".\"}"), "contextRoot");
}

/* A file that becomes a directory, or the reverse: its slots are closed by what records that. Their
 * frames are history. [C12] */
TEST(slots, a_file_that_becomes_a_directory_closes_the_slot)
{
    yard *y = yard_open(t);
    const char *answer, *shown, *root, *id;

    yard_grow(y, "a=1 b=2", "");
    (void)yard_put(y, "w", "b", "notes", "other", "");
    root = root_of(y);
    id = yard_member(y, yard_put(y, "w", "a", "notes", "file", ""), "frameId");
    yard_grow(y, "a/x=1 b=2", "");
    CHECK_TEXT("empty", yard_state(y, "a", "notes"));
    CHECK_TEXT("0", count_heads(y, "a"));
    CHECK_TEXT(root, root_of(y)); /* nothing is known about it any more */
    shown = yard_run(y, "frame:list", "{\"node\":\"a\"}");
    CHECK_TEXT(id, yard_member(y, shown, "items.0.frameId"));
    CHECK_TEXT("orphaned", yard_member(y, shown, "items.0.state"));
    CHECK_TEXT("false", yard_member(y, shown, "items.0.head"));
    CHECK_TEXT("true", yard_member(y, shown, "items.0.meta.closed"));
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", id));
    CHECK_TEXT("file", yard_member(y, shown, "text"));
    CHECK_TEXT("a", yard_member(y, shown, "slots.0.path"));
    CHECK_TEXT("orphaned", yard_member(y, shown, "slots.0.state"));
    yard_check(y);

    answer = yard_put(y, "w", "a", "notes", "dir", "");
    CHECK_TEXT("", yard_member(y, answer, "previousHead"));
    CHECK_TEXT("fresh", yard_state(y, "a", "notes"));
    shown = yard_run(y, "node:get", "{\"node\":\"a\",\"view\":\"history,recency\"}");
    CHECK_TEXT("2", yard_member(y, shown, "total"));
    CHECK_TEXT("dir", yard_member(y, shown, "frames.0.text"));
    CHECK_TEXT("file", yard_member(y, shown, "frames.1.text"));
    yard_grow(y, "a=1 b=2", "");
    CHECK_TEXT("empty", yard_state(y, "a", "notes"));
    answer = yard_put(y, "w", "a", "notes", "file", ""); /* the same frame, in a slot of its own */
    CHECK_TEXT(id, yard_member(y, answer, "frameId"));
    CHECK_TEXT("false", yard_member(y, answer, "existed"));
    CHECK_TEXT("fresh", yard_state(y, "a", "notes"));
    CHECK_TEXT("2", yard_member(y, yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", id)),
                                "slotCount"));
    yard_check(y);
}

/* Whatever the way: over nothing at all, over something that cannot be read. [C12] */
TEST(slots, what_comes_back_as_another_kind_of_thing_closes_the_slot)
{
    yard *y = yard_open(t);

    yard_grow(y, "a=1 b/x=2 c=3", "");
    (void)yard_put(y, "w", "a", "notes", "file", "");
    (void)yard_put(y, "w", "b", "notes", "dir", "");
    yard_grow(y, "b! c=3", "");
    CHECK_TEXT("orphaned", yard_state(y, "a", "notes"));
    CHECK_TEXT("stale node-changed", yard_state(y, "b", "notes"));
    yard_grow(y, "b/x=2 c=3", "");
    CHECK_TEXT("fresh", yard_state(y, "b", "notes"));
    yard_grow(y, "b! c=3", "");
    yard_grow(y, "a/y=1 b>c c=3", "");
    CHECK_TEXT("empty", yard_state(y, "a", "notes"));
    CHECK_TEXT("empty", yard_state(y, "b", "notes"));
    CHECK_TEXT("0", count_heads(y, "a"));
    yard_check(y);
}

/* The slot goes with its file; what takes its place begins with none. [C12] */
TEST(slots, a_file_that_makes_room_for_a_directory_keeps_its_slot)
{
    yard *y = yard_open(t);

    yard_grow(y, "a=1", "");
    (void)yard_put(y, "w", "a", "notes", "file", "");
    yard_grow(y, "a/x=1 a/y=2", "a>a/x");
    CHECK_TEXT("empty", yard_state(y, "a", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "a/x", "notes"));
    CHECK_TEXT("[]", yard_member(y, yard_run(y, "frame:list", "{\"node\":\"a\"}"), "items"));
    yard_check(y);
}

/* ---- the past ---- */

TEST(slots, the_past_stays_as_it_was)
{
    yard *y = yard_open(t);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *first, *seq;

    yard_grow(y, "a.c=1", "");
    first = yard_put(y, "w", "a.c", "notes", "one", "");
    seq = yard_member(y, first, "seq");
    (void)yard_put(y, "w", "a.c", "notes", "two", "");
    yard_grow(y, "b.c=1", "a.c>b.c");
    call.at = valise_str_of(seq);
    CHECK_OK(valise_dispatch(&reply, y->v, "node:get", "{\"node\":\"a.c\",\"view\":\"history\"}",
                             &call, &t->err));
    {
        const char *then = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
        valise_reply_release(&reply);
        CHECK_TEXT("1", yard_member(y, then, "total"));
        CHECK_TEXT("one", yard_member(y, then, "frames.0.text"));
        CHECK_TEXT(yard_member(y, first, "contextRoot"), yard_member(y, then, "contextRoot"));
    }
}

/* ---- formats ---- */

TEST(slots, keys_and_values_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, word[6], open = VLS_STR("```slot-vectors\n");
    yard *y = yard_open(t);
    int count = 0;

    yard_grow(y, "a.c=1", "");
    CHECK(vls_str_find(text,
                       valise_str_of(yard_member(y, yard_run(y, "node:get", "{\"node\":\"a.c\"}"),
                                                 "meta.frameSetRoot"))) < text.len);
    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        valise_id head, key, value;
        for (int i = 0; i < 6; i++) {
            (void)vls_str_cut(&word[i], &line, line, ' ');
            if (vls_str_equal(word[i], VLS_STR("=")))
                i--;
        }
        CHECK_OK(vls_id_parse(&head, word[2], &t->err));
        vls_slot_key(&key, word[0], word[1]);
        vls_slot_value(&value, &head, word[3].ptr[0] == '1');
        CHECK_STR(word[4], valise_str_of(vls_id_hex(&key).s));
        CHECK_STR(word[5], valise_str_of(vls_id_hex(&value).s));
        count++;
    }
    CHECK_INT(2, count);
}

/* ---- damage ---- */

enum { HEAD_ELSEWHERE, COUNT, MARK, ENTRY, CONTEXT_ROOT, CONTEXT_COUNT, FRAME_ID, FRAME_KIND };

static int damage(void *arg, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    int what = *(int *)arg;
    vls_slot_row slot;
    vls_context_row context;
    vls_frame_row frame;

    CHECK_INT(1, vls_slot_get(&slot, view, &tree->id, VLS_STR("a.c"), VLS_STR("notes"), err));
    CHECK_INT(0, vls_context_get(&context, view, &tree->id, err));
    CHECK_INT(1, vls_frame_get(&frame, view, &slot.head, err));
    if (what >= FRAME_ID) {
        frame.id.bytes[0] ^= 1;
        frame.kind = what == FRAME_KIND ? VLS_FRAME_DERIVED : frame.kind;
        return valise_view_put(view, &vls_frames, &frame, err);
    }
    if (what >= CONTEXT_ROOT) {
        context.heads += what == CONTEXT_COUNT;
        context.root.bytes[0] ^= what == CONTEXT_ROOT;
        return valise_view_put(view, &vls_contexts, &context, err);
    }
    slot.frames += what == COUNT;
    slot.marked = what == MARK;
    slot.entries += what == ENTRY;
    if (what == HEAD_ELSEWHERE) {
        vls_slot_row other;
        CHECK_INT(1, vls_slot_get(&other, view, &tree->id, VLS_STR("b.c"), VLS_STR("notes"), err));
        slot.head = other.head;
    }
    return valise_view_put(view, &vls_slots, &slot, err);
}

static int add_line(void *arg, valise_str json, valise_error *err)
{
    const char **all = arg;

    (void)err;
    *all = test_format("%s%.*s\n", *all, VALISE_STR_ARG(json));
    return 0;
}

TEST(slots, validate_finds_what_does_not_fit)
{
    static const char *const texts[] = {
        "its head is not among its frames",     "its root is not that of the frames in it",
        "the map of all heads has another one", "its last entry is 1, and it says 2",
        "its root is not that of the heads",    "it counts 3 heads, and there are 2",
        "its id does not match its contents",   "its recipe does not match its basis"};

    for (int what = HEAD_ELSEWHERE; what <= FRAME_KIND; what++) {
        yard *y;
        const char *found;
        test_remove(test_format("%s/toy", test_tmpdir()));
        y = open_toy(t);
        yard_grow(y, "a.c=1 b.c=2", "");
        (void)yard_put(y, NULL, "a.c", "notes", "x", "");
        (void)yard_put(y, NULL, "b.c", "notes", "y", "");
        now_doing = (doing){damage, &what};
        CHECK_INT(0, yard_try(y, NULL, "toy:do", "{}", NULL));
        found = "";
        CHECK_RC(VALISE_E_CORRUPT, valise_stream(NULL, y->v, "workspace:validate", "{}", add_line,
                                                 &found, NULL, &t->err));
        CHECK_MSG(strstr(found, texts[what]), "%d: %s", what, found);
    }
}
