/* api_fault.c -- every allocation of the public C functions on trees and frames fails in turn. */
#include <valise.h>

#include "base/hash.h"
#include "base/str.h"
#include "harness/fault.h"

typedef int deed(fault *f, valise *v, const valise_placed *there);

typedef struct trial {
    const char *name;
    deed *deed;
} trial;

static void close_all(valise *v, valise_frames *frames)
{
    valise_close(v);
    valise_frames_free(frames);
}

static void write_files(const fault *f, const char *a, const char *b)
{
    test_write_file(test_format("%s/ws/a", f->dir), valise_str_of(a));
    test_write_file(test_format("%s/ws/b", f->dir), valise_str_of(b));
}

static int64_t frames_of(fault *f, valise *v)
{
    valise_roots roots = VALISE_ROOTS_INIT;

    CHECK_INT(0, valise_roots_get(&roots, v, NULL, &f->err));
    return roots.frames + 100 * roots.version;
}

static deed scan;

/* A folder that was scanned, two frames about `a`, of which one is stale. Only the deed has faults;
 * when it has none to tell of, everything is as before. */
static int once(fault *f, void *arg)
{
    const trial *try = arg;
    valise_options o = VALISE_OPTIONS_INIT;
    valise_placed there = VALISE_PLACED_INIT;
    valise_frames *frames = NULL;
    valise *v = NULL;
    int64_t before;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_INT(0, valise_open(&v, test_format("%s/ws", f->dir), &o, &f->err));
    write_files(f, "1", "2");
    CHECK_INT(0, valise_tree_scan(NULL, v, NULL, NULL, &f->err));
    CHECK_INT(0, valise_frame_put(NULL, v, "a", VLS_STR("old"), NULL, NULL, &f->err));
    CHECK_INT(0, valise_frame_put(&there, v, "a", VLS_STR("new"), NULL, NULL, &f->err));
    write_files(f, "11", "2");
    CHECK_INT(0, valise_tree_scan(NULL, v, NULL, NULL, &f->err));
    write_files(f, "11", "3");
    before = frames_of(f, v);
    fault_on(f);
    rc = try->deed(f, v, &there);
    fault_off(f);
    if (rc >= 0 && fault_has_hit(f))
        f->recovered = true;        /* the stat cache is not worth a failure */
    if (rc == VALISE_E_NO_MEMORY) { /* a scan may have been recorded before it is told of */
        int64_t now = frames_of(f, v);
        CHECK(now == before || (try->deed == scan && now == before + 100));
    }
    CHECK_INT(1, valise_head_get(&frames, v, "a", NULL, 0, NULL, &f->err)); /* it goes on */
    close_all(v, frames);
    fault_on(f);
    return rc < 0 ? rc : 0;
}

static int scan(fault *f, valise *v, const valise_placed *there)
{
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    int rc = valise_tree_scan(&s, v, NULL, NULL, &f->err);

    (void)there;
    CHECK_INT(rc < 0 ? 0 : 3, s.version);
    return rc;
}

static int roots(fault *f, valise *v, const valise_placed *there)
{
    valise_roots r = VALISE_ROOTS_INIT;
    int rc = valise_roots_get(&r, v, NULL, &f->err);

    (void)there;
    CHECK_INT(rc < 0 ? 0 : 2, r.version);
    return rc;
}

static int put(fault *f, valise *v, const valise_placed *there)
{
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;
    valise_placed placed = VALISE_PLACED_INIT;
    const valise_id none = {{0}};
    int rc;

    o.metadata = VLS_STR("{ \"a\" : [1, 2] }");
    o.recipe = VLS_STR("how");
    o.media_type = VLS_STR("text/plain");
    o.expect = &none;
    (void)there;
    rc = valise_frame_put(&placed, v, "b", VLS_STR("said"), &o, NULL, &f->err);
    CHECK_INT(rc == 0, !vls_id_equal(&none, &placed.frame));
    return rc;
}

static int head(fault *f, valise *v, const valise_placed *there)
{
    valise_frames *frames = NULL;
    int rc = valise_head_get(&frames, v, "a", "notes", 0, NULL, &f->err);

    CHECK(!frames == (rc < 0));
    if (frames) {
        CHECK_STR(VLS_STR("new"), frames->items[0]->content);
        CHECK(vls_id_equal(&there->frame, &frames->items[0]->id));
        CHECK_INT(1, frames->items[0]->reasons.count);
    }
    valise_frames_free(frames);
    return rc;
}

static int list(fault *f, valise *v, const valise_placed *there)
{
    valise_frames *frames = NULL;
    int rc = valise_frame_list(&frames, v, "a", NULL, 0, NULL, &f->err);

    (void)there;
    CHECK(!frames == (rc < 0));
    CHECK_INT(rc < 0 ? 0 : 2, frames ? frames->count : 0);
    valise_frames_free(frames);
    return rc;
}

static int node(fault *f, valise *v, const valise_placed *there)
{
    valise_frames *frames = NULL;
    int rc = valise_node_get(&frames, v, ".", "history,recency", NULL, NULL, &f->err);

    (void)there;
    CHECK(!frames == (rc < 0));
    CHECK_INT(rc < 0 ? 0 : 2, frames ? frames->node->children.count : 0);
    valise_frames_free(frames);
    return rc;
}

static int one(fault *f, valise *v, const valise_placed *there)
{
    valise_frames *frames = NULL;
    int rc = valise_frame_get(&frames, v, &there->frame, NULL, &f->err);

    CHECK(!frames == (rc < 0));
    CHECK_INT(rc < 0 ? 0 : 1, frames ? frames->items[0]->made_of.count : 0);
    valise_frames_free(frames);
    return rc;
}

static int content(fault *f, valise *v, const valise_placed *there)
{
    valise_blob *blob = NULL;
    int rc = valise_frame_content(&blob, v, &there->frame, NULL, &f->err);

    CHECK(!blob == (rc < 0));
    valise_blob_unref(blob);
    return rc;
}

static int prove(fault *f, valise *v, const valise_placed *there)
{
    valise_proof *proof = NULL;
    int rc = valise_frame_proof(&proof, v, "a", NULL, &there->frame, NULL, &f->err);

    CHECK(!proof == (rc < 0));
    if (rc == 0)
        rc = valise_frame_verify(NULL, v, &proof->root, &there->frame, proof->proof, &f->err);
    valise_proof_free(proof);
    return rc;
}

TEST(api_fault, no_memory)
{
    static const trial trials[] = {
        {"valise_tree_scan", scan},    {"valise_roots_get", roots},
        {"valise_frame_put", put},     {"valise_head_get", head},
        {"valise_frame_list", list},   {"valise_node_get", node},
        {"valise_frame_get", one},     {"valise_frame_content", content},
        {"valise_frame_proof", prove},
    };

    for (size_t i = 0; i < VLS_COUNT(trials); i++) {
        test_note("%s", trials[i].name);
        CHECK(fault_each_alloc(t, 0, once, (void *)(uintptr_t)&trials[i]) > 0);
    }
}
