/* outside.c -- see outside.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "context/outside.h"

#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/command.h"
#include "context/scan_batch.h"
#include "context/scan_problems.h"
#include "context/slot.h"

#define ARENA_MAX ((size_t)16 << 20)
#define RULES_MAX ((size_t)1 << 20)

/* ---- where it is ---- */

static int find_root(vls_outside *o, valise_str dir, valise_error *err)
{
    const vls_bus_place *place = &o->v->place;
    int rc;

    o->options.root = place->root;
    o->options.store = place->folder;
    if (dir.len > 0) {
        rc = vls_path_text(&o->options.root, &o->arena, dir, err);
        if (rc < 0)
            return rc;
    }
    if (o->options.root)
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "this workspace is only in memory: there is no folder to look at");
    vls_hint(err, "name one with `dir`");
    return VALISE_E_UNSUPPORTED;
}

/* Another folder than the workspace's own has no cache. */
static int find_cache(vls_outside *o, valise_str dir, valise_error *err)
{
    const char *folder = o->v->place.folder;

    if (!folder || dir.len > 0)
        return 0;
    return vls_path_join(&o->options.cache, &o->arena, folder, VLS_TREE_CACHE, err);
}

static int read_rules(vls_outside *o, valise_error *err)
{
    vls_buf rules;
    int rc;

    if (!o->v->place.setting)
        return 0;
    vls_buf_init_in(&rules, &o->arena, RULES_MAX);
    rc = o->v->place.setting(&rules, o->v, VLS_TREE_IGNORE, err);
    return rc < 0 ? rc : vls_buf_keep(&o->options.ignore, &rules, err);
}

/* ---- the tree as it was ---- */

typedef struct old_walk {
    const vls_outside *outside;
    vls_scan_old_fn *fn;
    void *arg;
} old_walk;

static int tell_old(void *self, const vls_tree_found *found, valise_error *err)
{
    const old_walk *w = self;

    return w->fn(w->arg, found->path, &found->node, err);
}

static int walk_old(void *self, valise_view *view, valise_error *err)
{
    old_walk *w = self;
    const vls_tree_row *tree = &w->outside->tree;

    return vls_tree_walk(view, tree, tree->version, VLS_STR(""), tell_old, w, err);
}

static int read_old(void *self, vls_scan_old_fn *fn, void *arg, valise_error *err)
{
    old_walk w = {self, fn, arg};

    return vls_with_view(w.outside->v, NULL, walk_old, &w, err);
}

static int read_head(void *self, valise_view *view, valise_error *err)
{
    vls_outside *o = self;
    vls_context_row context = {.slots = 0};
    int rc = vls_tree_head(&o->tree, view, err);

    o->scanned = rc > 0;
    if (rc > 0)
        rc = vls_context_get(&context, view, &o->tree.id, err);
    o->told = context.slots > 0;
    return rc < 0 ? rc : 0;
}

int vls_outside_refresh(vls_outside *o, valise_error *err)
{
    int rc = vls_with_view(o->v, NULL, read_head, o, err);

    o->options.version = o->tree.version;
    o->options.object = o->tree.object;
    return rc;
}

/* All but the tree as it was. On failure o is to be released as well. */
static int open_folder(vls_outside *o, valise *v, valise_str dir, valise_error *err)
{
    int rc;

    *o = (vls_outside){.v = v, .options = {.env = v->env, .old = read_old}};
    vls_arena_init(&o->arena, v->env, ARENA_MAX);
    rc = find_root(o, dir, err);
    if (rc == 0)
        rc = find_cache(o, dir, err);
    return rc < 0 ? rc : read_rules(o, err);
}

int vls_outside_open(vls_outside *out, valise *v, valise_str dir, valise_error *err)
{
    VLS_AUTO(outside) vls_outside o = {0};
    int rc = open_folder(&o, v, dir, err);

    if (rc == 0)
        rc = vls_outside_refresh(&o, err);
    if (rc < 0)
        return rc;
    *out = o;
    out->options.old_self = out;
    o = (vls_outside){.v = NULL};
    return 0;
}

void vls_outside_release(vls_outside *outside)
{
    if (outside->v)
        vls_arena_release(&outside->arena);
    outside->v = NULL;
}

/* ---- when ---- */

void vls_outside_scanned(const vls_outside *outside)
{
    if (outside->options.cache)
        (void)utimensat(AT_FDCWD, outside->options.cache, NULL, AT_SYMLINK_NOFOLLOW);
}

int vls_outside_when(int64_t *time_ns, const valise *v)
{
    char path[PATH_MAX];
    struct stat st;
    int len;

    if (!v->place.folder)
        return 0;
    len = snprintf(path, sizeof(path), "%s/%s", v->place.folder, VLS_TREE_CACHE);
    if (len < 0 || (size_t)len >= sizeof(path) || lstat(path, &st) < 0)
        return 0;
    *time_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return *time_ns != 0;
}

/* ---- one path ---- */

typedef struct asking {
    const vls_outside *outside;
    valise_str path;
    bool there;
    vls_tree_found found;
} asking;

static int read_node(void *self, valise_view *view, valise_error *err)
{
    asking *a = self;
    const vls_tree_row *tree = &a->outside->tree;
    int rc = vls_tree_get(&a->found, view, tree, tree->version, a->path, err);

    a->there = rc > 0;
    return rc < 0 ? rc : 0;
}

static int lstat_below(struct stat *out, const char *root, valise_str path)
{
    char name[PATH_MAX];
    int len = snprintf(name, sizeof(name), "%s/%.*s", root, VALISE_STR_ARG(path));

    errno = ENAMETOOLONG;
    return len < 0 || (size_t)len >= sizeof(name) ? -1 : lstat(name, out);
}

/* The stat cache may lag behind the tree (somebody watches, and writes it later), or behind a file
 * that was only touched. What is too large, or cannot be read, is as the stat says. */
static int read_instead(int *stat, const vls_outside *o, valise_str path, const vls_node *was,
                        valise_error *err)
{
    int answer = VLS_STAT_UNKNOWN;
    int rc = vls_tree_read(&answer, &o->options, path, was, err);

    if (rc == 0 && answer != VLS_STAT_UNKNOWN)
        *stat = answer;
    return rc;
}

/* What lies there, by its stat, against what the tree has. is_dir: that is a directory. read: and
 * by its bytes, where the stat alone does not say that it is the same. */
static int compare(int *out, bool *is_dir, const vls_outside *o, valise_str path, bool read,
                   valise_error *err)
{
    asking a = {.outside = o, .path = path};
    int stat = VLS_STAT_UNKNOWN, rc;

    *out = VLS_OUTSIDE_UNKNOWN;
    *is_dir = false;
    if (!o->scanned)
        return 0;
    rc = vls_with_view(o->v, NULL, read_node, &a, err);
    if (rc == 0)
        rc = vls_tree_stat(&stat, &o->options, path, a.there ? &a.found.node : NULL, err);
    if (rc == 0 && read && stat != VLS_STAT_SAME && a.there && a.found.node.kind == VLS_NODE_FILE)
        rc = read_instead(&stat, o, path, &a.found.node, err);
    if (rc < 0 || stat == VLS_STAT_UNKNOWN)
        return rc;
    *out = a.there ? VLS_OUTSIDE_SAME : VLS_OUTSIDE_NOTHING;
    if (stat == VLS_STAT_DIFFERS)
        *out = VLS_OUTSIDE_OUTDATED;
    *is_dir = a.there && a.found.node.kind == VLS_NODE_DIR;
    return 0;
}

int vls_outside_state(int *out, valise *v, valise_str path, valise_error *err)
{
    VLS_AUTO(outside) vls_outside o = {0};
    bool is_dir;
    int rc;

    *out = VLS_OUTSIDE_UNKNOWN;
    if (!v->place.root)
        return 0;
    rc = vls_outside_open(&o, v, VLS_STR(""), err);
    return rc < 0 ? rc : compare(out, &is_dir, &o, path, true, err);
}

/* ---- all of it ---- */

typedef struct sifting {
    const vls_outside *outside;
    vls_scan *scan;
} sifting;

static int stop(void *arg, const vls_slot_row *slot, valise_error *err)
{
    (void)arg;
    (void)slot;
    (void)err;
    return 1;
}

/* What is minor is told of paths that have slots. */
static int sift(void *arg, valise_view *view, valise_error *err)
{
    const sifting *s = arg;
    vls_scan *scan = s->scan;
    size_t kept = 0;

    for (size_t i = 0; i < scan->ambiguous.len; i++) {
        vls_scan_problem problem = scan->ambiguous.ptr[i];
        int rc = problem.minor ? 0 : 1;
        if (rc == 0 && s->outside->told)
            rc = vls_slot_each(view, &s->outside->tree.id, problem.path, stop, NULL, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            scan->ambiguous.ptr[kept++] = problem;
    }
    scan->ambiguous.len = kept;
    return 0;
}

static int scan_sifted(vls_scan *out, const vls_outside *o, const vls_scan_options *options,
                       valise_error *err)
{
    sifting s = {o, out};
    int rc = vls_tree_scan(out, options, err);

    if (rc < 0 || out->ambiguous.len == 0)
        return rc;
    rc = vls_with_view(o->v, NULL, sift, &s, err);
    if (rc < 0)
        vls_tree_scan_release(out);
    return rc;
}

int vls_outside_scan(vls_scan *out, const vls_outside *o, const vls_scan_options *options,
                     valise_error *err)
{
    vls_scan_options whole = *options;
    int rc = scan_sifted(out, o, options, err);

    if (rc < 0 || !o->told || options->sub.len == 0 || out->added + out->removed + out->moved == 0)
        return rc;
    vls_tree_scan_release(out);
    whole.sub = VLS_STR("");
    return scan_sifted(out, o, &whole, err);
}

/* ---- what is left out ---- */

/* Links are not followed: nothing lies below one. */
static int explain_link(const vls_outside *o, valise_str path, valise_error *err)
{
    struct stat st;

    for (size_t i = 1; i < path.len; i++) {
        valise_str above = vls_str_head(path, i);
        if (path.ptr[i] != '/' || lstat_below(&st, o->options.root, above) < 0 ||
            !S_ISLNK(st.st_mode))
            continue;
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%s' is a link, and nothing lies below it",
                       vls_text_short(above).s);
        vls_hint(err, "give the path of the file itself: links are not followed");
        return VALISE_E_NOT_FOUND;
    }
    return 0;
}

static int explain(const vls_outside *o, valise_str path, valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    vls_ignore_verdict verdict = {0};
    vls_text_brief name = vls_text_short(path);
    struct stat st;
    int rc;

    if (path.len == 0 || lstat_below(&st, o->options.root, path) < 0)
        return 0;
    rc = explain_link(o, path, err);
    if (rc < 0)
        return rc;
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%s' is not a file, directory or link", name.s);
        vls_hint(err, "sockets, pipes and devices are not part of the tree");
        return VALISE_E_NOT_FOUND;
    }
    rc = vls_tree_check_ignore(&verdict, &keep, &o->options, path, false, NULL);
    if (rc < 0 || !verdict.ignored) /* a rule file that cannot be read explains nothing */
        return rc == VALISE_E_NO_MEMORY ? vls_fail_memory(err) : 0;
    if (verdict.line == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%s' is ignored, as all of .git and .valise is",
                       name.s);
        vls_hint(err, ".git and .valise are never part of the tree");
        return VALISE_E_NOT_FOUND;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND,
                   "'%s' is ignored: a rule of %s leaves it out of the tree", name.s,
                   vls_text_short(verdict.source).s);
    vls_hint(err, "'valise check-ignore' shows the rule");
    return VALISE_E_NOT_FOUND;
}

int vls_outside_check(const vls_outside *o, valise_str path, valise_error *err)
{
    asking a = {.outside = o, .path = path};
    struct stat st;
    int rc = o->scanned ? vls_with_view(o->v, NULL, read_node, &a, err) : 0;

    if (rc < 0 || a.there)
        return rc;
    if (lstat_below(&st, o->options.root, path) == 0)
        return explain(o, path, err);
    if (errno != ENOENT && errno != ENOTDIR)
        return 0;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is nothing at '%s'", vls_text_short(path).s);
    vls_hint(err, "neither the folder nor the last scan has it");
    return VALISE_E_NOT_FOUND;
}

int vls_outside_explain(valise *v, valise_str path, valise_error *err)
{
    VLS_AUTO(outside) vls_outside o = {0};
    int rc;

    if (!v->place.root)
        return 0;
    rc = open_folder(&o, v, VLS_STR(""), err);
    return rc < 0 ? rc : explain(&o, path, err);
}

/* ---- in front of a command ---- */

static int add_all(valise_prepare *prepare, const vls_scan *scan, int64_t base, valise_error *err)
{
    vls_scan_batch batch = {.arena = vls_prepare_arena(prepare)};
    int rc = vls_scan_batch_fill(&batch, scan, base, NULL, err);

    for (size_t i = 0; rc == 0 && i < batch.items.len; i++)
        rc = valise_prepare_add(prepare, batch.items.ptr[i].op, batch.items.ptr[i].args, err);
    return rc;
}

static bool may(valise_prepare *prepare, valise_view *view, const char *capability)
{
    const vls_bus_access *access = &valise_prepare_workspace(prepare)->access;

    return access->allows(access->self, view, valise_prepare_actor(prepare), capability, NULL,
                          NULL) >= 0;
}

static int may_know(void *arg, valise_view *view, valise_error *err)
{
    (void)err;
    return may(arg, view, "tree:read");
}

/* The commands of a batch cannot each have a version of the tree in front of them, since none of
 * them knows the others'. So what is seen there is recorded by itself: it is as true when the batch
 * fails. Only for those who may do that anyway, and not where the batch is only tried: there the
 * first one that finds something looks at all of the tree, for the others. */
static int may_record(void *arg, valise_view *view, valise_error *err)
{
    (void)err;
    return may(arg, view, "tree:write");
}

static int record_now(valise_prepare *prepare, const vls_scan *scan, int64_t base,
                      valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_scan_batch batch = {.arena = &arena};
    valise *v = valise_prepare_workspace(prepare);
    valise_call call = VALISE_CALL_INIT;
    int rc;

    vls_arena_init(&arena, v->env, VLS_VIEW_MAX_BYTES);
    call.actor = valise_prepare_actor(prepare);
    rc = vls_scan_batch_fill(&batch, scan, base, NULL, err);
    return rc < 0 ? rc : vls_run_many(v, batch.items.ptr, batch.items.len, &call, err);
}

enum { IN_FRONT, BY_ITSELF, FOR_ALL };

static int choose_how(int *out, valise_prepare *prepare, valise_error *err)
{
    int rc = 0;

    *out = IN_FRONT;
    if (!vls_prepare_is_shared(prepare))
        return 0;
    if (!vls_prepare_is_dry_run(prepare))
        rc = vls_with_view(valise_prepare_workspace(prepare), NULL, may_record, prepare, err);
    *out = rc > 0 ? BY_ITSELF : FOR_ALL;
    return vls_settle(rc);
}

/* What may have moved and was left where it was: the caller is told, who may know of the tree. */
static int leave(valise_prepare *prepare, const vls_scan *scan, valise_error *err)
{
    vls_arena *arena = vls_prepare_arena(prepare);
    vls_scan_seen *seen;
    int rc;

    if (scan->ambiguous.len == 0)
        return 0;
    rc = vls_with_view(valise_prepare_workspace(prepare), NULL, may_know, prepare, err);
    if (rc <= 0)
        return rc;
    seen = vls_arena_zalloc(arena, sizeof(*seen));
    if (!seen)
        return vls_arena_fail(arena, err);
    seen->ambiguous_count = (int64_t)scan->ambiguous.len;
    rc = vls_scan_problems(&seen->ambiguous, arena, scan->ambiguous.ptr, scan->ambiguous.len, err);
    if (rc == 0)
        vls_prepare_leave(prepare, seen);
    return rc;
}

/* Compare the path and what is under it with the newest version, and record what is different. */
static int look(valise_prepare *prepare, vls_outside *o, int how, bool hopeful, valise_error *err)
{
    VLS_AUTO(tree_scan) vls_scan scan = {0};
    int64_t base = o->tree.version;
    int rc = vls_outside_scan(&scan, o, &o->options, err);

    if (rc == 0)
        rc = leave(prepare, &scan, err);
    if (rc == 0 && scan.changes.len > 0)
        rc = how == BY_ITSELF ? record_now(prepare, &scan, base, err)
                              : add_all(prepare, &scan, base, err);
    /* Where the command fails, the cache is of a version that never was: the next one to look reads
     * the tree from its rows, and the stats from here. */
    if (rc == 0 && (hopeful || scan.changes.len == 0))
        (void)vls_tree_scan_keep(&scan, base + (scan.changes.len > 0), NULL);
    if (rc == 0 && hopeful && scan.whole)
        vls_outside_scanned(o);
    return rc;
}

static int look_at(valise_prepare *prepare, vls_outside *o, valise_str path, bool hopeful,
                   valise_error *err)
{
    vls_patience patience;
    int how, rc = choose_how(&how, prepare, err);

    if (rc < 0 || (how == FOR_ALL && !vls_prepare_is_first(prepare)))
        return rc;
    if (how != FOR_ALL)
        o->options.sub = path;
    hopeful = hopeful && !vls_prepare_is_dry_run(prepare);
    vls_patience_init(&patience, o->v);
    rc = look(prepare, o, how, hopeful, err);
    while (rc == VALISE_E_CONFLICT) {
        if (!vls_patience_again(&patience, o->tree.version))
            return vls_patience_fail(&patience, rc, "the tree", err);
        rc = vls_outside_refresh(o, err);
        if (rc == 0)
            rc = look(prepare, o, how, hopeful, err);
    }
    return rc;
}

int vls_outside_look(valise_prepare *prepare, valise_str path, bool hopeful, valise_error *err)
{
    valise *v = valise_prepare_workspace(prepare);
    VLS_AUTO(outside) vls_outside o = {0};
    int state = VLS_OUTSIDE_UNKNOWN, rc;
    bool is_dir = false;

    if (!v->place.root)
        return 0;
    rc = vls_outside_open(&o, v, VLS_STR(""), err);
    if (rc == 0)
        rc = compare(&state, &is_dir, &o, path, false, err);
    /* A directory's own stat says nothing about what is under it. */
    if (rc < 0 || (state == VLS_OUTSIDE_SAME && !is_dir))
        return rc;
    if (state != VLS_OUTSIDE_SAME)
        rc = vls_with_view(v, NULL, may_know, prepare, err);
    if (rc > 0)
        rc = explain(&o, path, err);
    if (rc < 0 || state == VLS_OUTSIDE_NOTHING)
        return rc;
    return look_at(prepare, &o, path, hopeful, err);
}
