/* plan.c -- what a restore has to do. See restore.h.
 *
 * The manifest and the survey are both in the order of paths, so one walk over the two finds each
 * path that either has. What holds for all below a path is remembered as a prefix. */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/text.h"
#include "checkpoint/restore.h"

#define ARENA_MAX ((size_t)8 << 30)
#define NO_PATH ((valise_str){NULL, 0})

typedef struct comparing {
    vls_restore_plan *plan;
    valise_job *job;
    const vls_restore_plan_options *options;
    vls_survey *survey;
    vls_reach *reach;
    valise_str way;    /* something that must not be touched is in the place of this directory */
    valise_str doomed; /* this directory must make room, with all in it */
    valise_str safe;   /* the checkpoint lacks this: all of it stays */
    valise_str later;  /* this cannot be read yet */
} comparing;

void vls_restore_plan_release(vls_restore_plan *plan)
{
    if (!plan->env)
        return;
    vls_kept_rules_release(&plan->rules);
    vls_arena_release(&plan->arena);
    *plan = (vls_restore_plan){.env = NULL};
}

static bool is_under(valise_str path, valise_str prefix)
{
    return prefix.ptr && vls_path_is_under(path, prefix);
}

/* ---- which paths ---- */

/* Of those that were given, the first that is not before this one: what is under it follows. */
static size_t first_given(const vls_restore_plan_options *o, valise_str path)
{
    size_t low = 0, high = o->path_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vls_path_compare(o->paths[middle], path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* It was given, or what it lies in. */
static bool is_chosen(const vls_restore_plan_options *o, valise_str path)
{
    if (o->path_count == 0)
        return true;
    for (;;) {
        size_t at = first_given(o, path);
        if (at < o->path_count && vls_str_equal(o->paths[at], path))
            return true;
        if (path.len == 0)
            return false;
        path = vls_path_parent(path);
    }
}

/* A directory above one that was chosen has to be there. */
static bool is_above(const vls_restore_plan_options *o, valise_str path)
{
    size_t at = first_given(o, path);

    return at < o->path_count && vls_path_is_under(o->paths[at], path);
}

/* ---- what is found ---- */

static int add_step(comparing *c, int change, const vls_manifest_entry *want, vls_spot *have,
                    valise_error *err)
{
    vls_restore_plan *p = c->plan;

    if (!vls_vec_push_in(&p->steps, &p->arena, (vls_step){change, want, have}))
        return vls_arena_fail(&p->arena, err);
    p->changed += change != VLS_RESTORE_CREATE;
    if (want && want->kind == VLS_MANIFEST_FILE && change != VLS_RESTORE_MODE)
        p->bytes = p->bytes > INT64_MAX - want->size ? INT64_MAX : p->bytes + want->size;
    if (have && have->lack != VLS_LACK_NONE && change != VLS_RESTORE_MODE &&
        !vls_vec_push_in(
            &p->unsaved, &p->arena,
            (vls_checkpoint_problem){have->path, valise_str_of(vls_lack_text(have->lack))}))
        return vls_arena_fail(&p->arena, err);
    return 0;
}

static int add_in_the_way(comparing *c, valise_str path, const char *why, valise_error *err)
{
    vls_restore_plan *p = c->plan;

    return vls_vec_push_in(&p->in_the_way, &p->arena,
                           (vls_checkpoint_problem){path, valise_str_of(why)})
               ? 0
               : vls_arena_fail(&p->arena, err);
}

static int add_lacking(comparing *c, const vls_manifest_entry *e, valise_error *err)
{
    vls_restore_plan *p = c->plan;

    c->safe = e->path;
    return vls_vec_push_in(&p->lacking, &p->arena,
                           (vls_checkpoint_problem){e->path, valise_str_of(vls_lack_text(e->lack))})
               ? 0
               : vls_arena_fail(&p->arena, err);
}

/* Whether a directory holds anything that is not in the tree: 1, 0. */
static int holds_others(comparing *c, valise_str dir, valise_error *err);

/* ---- one path ---- */

static int only_wanted(comparing *c, const vls_manifest_entry *e, valise_error *err)
{
    struct stat st;
    int rc;

    if (e->kind == VLS_MANIFEST_GONE || is_under(e->path, c->later) ||
        (!is_chosen(c->options, e->path) &&
         !(e->kind == VLS_MANIFEST_DIR && is_above(c->options, e->path))))
        return 0;
    if (is_under(e->path, c->way))
        return add_in_the_way(c, e->path, "what lies above it is in the way", err);
    if (e->kind == VLS_MANIFEST_LACKING || e->lack != VLS_LACK_NONE)
        return add_lacking(c, e, err);
    rc = vls_reach_stat(&st, c->reach, e->path, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return add_step(c, VLS_RESTORE_CREATE, e, NULL, err);
    if (e->kind == VLS_MANIFEST_DIR && S_ISDIR(st.st_mode)) {
        c->plan->unchanged++; /* all in it is left out by rules: it is not ours to change */
        return 0;
    }
    c->way = e->path;
    return add_in_the_way(c, e->path,
                          S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)
                              ? "a rule leaves what lies there out of the tree"
                              : "a socket, pipe or device lies there",
                          err);
}

/* Is it for the checkpoint to say that this goes? Where its rules ignore it, that it is not in it
 * says nothing. */
static int is_to_go(const comparing *c, const vls_spot *have, valise_error *err)
{
    int rc;

    if (!c->options->remove || c->plan->partial || is_under(have->path, c->safe) ||
        is_under(have->path, c->way))
        return 0;
    rc = vls_kept_rules_ignore(&c->plan->rules, have->path, have->node.kind == VLS_NODE_DIR, err);
    return rc < 0 ? rc : rc == 0;
}

static int only_there(comparing *c, vls_spot *have, valise_error *err)
{
    int rc;

    if (have->path.len == 0)
        return 0;
    if (have->lack == VLS_LACK_NAME) {
        c->plan->kept++;
        return 0;
    }
    if (is_under(have->path, c->doomed))
        return add_step(c, VLS_RESTORE_DELETE, NULL, have, err);
    if (!is_chosen(c->options, have->path))
        return 0;
    rc = is_to_go(c, have, err);
    if (rc > 0)
        return add_step(c, VLS_RESTORE_DELETE, NULL, have, err);
    c->plan->kept += rc == 0;
    return rc;
}

static vls_manifest_kind kind_of(const vls_spot *have)
{
    switch (have->node.kind) {
    case VLS_NODE_FILE:
        return VLS_MANIFEST_FILE;
    case VLS_NODE_DIR:
        return VLS_MANIFEST_DIR;
    case VLS_NODE_LINK:
        return VLS_MANIFEST_LINK;
    default:
        return VLS_MANIFEST_LACKING;
    }
}

static bool is_same(const vls_manifest_entry *e, const vls_spot *have)
{
    switch (e->kind) {
    case VLS_MANIFEST_FILE:
        return vls_id_equal(&e->content, &have->node.content);
    case VLS_MANIFEST_LINK:
        return vls_str_equal(e->target, have->node.target);
    default:
        return true;
    }
}

/* Nobody may read it: then it gets its mode first, and is compared again. Else, what cannot be
 * read cannot be saved. */
static int unreadable(comparing *c, const vls_manifest_entry *e, vls_spot *have, valise_error *err)
{
    struct stat st;
    int rc = vls_reach_stat(&st, c->reach, e->path, err);
    bool dir = rc > 0 && S_ISDIR(st.st_mode), file = rc > 0 && S_ISREG(st.st_mode);
    uint32_t needed = dir ? 0500 : 0400;

    if (rc < 0)
        return rc;
    if (((dir && e->kind == VLS_MANIFEST_DIR) || (file && e->kind == VLS_MANIFEST_FILE)) &&
        (have->mode & needed) != needed && (e->mode & needed) == needed) {
        c->plan->again = true;
        c->later = e->path;
        return add_step(c, VLS_RESTORE_MODE, e, have, err);
    }
    if (!dir && e->kind != VLS_MANIFEST_DIR)
        return add_step(c, VLS_RESTORE_REPLACE, e, have, err);
    c->way = e->path;
    return add_in_the_way(c, e->path, "what lies there cannot be read", err);
}

/* Another kind of thing lies there, and one of the two is a directory. */
static int change_kind(comparing *c, const vls_manifest_entry *e, vls_spot *have, valise_error *err)
{
    int rc = have->node.kind == VLS_NODE_DIR ? holds_others(c, have->path, err) : 0;

    if (rc < 0)
        return rc;
    if (rc > 0) {
        c->safe = have->path;
        return add_in_the_way(c, e->path, "a directory that holds what is not in the tree", err);
    }
    if (have->node.kind == VLS_NODE_DIR)
        c->doomed = have->path;
    rc = add_step(c, VLS_RESTORE_DELETE, NULL, have, err);
    return rc < 0 ? rc : add_step(c, VLS_RESTORE_CREATE, e, NULL, err);
}

static int gone(comparing *c, vls_spot *have, valise_error *err)
{
    if (!c->options->remove && !is_under(have->path, c->doomed)) {
        c->plan->kept++;
        return 0;
    }
    return add_step(c, VLS_RESTORE_DELETE, NULL, have, err);
}

static int both(comparing *c, const vls_manifest_entry *e, vls_spot *have, valise_error *err)
{
    bool chosen = is_chosen(c->options, e->path);
    vls_manifest_kind kind = kind_of(have);

    if (!chosen && !(e->kind == VLS_MANIFEST_DIR && is_above(c->options, e->path)))
        return 0;
    if (e->kind == VLS_MANIFEST_GONE)
        return gone(c, have, err);
    if (e->kind == VLS_MANIFEST_LACKING ||
        (e->lack != VLS_LACK_NONE && (kind != e->kind || !is_same(e, have))))
        return add_lacking(c, e, err);
    if (kind == VLS_MANIFEST_LACKING)
        return unreadable(c, e, have, err);
    if (kind != e->kind && (kind == VLS_MANIFEST_DIR || e->kind == VLS_MANIFEST_DIR))
        return change_kind(c, e, have, err);
    if (kind != e->kind || !is_same(e, have))
        return add_step(c, VLS_RESTORE_REPLACE, e, have, err);
    if (chosen && e->kind != VLS_MANIFEST_LINK && e->mode != have->mode)
        return add_step(c, VLS_RESTORE_MODE, e, have, err);
    c->plan->unchanged += chosen;
    return 0;
}

/* ---- directories on the disk ---- */

typedef struct others {
    vls_vec(valise_str) todo;
    vls_buf path;
} others;

/* One entry: 1 when it is not in the tree. */
static int look_at(comparing *c, others *o, valise_str dir, const char *name, valise_error *err)
{
    const vls_spot *seen;
    valise_str path;
    int rc;

    vls_buf_clear(&o->path);
    vls_path_below(&o->path, dir, valise_str_of(name));
    rc = vls_buf_check(&o->path, NULL);
    if (rc < 0)
        return 1; /* longer than any path of the tree */
    seen = vls_survey_find(c->survey, vls_buf_str(&o->path));
    if (!seen || seen->node.kind == VLS_NODE_UNREADABLE || seen->lack == VLS_LACK_NAME)
        return 1;
    if (seen->node.kind != VLS_NODE_DIR)
        return 0;
    rc = vls_arena_dup(&path, &c->plan->arena, vls_buf_str(&o->path), err);
    if (rc == 0 && !vls_vec_push_in(&o->todo, &c->plan->arena, path))
        rc = vls_arena_fail(&c->plan->arena, err);
    return rc;
}

static int look_in(comparing *c, others *o, valise_str dir, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    struct dirent *entry;
    DIR *folder;
    int parent, fd, rc = vls_reach_parent(&parent, name, c->reach, dir, err);

    if (rc <= 0)
        return rc < 0 ? rc : 1;
    fd = vls_fd_open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        (void)vls_fd_close(fd);
        return 1;
    }
    rc = 0;
    while (rc == 0 && (entry = vls_fd_next_entry(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = look_at(c, o, dir, entry->d_name, err);
    (void)closedir(folder);
    return rc;
}

static int holds_others(comparing *c, valise_str dir, valise_error *err)
{
    others o = {.todo = VLS_VEC_INIT};
    int rc = 0;

    vls_buf_init(&o.path, c->plan->env, VLS_PATH_MAX);
    if (!vls_vec_push_in(&o.todo, &c->plan->arena, dir))
        rc = vls_arena_fail(&c->plan->arena, err);
    while (rc == 0 && o.todo.len > 0)
        rc = look_in(c, &o, o.todo.ptr[--o.todo.len], err);
    vls_buf_release(&o.path);
    return rc;
}

/* ---- all of it ---- */

static int read_entries(vls_restore_plan *p, valise_str bytes, valise_error *err)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    vls_manifest_entry e;
    int rc = vls_manifest_open(&reader, p->env, bytes, err);

    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, err)) > 0)
        rc = vls_vec_push_in(&p->entries, &p->arena, e) ? 0 : vls_arena_fail(&p->arena, err);
    p->partial = reader.partial;
    return rc;
}

/* Both are in order, and what is under a path follows it. */
static int check_paths(const vls_restore_plan *p, const vls_restore_plan_options *o,
                       valise_error *err)
{
    size_t j = 0;

    for (size_t i = 0; i < o->path_count; i++) {
        while (j < p->entries.len && vls_path_compare(p->entries.ptr[j].path, o->paths[i]) < 0)
            j++;
        if (o->paths[i].len == 0 ||
            (j < p->entries.len && vls_path_is_under(p->entries.ptr[j].path, o->paths[i])))
            continue;
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "the checkpoint has no '%s'",
                       vls_text_short(o->paths[i]).s);
        vls_hint(err, "'valise checkpoint show' lists what it contains");
        return VALISE_E_NOT_FOUND;
    }
    return 0;
}

/* Contents that were erased since; and the rules, where something may go. */
static int ask_contents(void *arg, valise_view *view, valise_error *err)
{
    const comparing *c = arg;
    vls_restore_plan *p = c->plan;
    vls_tree_content_row row;

    for (size_t i = 0; i < p->entries.len; i++) {
        vls_manifest_entry *e = &p->entries.ptr[i];
        int rc;
        if (e->kind != VLS_MANIFEST_FILE)
            continue;
        rc = vls_tree_content_get(&row, view, &e->content, err);
        if (rc < 0)
            return rc;
        if (rc == 1 && row.size != e->size)
            return vls_fail(err, VALISE_E_CORRUPT, "a checkpoint is damaged: the size of '%s'",
                            vls_text_short(e->path).s);
        e->lack = rc == 1 ? VLS_LACK_NONE : VLS_LACK_ERASED;
    }
    return c->options->remove ? vls_kept_rules_read(&p->rules, view, p->entries.ptr, p->entries.len,
                                                    &p->arena, err)
                              : 0;
}

static int compare(comparing *c, valise_error *err)
{
    vls_restore_plan *p = c->plan;
    size_t i = 0, j = 0;
    int rc = 0;

    while (rc == 0 && (i < p->entries.len || j < c->survey->items.len)) {
        const vls_manifest_entry *e = i < p->entries.len ? &p->entries.ptr[i] : NULL;
        vls_spot *have = j < c->survey->items.len ? &c->survey->items.ptr[j] : NULL;
        int order = !e ? 1 : !have ? -1 : vls_path_compare(e->path, have->path);
        if (e && order < 0)
            rc = only_wanted(c, e, err);
        else if (have && order > 0)
            rc = only_there(c, have, err);
        else if (e && have)
            rc = both(c, e, have, err);
        i += order <= 0;
        j += order >= 0;
        if (rc == 0)
            rc = valise_job_step(c->job, 1, err);
    }
    return rc;
}

int vls_restore_plan_make(vls_restore_plan *out, valise_job *job,
                          const vls_restore_plan_options *options, vls_survey *survey,
                          vls_reach *reach, valise_error *err)
{
    comparing c = {.plan = out,
                   .job = job,
                   .options = options,
                   .survey = survey,
                   .reach = reach,
                   .way = NO_PATH,
                   .doomed = NO_PATH,
                   .safe = NO_PATH,
                   .later = NO_PATH};
    int rc;

    vls_restore_plan_release(out);
    *out = (vls_restore_plan){.env = job->v->env};
    vls_arena_init(&out->arena, out->env, ARENA_MAX);
    valise_job_stage(job, "compare", "entries", 0);
    rc = read_entries(out, options->manifest, err);
    if (rc == 0)
        rc = check_paths(out, options, err);
    if (rc == 0)
        rc = vls_with_view(job->v, NULL, ask_contents, &c, err);
    return rc < 0 ? rc : compare(&c, err);
}

/* ---- saving ---- */

static int refuse(const vls_checkpoint_problem *first, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%s' would be overwritten and cannot be saved: %.*s",
                   vls_text_short(first->path).s, VALISE_STR_ARG(first->reason));
    vls_hint(err, "move it away, name the paths to restore, or give --force to overwrite it");
    return VALISE_E_CONFLICT;
}

/* It cannot be saved after all: 0 where that is fine. */
static int give_up(vls_spot *have, int lack, bool force, valise_error *err)
{
    const vls_checkpoint_problem problem = {have->path, valise_str_of(vls_lack_text(lack))};

    have->lack = lack;
    return force ? 0 : refuse(&problem, err);
}

/* 1: it is not what it was. */
static int save_one(const vls_step *s, vls_hoard *hoard, bool force, valise_error *err)
{
    vls_spot *have = s->have;
    int rc;

    if (!have || have->node.kind != VLS_NODE_FILE || have->lack != VLS_LACK_NONE)
        return 0;
    if (have->known) { /* what takes its bytes away does not believe a row */
        rc = s->change == VLS_RESTORE_MODE ? 1 : vls_hoard_has(hoard, have, err);
        return rc != 0 ? vls_settle(rc) : give_up(have, VLS_LACK_DAMAGED, force, err);
    }
    rc = vls_hoard_file(hoard, have, err);
    if (rc == 2)
        return give_up(have, VLS_LACK_UNREADABLE, force, err);
    have->known = rc == 0;
    return rc;
}

static int save_contents(const vls_restore_plan *p, vls_hoard *hoard, bool force, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < p->steps.len; i++)
        rc = save_one(&p->steps.ptr[i], hoard, force, err);
    return rc != 0 ? rc : vls_hoard_flush(hoard, err);
}

int vls_restore_plan_save(vls_checkpoint_made *made, vls_memory *memory, const vls_restore_plan *p,
                          vls_survey *survey, vls_hoard *hoard, bool force, valise_error *err)
{
    VLS_AUTO(keeping)
    vls_keeping k = {.prefix = VLS_STR("before-restore-"), .partial = true, .tree = &survey->tree};
    const valise_str *last = NULL;
    int rc;

    if (p->changed == 0)
        return 2;
    if (p->unsaved.len > 0 && !force)
        return refuse(&p->unsaved.ptr[0], err);
    rc = save_contents(p, hoard, force, err);
    if (rc != 0)
        return rc;
    vls_buf_init(&k.manifest, p->env, VLS_MANIFEST_MAX);
    vls_manifest_begin(&k.manifest, true);
    for (size_t i = 0; i < p->steps.len; i++) {
        const vls_step *s = &p->steps.ptr[i];
        vls_manifest_entry e = {.kind = VLS_MANIFEST_GONE};
        if (s->have)
            e = vls_spot_entry(s->have);
        else
            e.path = s->want->path;
        if (last && vls_str_equal(*last, e.path))
            continue; /* it makes room for another kind of thing */
        vls_keeping_add(&k, &e);
        last = s->have ? &s->have->path : &s->want->path;
    }
    rc = vls_keep_manifest(made, memory, hoard->job, &k, err);
    return rc == VALISE_E_CONFLICT ? 1 : rc;
}
