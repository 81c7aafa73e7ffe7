/* survey.c -- what lies in the tree: a scan, and the mode of each node. See keep.h. */
#include "base/str.h"
#include "checkpoint/keep.h"
#include "context/outside.h"

#define ARENA_MAX ((size_t)8 << 30)

void vls_survey_release(vls_survey *survey)
{
    vls_arena_release(&survey->arena);
    *survey = (vls_survey){.items = VLS_VEC_INIT};
}

static int add_node(void *arg, const vls_tree_found *found, valise_error *err)
{
    vls_survey *s = arg;
    vls_spot seen = {.node = found->node};
    int rc = vls_arena_dup(&seen.path, &s->arena, found->path, err);

    if (rc == 0 && found->node.target.ptr)
        rc = vls_arena_dup(&seen.node.target, &s->arena, found->node.target, err);
    if (rc == 0 && !vls_vec_push_in(&s->items, &s->arena, seen))
        rc = vls_arena_fail(&s->arena, err);
    return rc;
}

static int list_nodes(void *arg, valise_view *view, valise_error *err)
{
    vls_survey *s = arg;
    int rc = vls_tree_head(&s->tree, view, err);

    if (rc <= 0)
        return rc;
    return vls_tree_walk(view, &s->tree, s->tree.version, VLS_STR(""), add_node, s, err);
}

static bool is_kind(const struct stat *st, vls_node_kind kind)
{
    switch (kind) {
    case VLS_NODE_FILE:
        return S_ISREG(st->st_mode);
    case VLS_NODE_DIR:
        return S_ISDIR(st->st_mode);
    case VLS_NODE_LINK:
        return S_ISLNK(st->st_mode);
    default:
        return true;
    }
}

static int look(vls_survey *s, const char *root, valise_job *job, valise_error *err)
{
    VLS_AUTO(reach) vls_reach reach = {.root = -1};
    struct stat st;
    int rc = vls_reach_open(&reach, job->v->env, root, err);

    for (size_t i = 0; rc == 0 && i < s->items.len; i++) {
        vls_spot *seen = &s->items.ptr[i];
        rc = vls_reach_stat(&st, &reach, seen->path, err);
        if (rc < 0)
            return rc;
        seen->strange =
            rc == 0 || !is_kind(&st, seen->node.kind) ||
            (seen->node.kind == VLS_NODE_FILE &&
             (st.st_size != seen->node.size || ((st.st_mode & S_IXUSR) != 0) != seen->node.exec));
        seen->mode = rc > 0 ? vls_mode_of(st.st_mode, seen->node.kind == VLS_NODE_DIR) : 0;
        rc = valise_job_step(job, 1, err);
    }
    return rc;
}

static int scan(valise_job *job, valise_str dir, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    const vls_tree_scan_args args = {.dir = dir};
    vls_tree_scan_result found;
    valise_call call;
    int rc = valise_job_call(&call, job, err);

    if (rc == 0)
        rc = valise_job_step(job, 0, err);
    if (rc < 0)
        return rc;
    rc = VALISE_E_CONFLICT; /* others scan as well */
    for (unsigned i = 0; rc == VALISE_E_CONFLICT && i < VLS_CHECKPOINT_TRIES; i++)
        rc = vls_run_own(job->v, &vls_op_context_tree_scan, &args, &found, &memory, &call, err);
    return rc;
}

int vls_survey_take(vls_survey *out, const char **root, valise_job *job, valise_str dir,
                    valise_error *err)
{
    VLS_AUTO(outside) vls_outside outside = {0};
    valise_str kept = {NULL, 0};
    int rc = vls_outside_open(&outside, job->v, dir, err);

    vls_survey_release(out);
    if (rc < 0)
        return rc;
    vls_arena_init(&out->arena, job->v->env, ARENA_MAX);
    valise_job_stage(job, "scan", "entries", 0);
    rc = scan(job, dir, err);
    if (rc == 0)
        rc = vls_with_view(job->v, NULL, list_nodes, out, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &out->arena, valise_str_of(outside.options.root), err);
    valise_job_stage(job, "look", "entries", out->items.len);
    if (rc == 0)
        rc = look(out, kept.ptr, job, err);
    if (rc < 0) {
        vls_survey_release(out);
        return rc;
    }
    *root = kept.ptr;
    return 0;
}

static int read_head(void *arg, valise_view *view, valise_error *err)
{
    int rc = vls_tree_head(arg, view, err);

    return vls_settle(rc);
}

int vls_survey_head(vls_tree_row *out, valise_job *job, valise_str dir, valise_error *err)
{
    int rc;

    valise_job_stage(job, "scan", "entries", 0);
    rc = scan(job, dir, err);
    return rc < 0 ? rc : vls_with_view(job->v, NULL, read_head, out, err);
}

vls_spot *vls_survey_find(const vls_survey *survey, valise_str path)
{
    size_t low = 0, high = survey->items.len;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = vls_path_compare(survey->items.ptr[mid].path, path);
        if (order == 0)
            return &survey->items.ptr[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}
