/* api.c -- trees and frames through the public C functions: what they answer, and what they refuse.
 *
 * api_fault.c lets every allocation fail, api_threads.c has many threads on one handle. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/str.h"
#include "context/kit.h"

TEST_PARAMS(api, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 src/run.sh*=3 ln>src/a.c README=hello"

static const valise_id none;

static valise_call as(const char *actor)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = valise_str_of(actor);
    return call;
}

/* The yard's files are words: nothing lies on the disk that could be looked at. */
static valise_frame_options unlooked(const char *type)
{
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;

    o.flags = VALISE_FRAME_NO_SCAN;
    o.type = valise_str_of(type);
    return o;
}

static valise_placed say(yard *y, const char *actor, const char *node, const char *type,
                         const char *content)
{
    test *t = y->t;
    valise_frame_options o = unlooked(type);
    valise_placed placed = VALISE_PLACED_INIT;
    valise_call call = as(actor);

    CHECK_OK(valise_frame_put(&placed, y->v, node, valise_str_of(content), &o, &call, &t->err));
    return placed;
}

static void free_frames(void *arg)
{
    valise_frames_free(arg);
}

static valise_frames *get(yard *y, const char *node, const char *view)
{
    test *t = y->t;
    valise_node_options o = VALISE_NODE_OPTIONS_INIT;
    valise_frames *frames = NULL;

    o.flags = VALISE_NODE_NO_SCAN;
    CHECK_OK(valise_node_get(&frames, y->v, node, view, &o, NULL, &t->err));
    test_defer(free_frames, frames);
    return frames;
}

static valise_frames *heads(yard *y, const char *node, const char *type)
{
    test *t = y->t;
    valise_frames *frames = NULL;
    int rc = valise_head_get(&frames, y->v, node, type, VALISE_NODE_NO_SCAN, NULL, &t->err);

    CHECK_MSG(rc >= 0, "%s", t->err.message);
    CHECK_INT(rc == 1, frames != NULL);
    test_defer(free_frames, frames);
    return frames;
}

static const char *contents(const valise_frames *frames)
{
    const char *all = "";

    for (size_t i = 0; i < frames->count; i++) {
        const valise_frame *f = frames->items[i];
        CHECK_INT(f->content.ptr ? f->bytes : 0, f->content.len);
        all = test_format("%s%s%.*s", all, i ? " " : "", VALISE_STR_ARG(f->content));
    }
    return all;
}

static void check_id(const char *digits, const valise_id *id)
{
    char text[VALISE_ID_TEXT];

    CHECK_TEXT(digits, valise_id_text(text, id));
}

/* ---- putting and reading back ---- */

TEST(api, what_was_said_is_read_back)
{
    yard *y = yard_open(t);
    valise_placed first, second;
    const valise_frame *f;
    valise_frames *frames;

    yard_grow(y, TREE, "");
    first = say(y, "w", "README", "notes", "one");
    CHECK(first.head && !first.existed && vls_id_equal(&none, &first.previous_head));
    second = say(y, "w", "README", "notes", "two");
    CHECK(vls_id_equal(&first.frame, &second.previous_head) && second.seq > first.seq);
    check_id(vls_id_hex(&grove_get(&y->state, "README")->id).s, &second.node);
    frames = heads(y, "README", "notes");
    CHECK_INT(1, frames->count);
    f = frames->items[0];
    CHECK_STR(VLS_STR("two"), f->content);
    CHECK_STR(VLS_STR("README"), f->path);
    CHECK_STR(VLS_STR("notes"), f->type);
    CHECK_STR(VLS_STR("w"), f->agent);
    CHECK(vls_id_equal(&second.frame, &f->id) && f->head && !f->erased);
    CHECK_INT(VALISE_FRAME_AUTHORED, f->kind);
    CHECK_INT(VALISE_STATE_FRESH, f->state);
    CHECK_INT(3, f->bytes);
    CHECK_INT(2, f->entry);
    CHECK_INT(second.seq, f->seq);
    CHECK(f->time > 0 && frames->seq >= f->seq);
    CHECK(!f->by.ptr && !f->media_type.ptr && !f->metadata.ptr && !f->moved_from.ptr);
    CHECK(heads(y, "README", "other") == NULL);
    CHECK(heads(y, "src/a.c", NULL) == NULL);
    yard_check(y);
}

/* The functions and JSON are one and the same: ids, the log, events. */
TEST(api, the_same_as_json_says)
{
    yard *y = yard_open(t), *other;
    const char *log, *events, *json;
    valise_placed placed;
    valise_frames *frames;

    yard_grow(y, TREE, "");
    placed = say(y, "w", "README", "summary", "one");
    log = yard_run(y, "log:list", "{\"limit\":1}");
    CHECK_TEXT("frame:put", yard_member(y, log, "items.0.type"));
    CHECK_TEXT("w", yard_member(y, log, "items.0.actor"));
    events = yard_run(y, "event:list", test_format("{\"since\":%lld}", (long long)placed.seq));
    CHECK_TEXT("frame:put", yard_member(y, events, "items.0.type"));
    CHECK_TEXT("w", yard_member(y, events, "items.0.source"));
    json = yard_run(y, "node:get", "{\"node\":\"README\",\"noScan\":true,\"view\":\"recency\"}");
    frames = get(y, "README", "recency");
    check_id(yard_member(y, json, "frames.0.frameId"), &frames->items[0]->id);
    check_id(yard_member(y, json, "frames.0.basis"), &frames->items[0]->basis);
    check_id(yard_member(y, json, "treeRoot"), &frames->tree_root);
    check_id(yard_member(y, json, "contextRoot"), &frames->context_root);
    check_id(yard_member(y, json, "viewHash"), &frames->view_hash);
    check_id(yard_member(y, json, "meta.frameSetRoot"), &frames->frame_set_root);
    CHECK(vls_id_equal(&placed.frame_set_root, &frames->frame_set_root));
    CHECK(vls_id_equal(&placed.context_root, &frames->context_root));
    /* Whoever puts it, and however: the same frame. */
    t->param = "memory";
    other = yard_open(t);
    yard_grow(other, TREE, "");
    json = yard_put(other, "w", "README", "summary", "one", "");
    check_id(yard_member(other, json, "frameId"), &placed.frame);
    check_id(yard_member(other, json, "contextRoot"), &placed.context_root);
}

/* [C8] */
TEST(api, the_same_again_is_there_already)
{
    yard *y = yard_open(t);
    valise_placed first, again;

    yard_grow(y, TREE, "");
    first = say(y, "w", "README", "notes", "one");
    again = say(y, "w", "README", "notes", "one");
    CHECK(again.existed && again.head && vls_id_equal(&first.frame, &again.frame));
    CHECK(vls_id_equal(&first.context_root, &again.context_root));
    CHECK_INT(first.seq, again.seq);
    CHECK_INT(1, get(y, "README", "history")->total);
}

TEST(api, what_is_told_beside_the_content)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("summary");
    valise_placed placed = VALISE_PLACED_INIT;
    valise_frames *frames;

    yard_grow(y, TREE, "");
    o.media_type = VLS_STR("text/markdown");
    o.metadata = VLS_STR("{ \"b\": 1, \"a\": [] }");
    o.recipe = VLS_STR("make it so");
    CHECK_OK(valise_frame_put(&placed, y->v, "README", VLS_STR("x\0\xff"), &o, NULL, &t->err));
    frames = heads(y, "README", "summary");
    CHECK_STR(VLS_STR("x\0\xff"), frames->items[0]->content);
    CHECK_STR(VLS_STR("text/markdown"), frames->items[0]->media_type);
    CHECK_STR(VLS_STR("{\"a\":[],\"b\":1}"), frames->items[0]->metadata);
    CHECK_INT(VALISE_FRAME_EXTERNAL, frames->items[0]->kind);
    CHECK(!vls_id_equal(&none, &frames->items[0]->recipe));
    o = unlooked("");
    CHECK_OK(valise_frame_put(NULL, y->v, "README", (valise_str){NULL, 0}, &o, NULL, &t->err));
    frames = heads(y, "README", "notes"); /* the usual type; an empty content is one too */
    CHECK(frames->items[0]->content.ptr && frames->items[0]->content.len == 0);
    o.metadata = VLS_STR("{");
    CHECK_RC(VALISE_E_INVALID,
             valise_frame_put(NULL, y->v, "README", VLS_STR("y"), &o, NULL, &t->err));
    CHECK_TEXT("metadata", t->err.path);
    o.metadata = (valise_str){NULL, 3};
    CHECK_RC(VALISE_E_INVALID,
             valise_frame_put(NULL, y->v, "README", VLS_STR("y"), &o, NULL, &t->err));
}

/* [C10] */
TEST(api, a_head_that_is_expected)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("notes");
    valise_placed first = VALISE_PLACED_INIT, second = VALISE_PLACED_INIT;
    valise_call call = VALISE_CALL_INIT;

    yard_grow(y, TREE, "");
    o.expect = &none;
    CHECK_OK(valise_frame_put(&first, y->v, "README", VLS_STR("1"), &o, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_frame_put(&second, y->v, "README", VLS_STR("2"), &o, NULL, &t->err));
    CHECK(vls_id_equal(&none, &second.frame)); /* untouched */
    o.expect = &first.frame;
    CHECK_OK(valise_frame_put(&second, y->v, "README", VLS_STR("2"), &o, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_frame_put(NULL, y->v, "README", VLS_STR("3"), &o, NULL, &t->err));
    call.expect = VLS_STR("null");
    CHECK_RC(VALISE_E_INVALID,
             valise_frame_put(NULL, y->v, "README", VLS_STR("3"), &o, &call, &t->err));
    o.expect = NULL;
    CHECK_RC(VALISE_E_CONFLICT,
             valise_frame_put(NULL, y->v, "README", VLS_STR("3"), &o, &call, &t->err));
    o.frame_id = &first.frame;
    CHECK_RC(VALISE_E_INVALID,
             valise_frame_put(NULL, y->v, "README", VLS_STR("3"), &o, NULL, &t->err));
    CHECK_OK(valise_frame_put(NULL, y->v, "README", VLS_STR("1"), &o, NULL, &t->err));
    CHECK_TEXT("1", contents(heads(y, "README", "notes")));
}

TEST(api, about_how_it_was)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("notes");
    valise_placed placed = VALISE_PLACED_INIT;
    char old[VALISE_ID_TEXT];
    valise_id before;

    yard_grow(y, TREE, "");
    (void)say(y, "w", "README", "notes", "one");
    before = grove_get(&y->state, "README")->id;
    yard_grow(y, "README=other", "");
    (void)say(y, "w", "README", "notes", "two");
    o.basis = &before;
    CHECK_OK(valise_frame_put(&placed, y->v, "README", VLS_STR("late"), &o, NULL, &t->err));
    CHECK(!placed.head && vls_id_equal(&before, &placed.node));
    CHECK_TEXT("two", contents(heads(y, "README", "notes")));
    o.basis = NULL; /* by its id a node that is another one by now is refused */
    CHECK_RC(VALISE_E_CONFLICT, valise_frame_put(NULL, y->v, valise_id_text(old, &before),
                                                 VLS_STR("x"), &o, NULL, &t->err));
}

TEST(api, a_command_is_tried_or_done_once)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("notes");
    valise_placed first = VALISE_PLACED_INIT, second = VALISE_PLACED_INIT;
    valise_call call = VALISE_CALL_INIT;

    yard_grow(y, TREE, "");
    call.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_frame_put(&first, y->v, "README", VLS_STR("1"), &o, &call, &t->err));
    CHECK(!vls_id_equal(&none, &first.frame) && !heads(y, "README", NULL));
    call.flags = 0;
    call.id.bytes[0] = 1;
    CHECK_OK(valise_frame_put(&first, y->v, "README", VLS_STR("1"), &o, &call, &t->err));
    (void)say(y, "w", "README", "notes", "2");
    CHECK_OK(valise_frame_put(&second, y->v, "README", VLS_STR("1"), &o, &call, &t->err));
    CHECK(vls_id_equal(&first.frame, &second.frame) && vls_id_equal(&first.node, &second.node) &&
          vls_id_equal(&first.previous_head, &second.previous_head) &&
          vls_id_equal(&first.frame_set_root, &second.frame_set_root) &&
          vls_id_equal(&first.context_root, &second.context_root));
    CHECK(first.seq == second.seq && first.existed == second.existed && first.head == second.head);
    CHECK_TEXT("2", contents(heads(y, "README", NULL)));
}

/* ---- lists and views ---- */

TEST(api, lists_and_views)
{
    yard *y = yard_open(t);
    valise_frames *frames = NULL;

    yard_grow(y, TREE, "");
    CHECK_OK(valise_frame_list(&frames, y->v, "README", NULL, VALISE_NODE_NO_SCAN, NULL, &t->err));
    CHECK_INT(0, frames->count);
    valise_frames_free(frames);
    (void)say(y, "w", "README", "b", "one");
    (void)say(y, "s", "README", "c", "two");
    (void)say(y, "w", "README", "a", "three");
    (void)say(y, "w", "README", "b", "four");
    CHECK_TEXT("three four two", contents(get(y, "README", NULL)));
    CHECK_TEXT("four three", contents(get(y, "README", "recency,max=2")));
    CHECK_TEXT("three four two", contents(heads(y, "README", NULL)));
    frames = get(y, "README", "history,type=b,max=1");
    CHECK_INT(4, frames->total);
    CHECK_INT(2, frames->matched);
    CHECK_INT(1, frames->count);
    CHECK_OK(valise_frame_list(&frames, y->v, "README", NULL, VALISE_NODE_NO_SCAN, NULL, &t->err));
    test_defer(free_frames, frames);
    CHECK_INT(4, frames->count);
    CHECK_INT(4, frames->items[0]->bytes); /* the newest first, and no contents */
    CHECK(frames->items[0]->head && !frames->items[3]->head && !frames->items[0]->content.ptr);
    CHECK_STR(VLS_STR("s"), frames->items[2]->agent);
    CHECK_OK(valise_frame_list(&frames, y->v, "README", "b", VALISE_NODE_NO_SCAN, NULL, &t->err));
    test_defer(free_frames, frames);
    CHECK_INT(2, frames->count);
    frames = NULL;
    CHECK_RC(VALISE_E_INVALID,
             valise_node_get(&frames, y->v, "README", "max=2,colour=red", NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, "colour") && !frames);
    CHECK_RC(VALISE_E_INVALID,
             valise_head_get(&frames, y->v, "README", "No Type", 0, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_head_get(&frames, y->v, "nothing", "a", 0, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_frame_list(&frames, y->v, "nothing", NULL, 0, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_node_get(&frames, y->v, "nothing", NULL, NULL, NULL, &t->err));
    CHECK(!frames);
}

/* [C4] */
TEST(api, nodes)
{
    yard *y = yard_open(t);
    const valise_tree_child *const *children;
    valise_node_options o = VALISE_NODE_OPTIONS_INIT;
    valise_frames *dir, *file, *old = NULL;
    char digits[VALISE_ID_TEXT];

    yard_grow(y, TREE, "");
    dir = get(y, "src", NULL);
    CHECK_INT(VALISE_NODE_DIR, dir->node->kind);
    CHECK_INT(3, dir->node->size);
    CHECK_INT(3, dir->node->children.count);
    children = dir->node->children.items;
    CHECK_STR(VLS_STR("run.sh"), children[2]->name);
    CHECK_INT(VALISE_NODE_FILE, children[2]->kind);
    file = get(y, "src/run.sh", NULL);
    CHECK(file->node->exec && !file->node->children.items && !file->node->target.ptr);
    CHECK(vls_id_equal(&children[2]->node_id, &file->node->node_id));
    CHECK(vls_id_equal(&dir->node->node_id, &file->node->parent_id));
    CHECK_STR(VLS_STR("src"), file->node->parent);
    CHECK_STR(VLS_STR("src/a.c"), get(y, "ln", NULL)->node->target);
    CHECK(!get(y, ".", NULL)->node->parent.ptr);
    CHECK_STR(VLS_STR("src/run.sh"),
              get(y, valise_id_text(digits, &file->node->node_id), NULL)->node->path);
    yard_grow(y, "src/run.sh*=4", "");
    o.tree = VLS_STR("v1");
    CHECK_OK(valise_node_get(&old, y->v, "src/run.sh", NULL, &o, NULL, &t->err));
    CHECK(vls_id_equal(&old->node->node_id, &file->node->node_id) && old->version == 1);
    CHECK(vls_id_equal(&old->tree_root, &file->tree_root));
    CHECK_INT(2, get(y, "src/run.sh", NULL)->version);
    valise_frames_free(old);
}

/* [C12] */
TEST(api, states_and_why)
{
    yard *y = yard_open(t);
    const valise_frame_reason *const *reasons;
    const valise_frame *f;

    yard_grow(y, TREE, "");
    (void)say(y, "w", "README", "notes", "one");
    (void)say(y, "w", "src/a.c", "notes", "two");
    yard_grow(y, "README=changed src/c.c=1", "src/a.c>src/c.c");
    f = heads(y, "README", "notes")->items[0];
    CHECK_INT(VALISE_STATE_STALE, f->state);
    CHECK_INT(1, f->reasons.count);
    reasons = f->reasons.items;
    CHECK_INT(VALISE_REASON_NODE_CHANGED, reasons[0]->reason);
    CHECK(!reasons[0]->child.ptr);
    f = heads(y, "src/c.c", "notes")->items[0];
    CHECK_INT(VALISE_STATE_FRESH, f->state);
    CHECK_STR(VLS_STR("src/a.c"), f->moved_from);
    yard_grow(y, "x=1", "");
    CHECK_INT(VALISE_STATE_ORPHANED, heads(y, "README", "notes")->items[0]->state);
}

TEST(api, as_it_was)
{
    yard *y = yard_open(t);
    valise_placed first;
    valise_call call = VALISE_CALL_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_frames *frames = NULL;

    yard_grow(y, TREE, "");
    first = say(y, "w", "README", "notes", "one");
    (void)say(y, "w", "README", "notes", "two");
    call.at = valise_str_of(test_format("%lld", (long long)first.seq));
    CHECK_RC(1, valise_head_get(&frames, y->v, "README", "notes", 0, &call, &t->err));
    CHECK_TEXT("one", contents(frames));
    CHECK_INT(first.seq, frames->seq);
    valise_frames_free(frames);
    CHECK_OK(valise_roots_get(&roots, y->v, &call, &t->err));
    CHECK(vls_id_equal(&first.context_root, &roots.context));
}

/* ---- one frame ---- */

TEST(api, one_frame)
{
    yard *y = yard_open(t);
    const valise_frame_part *const *parts;
    valise_frames *frames = NULL;
    valise_blob *blob = NULL;
    valise_placed placed;
    const valise_id stranger = {{7}};

    yard_grow(y, TREE, "");
    placed = say(y, "w", "README", "notes", "one");
    CHECK_OK(valise_frame_get(&frames, y->v, &placed.frame, NULL, &t->err));
    CHECK_TEXT("one", contents(frames));
    CHECK_STR(VLS_STR("w"), frames->items[0]->agent);
    CHECK_STR(VLS_STR("README"), frames->items[0]->path);
    CHECK(frames->items[0]->head && frames->items[0]->seq == placed.seq && frames->total == 1);
    CHECK_INT(1, frames->items[0]->made_of.count);
    parts = frames->items[0]->made_of.items;
    CHECK_INT(VALISE_PART_NODE, parts[0]->kind);
    CHECK(vls_id_equal(&grove_get(&y->state, "README")->node.object, &parts[0]->id));
    valise_frames_free(frames);
    CHECK_RC(1, valise_frame_content(&blob, y->v, &placed.frame, NULL, &t->err));
    CHECK_STR(VLS_STR("one"), valise_blob_bytes(blob));
    (void)yard_run(
        y, "workspace:erase",
        test_format("{\"place\":\"frame/%s\",\"reason\":\"asked\"}", vls_id_hex(&placed.frame).s));
    CHECK_STR(VLS_STR("one"), valise_blob_bytes(blob)); /* it is ours */
    valise_blob_unref(blob);
    blob = NULL;
    CHECK_RC(0, valise_frame_content(&blob, y->v, &placed.frame, NULL, &t->err));
    CHECK(!blob);
    CHECK_OK(valise_frame_get(&frames, y->v, &placed.frame, NULL, &t->err));
    CHECK(frames->items[0]->erased && !frames->items[0]->content.ptr);
    valise_frames_free(frames);
    frames = NULL;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_frame_get(&frames, y->v, &stranger, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_frame_content(&blob, y->v, &stranger, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_frame_get(&frames, y->v, &none, NULL, &t->err));
    CHECK(!frames && !blob);
}

/* The same said by the same about two equal files is one frame in two slots. [C9] */
TEST(api, one_frame_in_two_places)
{
    yard *y = yard_open(t);
    valise_frames *frames = NULL;
    valise_placed a, b;

    yard_grow(y, "a=1 b=1", "");
    a = say(y, "w", "a", "notes", "one");
    b = say(y, "w", "b", "notes", "one");
    (void)say(y, "w", "b", "notes", "two");
    CHECK(vls_id_equal(&a.frame, &b.frame) && !b.existed);
    CHECK_OK(valise_frame_get(&frames, y->v, &a.frame, NULL, &t->err));
    CHECK_INT(2, frames->count);
    CHECK_INT(2, frames->total);
    CHECK_TEXT("one one", contents(frames));
    for (size_t i = 0; i < 2; i++) {
        const valise_frame *f = frames->items[i];
        bool at_a = vls_str_equal(f->path, VLS_STR("a"));
        CHECK(f->head == at_a && (at_a || vls_str_equal(f->path, VLS_STR("b"))));
        CHECK_INT(1, f->made_of.count);
    }
    valise_frames_free(frames);
}

/* ---- roots and proofs ---- */

/* [C11] */
TEST(api, roots_name_what_there_is)
{
    yard *y = yard_open(t);
    valise_roots roots = VALISE_ROOTS_INIT, empty = VALISE_ROOTS_INIT;
    valise_placed placed;

    CHECK_OK(valise_roots_get(&empty, y->v, NULL, &t->err));
    CHECK(empty.version == 0 && vls_id_equal(&none, &empty.tree));
    CHECK(!vls_id_equal(&none, &empty.context));
    yard_grow(y, TREE, "");
    placed = say(y, "w", "README", "notes", "one");
    (void)say(y, "w", "README", "notes", "two");
    placed = say(y, "w", "README", "other", "x");
    CHECK_OK(valise_roots_get(&roots, y->v, NULL, &t->err));
    check_id(vls_id_hex(&grove_get(&y->state, "")->id).s, &roots.tree);
    CHECK(vls_id_equal(&placed.context_root, &roots.context));
    CHECK_INT(1, roots.version);
    CHECK_INT(2, roots.slots);
    CHECK_INT(2, roots.heads);
    CHECK_INT(3, roots.frames);
    CHECK_INT(0, roots.marked);
}

TEST(api, proofs_are_checked_without_a_workspace)
{
    yard *y = yard_open(t);
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_placed first, second;
    valise_proof *proof = NULL, *absent = NULL;
    valise_id value = {{0}}, stranger = {{7}};
    valise *nowhere = NULL;
    valise_options plain = VALISE_OPTIONS_INIT;
    char *bad;

    yard_grow(y, TREE, "");
    first = say(y, "w", "README", "notes", "one");
    second = say(y, "w", "README", "notes", "two");
    CHECK_OK(valise_roots_get(&roots, y->v, NULL, &t->err));
    CHECK_OK(valise_frame_proof(&proof, y->v, "README", NULL, NULL, NULL, &t->err));
    CHECK(proof->member && vls_id_equal(&second.frame, &proof->frame)); /* the head, of notes */
    CHECK(vls_id_equal(&roots.context, &proof->context_root));
    CHECK_OK(valise_frame_proof(&absent, y->v, "README", "notes", &stranger, NULL, &t->err));
    CHECK(!absent->member);
    valise_close(y->v);
    y->v = NULL;
    plain.env = t->env;
    plain.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&nowhere, NULL, &plain, &t->err));
    CHECK_RC(1, valise_frame_verify(&value, nowhere, &proof->root, &second.frame, proof->proof,
                                    &t->err));
    CHECK(vls_id_equal(&second.frame, &value));
    CHECK_RC(1,
             valise_frame_verify(NULL, nowhere, &proof->root, &first.frame, proof->proof, &t->err));
    CHECK_RC(1, valise_frame_verify(&value, nowhere, &roots.context, &proof->slot_key,
                                    proof->context_proof, &t->err));
    CHECK(vls_id_equal(&proof->slot_value, &value));
    value = none;
    CHECK_RC(
        0, valise_frame_verify(&value, nowhere, &absent->root, &stranger, absent->proof, &t->err));
    CHECK(vls_id_equal(&none, &value));
    CHECK_RC(VALISE_E_CORRUPT,
             valise_frame_verify(&value, nowhere, &stranger, &first.frame, proof->proof, &t->err));
    bad = test_alloc(proof->proof.len);
    memcpy(bad, proof->proof.ptr, proof->proof.len);
    bad[proof->proof.len - 1] ^= 1;
    CHECK_RC(VALISE_E_CORRUPT, valise_frame_verify(&value, nowhere, &proof->root, &second.frame,
                                                   vls_str(bad, proof->proof.len), &t->err));
    valise_proof_free(proof);
    valise_proof_free(absent);
    valise_close(nowhere);
}

TEST(api, proofs_of_what_is_not_there)
{
    yard *y = yard_open(t);
    valise_proof *proof = NULL;

    yard_grow(y, TREE, "");
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_frame_proof(&proof, y->v, "README", NULL, NULL, NULL, &t->err));
    CHECK(!proof);
}

/* ---- who may ---- */

/* [C7] */
TEST(api, who_may_do_what)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("notes");
    valise_placed placed = VALISE_PLACED_INIT;
    valise_frames *frames = NULL;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_proof *proof = NULL;
    valise_blob *blob = NULL;
    valise_call reader = as("r"), stranger = as("nobody-knows-me");

    yard_grow(y, TREE, "");
    CHECK_RC(VALISE_E_DENIED,
             valise_frame_put(&placed, y->v, "README", VLS_STR("x"), &o, &reader, &t->err));
    CHECK(vls_id_equal(&none, &placed.frame));
    CHECK_RC(VALISE_E_DENIED, valise_tree_scan(NULL, y->v, NULL, &reader, &t->err));
    placed = say(y, "w", "README", "notes", "x");
    CHECK_RC(1, valise_head_get(&frames, y->v, "README", NULL, 0, &reader, &t->err));
    valise_frames_free(frames);
    frames = NULL;
    CHECK_RC(VALISE_E_DENIED,
             valise_head_get(&frames, y->v, "README", NULL, 0, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_frame_list(&frames, y->v, "README", NULL, 0, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_node_get(&frames, y->v, "README", NULL, NULL, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_frame_get(&frames, y->v, &placed.frame, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_frame_content(&blob, y->v, &placed.frame, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_roots_get(&roots, y->v, &stranger, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_frame_proof(&proof, y->v, "README", NULL, NULL, &stranger, &t->err));
    CHECK(!frames && !blob && !proof && roots.version == 0);
}

/* A grant for some paths is none for the root, which says something about all of them. */
TEST(api, who_may_do_it_where)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("notes");
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_frames *frames = NULL;
    valise_call half = as("half");

    yard_grow(y, TREE, "");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"half\",\"capabilities\":[\"context:read path=src/**\","
                   "\"context:write path=src/**\"]}");
    CHECK_OK(valise_frame_put(NULL, y->v, "src/a.c", VLS_STR("x"), &o, &half, &t->err));
    CHECK_RC(1, valise_head_get(&frames, y->v, "src/a.c", NULL, 0, &half, &t->err));
    valise_frames_free(frames);
    frames = NULL;
    CHECK_RC(VALISE_E_DENIED,
             valise_frame_put(NULL, y->v, "README", VLS_STR("x"), &o, &half, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_head_get(&frames, y->v, "README", NULL, 0, &half, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_roots_get(&roots, y->v, &half, &t->err));
    CHECK(!frames);
}

/* ---- lifetimes ---- */

TEST(api, results_outlive_the_handle)
{
    yard *y = yard_open(t);
    valise_frames *known = NULL, *head = NULL, *list = NULL, *one = NULL;
    valise_placed placed;
    valise_blob *blob = NULL;

    yard_grow(y, TREE, "");
    placed = say(y, "w", "src", "notes", "one");
    yard_grow(y, "src/a.c=2", "");
    CHECK_RC(1, valise_head_get(&head, y->v, "src", "notes", 0, NULL, &t->err));
    CHECK_OK(valise_node_get(&known, y->v, "src", NULL, NULL, NULL, &t->err));
    CHECK_OK(valise_frame_list(&list, y->v, "src", NULL, 0, NULL, &t->err));
    CHECK_OK(valise_frame_get(&one, y->v, &placed.frame, NULL, &t->err));
    CHECK_RC(1, valise_frame_content(&blob, y->v, &placed.frame, NULL, &t->err));
    valise_close(y->v);
    y->v = NULL;
    CHECK_TEXT("one", contents(head));
    CHECK_TEXT("one", contents(known));
    CHECK_TEXT("one", contents(one));
    CHECK_STR(VLS_STR("src"), list->items[0]->path);
    CHECK_STR(VLS_STR("notes"), list->items[0]->type);
    CHECK_STR(VLS_STR("w"), list->items[0]->agent);
    CHECK_INT(1, head->items[0]->reasons.count);
    CHECK_INT(VALISE_REASON_NODE_CHANGED,
              (*(const valise_frame_reason *const *)head->items[0]->reasons.items)->reason);
    CHECK_STR(VLS_STR("a.c"),
              (*(const valise_tree_child *const *)known->node->children.items)->name);
    CHECK_STR(VLS_STR("src"), known->node->path);
    CHECK_STR(VLS_STR(""), known->node->parent);
    CHECK_INT(VALISE_PART_NODE,
              (*(const valise_frame_part *const *)one->items[0]->made_of.items)->kind);
    CHECK_STR(VLS_STR("one"), valise_blob_bytes(blob));
    valise_frames_free(head);
    valise_frames_free(known);
    valise_frames_free(list);
    valise_frames_free(one);
    valise_blob_unref(blob);
    valise_frames_free(NULL);
    valise_proof_free(NULL);
}

/* What the caller passes is read before the call returns, and never again. */
TEST(api, arguments_are_the_callers_again)
{
    yard *y = yard_open(t);
    char node[] = "README", type[] = "notes";
    valise_frames *frames = NULL;

    yard_grow(y, TREE, "");
    (void)say(y, "w", node, type, "one");
    CHECK_RC(1, valise_head_get(&frames, y->v, node, type, 0, NULL, &t->err));
    memset(node, 'x', sizeof(node) - 1);
    memset(type, 'x', sizeof(type) - 1);
    CHECK_STR(VLS_STR("README"), frames->items[0]->path);
    CHECK_STR(VLS_STR("notes"), frames->items[0]->type);
    valise_frames_free(frames);
}

/* ---- wrong arguments ---- */

#define REFUSED(call) CHECK_RC(VALISE_E_INVALID, call)

TEST(api, nothing_where_something_must_be)
{
    yard *y = yard_open(t);
    valise *v = y->v;
    valise_frames *f = NULL;
    valise_proof *p = NULL;
    valise_blob *b = NULL;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_str text = VLS_STR("x"), bad = {NULL, 1};
    valise_error *e = &t->err;

    REFUSED(valise_tree_scan(NULL, NULL, NULL, NULL, e));
    REFUSED(valise_roots_get(NULL, v, NULL, e));
    REFUSED(valise_roots_get(&roots, NULL, NULL, e));
    REFUSED(valise_frame_put(NULL, NULL, "a", text, NULL, NULL, e));
    REFUSED(valise_frame_put(NULL, v, NULL, text, NULL, NULL, e));
    REFUSED(valise_frame_put(NULL, v, "a", bad, NULL, NULL, e));
    REFUSED(valise_head_get(NULL, v, "a", NULL, 0, NULL, e));
    REFUSED(valise_head_get(&f, NULL, "a", NULL, 0, NULL, e));
    REFUSED(valise_head_get(&f, v, NULL, NULL, 0, NULL, e));
    REFUSED(valise_head_get(&f, v, "a", NULL, 2, NULL, e));
    REFUSED(valise_frame_list(NULL, v, "a", NULL, 0, NULL, e));
    REFUSED(valise_frame_list(&f, NULL, "a", NULL, 0, NULL, e));
    REFUSED(valise_frame_list(&f, v, NULL, NULL, 0, NULL, e));
    REFUSED(valise_frame_list(&f, v, "a", NULL, ~0u, NULL, e));
    REFUSED(valise_frame_get(NULL, v, &none, NULL, e));
    REFUSED(valise_frame_get(&f, NULL, &none, NULL, e));
    REFUSED(valise_frame_get(&f, v, NULL, NULL, e));
    REFUSED(valise_frame_content(NULL, v, &none, NULL, e));
    REFUSED(valise_frame_content(&b, NULL, &none, NULL, e));
    REFUSED(valise_frame_content(&b, v, NULL, NULL, e));
    REFUSED(valise_node_get(NULL, v, "a", NULL, NULL, NULL, e));
    REFUSED(valise_node_get(&f, NULL, "a", NULL, NULL, NULL, e));
    REFUSED(valise_node_get(&f, v, NULL, NULL, NULL, NULL, e));
    REFUSED(valise_frame_proof(NULL, v, "a", NULL, NULL, NULL, e));
    REFUSED(valise_frame_proof(&p, NULL, "a", NULL, NULL, NULL, e));
    REFUSED(valise_frame_proof(&p, v, NULL, NULL, NULL, NULL, e));
    REFUSED(valise_frame_verify(NULL, NULL, &none, &none, text, e));
    REFUSED(valise_frame_verify(NULL, v, NULL, &none, text, e));
    REFUSED(valise_frame_verify(NULL, v, &none, NULL, text, e));
    REFUSED(valise_frame_verify(NULL, v, &none, &none, bad, e));
    CHECK(!f && !p && !b);
    CHECK_INT(VALISE_E_INVALID, valise_head_get(&f, v, NULL, NULL, 0, NULL, NULL)); /* no error */
}

TEST(api, sizes_and_flags_that_cannot_be)
{
    yard *y = yard_open(t);
    valise *v = y->v;
    valise_tree_scan_options scan = VALISE_TREE_SCAN_OPTIONS_INIT;
    valise_tree_scanned scanned = VALISE_TREE_SCANNED_INIT;
    valise_frame_options put = VALISE_FRAME_OPTIONS_INIT;
    valise_node_options node = VALISE_NODE_OPTIONS_INIT;
    valise_placed placed = VALISE_PLACED_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_call call = VALISE_CALL_INIT;
    valise_str text = VLS_STR("x");
    valise_frames *f = NULL;
    valise_error *e = &t->err;

    yard_grow(y, TREE, "");
    for (int i = 0; i < 2; i++) {
        size_t size = i ? 5000 : 0;
        scan.size = scanned.size = put.size = node.size = placed.size = roots.size = size;
        call.size = size;
        REFUSED(valise_tree_scan(NULL, v, &scan, NULL, e));
        REFUSED(valise_tree_scan(&scanned, v, NULL, NULL, e));
        REFUSED(valise_frame_put(NULL, v, "README", text, &put, NULL, e));
        REFUSED(valise_frame_put(&placed, v, "README", text, NULL, NULL, e));
        REFUSED(valise_frame_put(NULL, v, "README", text, NULL, &call, e));
        REFUSED(valise_node_get(&f, v, "README", NULL, &node, NULL, e));
        REFUSED(valise_roots_get(&roots, v, NULL, e));
        REFUSED(valise_head_get(&f, v, "README", NULL, 0, &call, e));
    }
    scan = (valise_tree_scan_options){.size = sizeof(scan), .flags = 2};
    put = (valise_frame_options){.size = sizeof(put), .flags = 2};
    node = (valise_node_options){.size = sizeof(node), .flags = 2};
    REFUSED(valise_tree_scan(NULL, v, &scan, NULL, e));
    REFUSED(valise_frame_put(NULL, v, "README", text, &put, NULL, e));
    REFUSED(valise_node_get(&f, v, "README", NULL, &node, NULL, e));
    CHECK(!f && !heads(y, "README", NULL)); /* and nothing was done */
}

/* Structs of a program that was built against other headers. */
TEST(api, shorter_structs)
{
    yard *y = yard_open(t);
    valise_frame_options o = unlooked("summary");
    valise_placed placed = VALISE_PLACED_INIT;

    yard_grow(y, TREE, "");
    o.size = offsetof(valise_frame_options, media_type);
    o.media_type = VLS_STR("is not read");
    placed.size = offsetof(valise_placed, node);
    CHECK_OK(valise_frame_put(&placed, y->v, "README", VLS_STR("x"), &o, NULL, &t->err));
    CHECK(!vls_id_equal(&none, &placed.frame) && vls_id_equal(&none, &placed.node));
    CHECK_INT(offsetof(valise_placed, node), placed.size);
    CHECK(!heads(y, "README", "summary")->items[0]->media_type.ptr);
}

TEST(api, without_a_workspace)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_frames *f = NULL;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&v, NULL, &o, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_roots_get(&roots, v, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_frame_put(NULL, v, "a", VLS_STR("x"), NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_head_get(&f, v, "a", NULL, 0, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_node_get(&f, v, "a", NULL, NULL, NULL, &t->err));
    valise_close(v);
}
