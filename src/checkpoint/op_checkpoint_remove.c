/* op_checkpoint_remove.c -- checkpoint:remove, and the contents that nobody needs then. [C31]
 *
 * What the other checkpoints need is in their manifests, which a command does not read: the job
 * does, and says for which checkpoints it did. Where there are others by then, it looks again. */
#include "base/map.h"
#include "base/str.h"
#include "bus/job.h"
#include "checkpoint/keep.h"

#define PIECE 50000u
#define ARENA_MAX ((size_t)4 << 30)

typedef vls_checkpoint_remove_args remove_args;
typedef vls_checkpoint_remove_result remove_result;

static const valise_field remove_in[] = {
    VALISE_FIELD_WITH(remove_args, checkpoint, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Its name.", .ref = "checkpoint:list.name", .min = 1,
                      .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_END,
};

static const valise_field remove_out[] = {
    VALISE_FIELD(remove_result, name, STR, VALISE_REQUIRED, "What was removed."),
    VALISE_FIELD(remove_result, contents, INT, VALISE_REQUIRED,
                 "Contents that no other checkpoint needs: they go with gc."),
    VALISE_FIELD(remove_result, bytes, INT, VALISE_REQUIRED, "Bytes of these."),
    VALISE_FIELD_END,
};

typedef struct removing {
    valise_job *job;
    valise_str given;
    vls_checkpoint_row row;
    vls_arena arena;
    vls_map needed; /* of valise_id */
    valise_id state;
    vls_vec(valise_id) spare;
    int64_t bytes;
} removing;

static void vls_auto_removing(removing *r)
{
    vls_map_release(&r->needed);
    vls_arena_release(&r->arena);
}

static int find(void *arg, valise_view *view, valise_error *err)
{
    removing *r = arg;
    int rc = vls_checkpoint_find(&r->row, view, r->given, err);

    return rc < 0 ? rc : vls_arena_dup(&r->row.name, &r->job->arena, r->row.name, err);
}

static bool is_hash(const void *item, const void *key)
{
    return vls_id_equal(item, key);
}

static uint64_t hash_of(const valise_id *id)
{
    return vls_bytes_load_u64(id->bytes);
}

static int need(removing *r, valise_view *view, const vls_checkpoint_row *row, valise_error *err)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    VLS_AUTO(blob) valise_blob *manifest = NULL;
    vls_manifest_entry e;
    int rc = vls_checkpoint_open(&manifest, view, row, err);

    if (rc == VALISE_E_NOT_FOUND)
        return 0; /* erased: it needs nothing */
    if (rc == 0)
        rc = vls_manifest_open(&reader, view->arena.env, valise_blob_bytes(manifest), err);
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, err)) > 0) {
        valise_id *kept;
        rc = 0;
        if (e.kind != VLS_MANIFEST_FILE || vls_map_get(&r->needed, hash_of(&e.content), &e.content))
            continue;
        kept = vls_arena_alloc(&r->arena, sizeof(*kept));
        if (!kept)
            return vls_arena_fail(&r->arena, err);
        *kept = e.content;
        if (vls_map_put(NULL, &r->needed, hash_of(kept), kept, kept) < 0)
            return vls_fail_memory(err);
    }
    return rc;
}

static int list_needed(removing *r, valise_view *view, valise_error *err)
{
    vls_checkpoint_row row = {.version = 0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_checkpoints, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = need(r, view, &row, err);
    return rc;
}

static int list_spare(removing *r, valise_view *view, valise_error *err)
{
    vls_tree_content_row row = {.size = 0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_tree_contents, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (vls_map_get(&r->needed, hash_of(&row.hash), &row.hash))
            continue;
        r->bytes += row.size;
        if (!vls_vec_push_in(&r->spare, &r->arena, row.hash))
            rc = vls_arena_fail(&r->arena, err);
    }
    return rc;
}

static int survey(void *arg, valise_view *view, valise_error *err)
{
    removing *r = arg;
    int rc = vls_checkpoint_state(&r->state, view, err);

    if (rc == 0)
        rc = list_needed(r, view, err);
    return rc < 0 ? rc : list_spare(r, view, err);
}

static int forget(removing *r, valise_error *err)
{
    int rc;

    vls_map_release(&r->needed);
    vls_arena_release(&r->arena);
    vls_arena_init(&r->arena, r->job->v->env, ARENA_MAX);
    vls_map_init(&r->needed, r->job->v->env, is_hash);
    r->spare.ptr = NULL;
    r->spare.len = r->spare.cap = 0;
    r->bytes = 0;
    rc = vls_with_view(r->job->v, NULL, survey, r, err);
    for (size_t at = 0; rc == 0 && at < r->spare.len; at += PIECE) {
        const vls_checkpoint_forget_args args = {
            r->state, {r->spare.ptr + at, VLS_MIN(r->spare.len - at, (size_t)PIECE)}};
        rc = valise_job_step(r->job, 1, err);
        if (rc == 0)
            rc = vls_job_run(r->job, &vls_op_checkpoint_checkpoint_forget, &args, NULL, NULL, err);
    }
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    VLS_AUTO(removing) removing r = {.job = j, .given = ((const remove_args *)in)->checkpoint};
    remove_result *out = result;
    vls_checkpoint_drop_args drop;
    int rc = vls_with_view(j->v, NULL, find, &r, err);

    if (rc < 0)
        return rc;
    drop = (vls_checkpoint_drop_args){r.row.tree, r.row.name};
    rc = vls_job_run(r.job, &vls_op_checkpoint_checkpoint_drop, &drop, NULL, NULL, err);
    if (rc < 0)
        return rc;
    valise_job_stage(j, "forget", "pieces", 0);
    rc = VALISE_E_CONFLICT;
    for (unsigned i = 0; rc == VALISE_E_CONFLICT && i < VLS_CHECKPOINT_TRIES; i++)
        rc = forget(&r, err);
    if (rc < 0)
        return rc;
    *out = (remove_result){r.row.name, (int64_t)r.spare.len, r.bytes};
    return 0;
}

const valise_op vls_op_checkpoint_checkpoint_remove = {
    .size = sizeof(valise_op),
    .name = "checkpoint:remove",
    .brief = "Remove a checkpoint.",
    .help = "What other checkpoints need stays. `valise gc` removes the rest, once the log no "
            "longer refers to it.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "tree:restore",
    .in = remove_in,
    .in_size = sizeof(remove_args),
    .out = remove_out,
    .out_size = sizeof(remove_result),
    .job = job,
    .example = "{\"checkpoint\":\"before-refactoring\"}",
};
