/* scan_kit.c -- see scan_kit.h. */
#include "tree/scan_kit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

const char *bed_path(const scan_bed *b, const char *path)
{
    return test_format("%s/%s", b->root, path);
}

static void make_parents(const scan_bed *b, const char *path)
{
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
        (void)mkdir(test_format("%s/%.*s", b->root, (int)(at - path), path), 0755);
}

/* Long ago, so that nothing is unsure by its mtime. (Nobody can set the ctime: see bed_settle.) */
static void make_old(const char *path)
{
    struct timespec times[2] = {{1600000000, 5}, {1600000000, 5}};

    CHECK(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0);
}

void bed_bytes(scan_bed *b, const char *path, valise_str bytes)
{
    make_parents(b, path);
    test_write_file(bed_path(b, path), bytes);
    make_old(bed_path(b, path));
}

void bed_file(scan_bed *b, const char *path, const char *text)
{
    bed_bytes(b, path, valise_str_of(text));
}

void bed_dir(scan_bed *b, const char *path)
{
    make_parents(b, path);
    CHECK(mkdir(bed_path(b, path), 0755) == 0);
}

void bed_link(scan_bed *b, const char *path, const char *target)
{
    make_parents(b, path);
    CHECK(symlink(target, bed_path(b, path)) == 0);
}

void bed_remove(scan_bed *b, const char *path)
{
    test_remove(bed_path(b, path));
}

void bed_rename(scan_bed *b, const char *from, const char *to)
{
    make_parents(b, to);
    CHECK(rename(bed_path(b, from), bed_path(b, to)) == 0);
}

/* ---- the workspace ---- */

static valise_str str_of(const char *path)
{
    return valise_str_of(path);
}

static int tell_old(void *self, vls_scan_old_fn *fn, void *arg, valise_error *err)
{
    scan_bed *b = self;

    b->old_calls++;
    for (size_t i = 0; i < b->count; i++) {
        int rc = fn(arg, str_of(b->nodes[i].path), &b->nodes[i].node, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static size_t place_of(const scan_bed *b, valise_str path)
{
    size_t low = 0, high = b->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vls_path_compare(str_of(b->nodes[middle].path), path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const bed_node *bed_find(const scan_bed *b, const char *path)
{
    size_t at = place_of(b, str_of(path));

    return at < b->count && strcmp(b->nodes[at].path, path) == 0 ? &b->nodes[at] : NULL;
}

static void drop_under(scan_bed *b, valise_str path, bool itself)
{
    size_t from = place_of(b, path), to;

    if (!itself && from < b->count && vls_str_equal(str_of(b->nodes[from].path), path))
        from++;
    for (to = from; to < b->count && vls_path_is_under(str_of(b->nodes[to].path), path); to++)
        continue;
    memmove(b->nodes + from, b->nodes + to, (b->count - to) * sizeof(*b->nodes));
    b->count -= to - from;
}

static void put(scan_bed *b, valise_str path, const vls_node *node)
{
    size_t at = place_of(b, path);
    vls_node copy = *node;

    if (node->target.ptr) {
        char *target = test_alloc(node->target.len + 1);
        memcpy(target, node->target.ptr, node->target.len);
        copy.target.ptr = target;
    }
    if (at < b->count && vls_str_equal(str_of(b->nodes[at].path), path)) {
        b->nodes[at].node = copy;
        return;
    }
    if (b->count == b->cap) {
        bed_node *more = test_alloc((b->cap * 2 + 64) * sizeof(*more));
        if (b->count > 0)
            memcpy(more, b->nodes, b->count * sizeof(*more));
        b->nodes = more;
        b->cap = b->cap * 2 + 64;
    }
    memmove(b->nodes + at + 1, b->nodes + at, (b->count - at) * sizeof(*b->nodes));
    b->nodes[at] = (bed_node){test_format("%.*s", VALISE_STR_ARG(path)), copy};
    b->count++;
}

/* As rows.h will: a change fits what is there, and says something new. */
static void apply_change(scan_bed *b, vls_tree_change *change)
{
    const bed_node *was = bed_find(b, test_format("%.*s", VALISE_STR_ARG(change->path)));
    vls_node *node = &change->node;

    if (node->kind == VLS_NODE_GONE) {
        CHECK(was != NULL);
        drop_under(b, change->path, true);
        return;
    }
    if (change->path.len > 0) {
        valise_str parent = vls_path_parent(change->path);
        const bed_node *above = bed_find(b, test_format("%.*s", VALISE_STR_ARG(parent)));
        CHECK(above && above->node.kind == VLS_NODE_DIR);
    }
    if (node->kind != VLS_NODE_DIR)
        vls_node_hash(node);
    CHECK(!was || was->node.kind != node->kind || !vls_id_equal(&was->node.object, &node->object));
    if (was && was->node.kind == VLS_NODE_DIR && node->kind != VLS_NODE_DIR)
        drop_under(b, change->path, false);
    put(b, change->path, node);
}

static void apply(scan_bed *b)
{
    static vls_tree_changes_reader reader;
    test *t = b->t;
    vls_tree_change change;
    int rc = 0;

    for (size_t i = 0; i < b->scan.changes.len; i++) {
        vls_tree_changes_open(&reader, b->scan.changes.ptr[i]);
        while ((rc = vls_tree_changes_next(&change, &reader, &t->err)) > 0)
            apply_change(b, &change);
        CHECK_OK(rc);
    }
}

/* ---- what always holds ---- */

static void check_counts(const scan_bed *b, size_t count_before)
{
    const vls_scan *s = &b->scan;
    int64_t files = 0, dirs = -1 /* the root */, links = 0, unreadable = 0, bytes = 0;

    for (size_t i = 0; i < b->count; i++) {
        const vls_node *node = &b->nodes[i].node;
        files += node->kind == VLS_NODE_FILE;
        dirs += node->kind == VLS_NODE_DIR;
        links += node->kind == VLS_NODE_LINK;
        unreadable += node->kind == VLS_NODE_UNREADABLE;
        bytes += node->kind == VLS_NODE_FILE ? node->size : 0;
    }
    CHECK_INT(files, s->counts.files);
    CHECK_INT(dirs, s->counts.dirs);
    CHECK_INT(links, s->counts.links);
    CHECK_INT(unreadable, s->counts.unreadable);
    CHECK_INT(bytes, s->counts.bytes);
    CHECK_INT((int64_t)b->count - VLS_MAX((int64_t)count_before, 1), s->added - s->removed);
    CHECK_INT(s->moved, s->moves.len);
    CHECK((s->changes.len == 0) == vls_id_equal(&s->old_object, &s->object));
    CHECK(s->changes.len > 0 || s->added + s->removed + s->changed + s->moved == 0);
}

/* Every directory's id is that of the list of what is in it. */
static void check_dirs(const scan_bed *b)
{
    vls_hasher hasher;

    for (size_t i = 0; i < b->count; i++) {
        valise_str dir = str_of(b->nodes[i].path);
        size_t count = 0;
        valise_id id;
        if (b->nodes[i].node.kind != VLS_NODE_DIR)
            continue;
        for (int pass = 0; pass < 2; pass++) {
            if (pass == 1)
                vls_dir_hash_begin(&hasher, count);
            for (size_t k = i + 1; k < b->count; k++) {
                valise_str path = str_of(b->nodes[k].path);
                if (!vls_path_is_under(path, dir))
                    break;
                if (!vls_str_equal(vls_path_parent(path), dir))
                    continue;
                if (pass == 0)
                    count++;
                else
                    vls_dir_hash_entry(&hasher, vls_path_name(path), b->nodes[k].node.kind,
                                       &b->nodes[k].node.object);
            }
        }
        vls_dir_hash_end(&id, &hasher);
        CHECK(vls_id_equal(&id, &b->nodes[i].node.object));
        CHECK_INT(count, b->nodes[i].node.size);
    }
}

/* ---- scanning ---- */

struct bed_guard {
    vls_scan scan;
    bool has;
};

static void drop_scan(void *arg)
{
    struct bed_guard *guard = arg;

    if (guard->has)
        vls_tree_scan_release(&guard->scan);
    guard->has = false;
}

void bed_hold(scan_bed *b)
{
    b->guard->scan = b->scan;
    b->guard->has = true;
}

void bed_close(scan_bed *b)
{
    drop_scan(b->guard);
}

void bed_scan_only(scan_bed *b, vls_scan *out)
{
    test *t = b->t;

    CHECK_OK(vls_tree_scan(out, &b->options, &t->err));
}

void bed_scan(scan_bed *b)
{
    test *t = b->t;
    size_t before = b->count;

    bed_close(b);
    CHECK_OK(vls_tree_scan(&b->scan, &b->options, &t->err));
    bed_hold(b);
    apply(b);
    check_counts(b, before);
    if (b->count <= 1000)
        check_dirs(b);
    if (!b->any_ignored && b->options.sub.len + b->options.sub_count == 0) {
        valise_id naive;
        naive_root(&naive, b->root);
        CHECK(vls_id_equal(&naive, &b->scan.object));
    }
    if (!vls_id_equal(&b->scan.old_object, &b->scan.object) || b->options.version == 0)
        b->options.version++;
    b->options.object = b->scan.object;
    if (!b->no_keep)
        CHECK_OK(vls_tree_scan_keep(&b->scan, b->options.version, &t->err));
}

void bed_scan_sub(scan_bed *b, const char *sub)
{
    b->options.sub = valise_str_of(sub);
    bed_scan(b);
    b->options.sub = VLS_STR("");
}

void bed_settle(scan_bed *b)
{
    do {
        (void)nanosleep(&(struct timespec){0, 6000000}, NULL);
        bed_scan(b);
    } while (b->scan.hashed > 0);
}

void bed_open(scan_bed *b, test *t)
{
    bed_open_in(b, t, test_tmpdir());
}

void bed_open_in(scan_bed *b, test *t, const char *dir)
{
    *b = (scan_bed){
        .t = t, .root = test_format("%s/tree", dir), .store = test_format("%s/store", dir)};
    CHECK(mkdir(b->root, 0755) == 0 && mkdir(b->store, 0755) == 0);
    b->cache = test_format("%s/stat", b->store);
    b->options = (vls_scan_options){.env = t->env,
                                    .root = b->root,
                                    .store = b->store,
                                    .cache = b->cache,
                                    .threads = 1,
                                    .old = tell_old,
                                    .old_self = b,
                                    .self = b};
    b->guard = test_alloc(sizeof(*b->guard));
    test_defer(drop_scan, b->guard);
}

/* ---- results ---- */

void bed_check_moves(const scan_bed *b, const char *expected)
{
    const char *text = "";

    for (size_t i = 0; i < b->scan.moves.len; i++)
        text = test_format("%s%s%.*s>%.*s", text, i ? " " : "",
                           VALISE_STR_ARG(b->scan.moves.ptr[i].from),
                           VALISE_STR_ARG(b->scan.moves.ptr[i].to));
    CHECK_TEXT(expected, text);
}

void bed_check_errors(const scan_bed *b, const char *expected)
{
    const char *text = "";

    for (size_t i = 0; i < b->scan.errors.len; i++)
        text =
            test_format("%s%s%.*s", text, i ? " " : "", VALISE_STR_ARG(b->scan.errors.ptr[i].path));
    CHECK_TEXT(expected, text);
}
