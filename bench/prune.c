/* prune.c -- a prune costs what goes, whatever stays: in trees of 1,000 to 100,000 files. [C30]
 * [Q15]
 *
 * The trees are rows without files: ten directories in each, and 100 files in those at the end. One
 * file in ten has something said about it. An operation is what makes something old and the prune
 * that takes it: an edit and its version; a file that comes, is spoken of and goes, and its slot.
 */
#define VLS_ALLOW_MALLOC
#include "bench/bench.h"
#include "bench/raw.h"

#include "base/hex.h"
#include "bus/bus.h"
#include "context/ops_tree.h"
#include "tree/changes.h"

#include <valise/workspace.h>

#define FANOUT 10u
#define FILES 100u

typedef struct wood {
    char dir[256];
    valise *v;
    unsigned depth;  /* levels of directories */
    int64_t version; /* of the tree */
    uint64_t next;   /* id that nothing has had */
} wood;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static void run(wood *w, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    must(valise_dispatch(&reply, w->v, type, payload, NULL, &err), &err);
    valise_reply_release(&reply);
}

/* ---- versions ---- */

static valise_id new_id(wood *w)
{
    valise_id id = {{0}};

    w->next++;
    memcpy(id.bytes, &w->next, sizeof(w->next));
    id.bytes[31] = 1;
    return id;
}

static void add(wood *w, vls_tree_changes_writer *writer, const char *path, vls_node_kind kind,
                const valise_id *object)
{
    vls_tree_change change = {valise_str_of(path), {.kind = kind, .size = 1}};

    if (kind == VLS_NODE_DIR)
        change.node.object = object ? *object : new_id(w);
    if (kind == VLS_NODE_FILE)
        change.node.content = new_id(w);
    vls_tree_changes_add(writer, &change);
}

/* Record a list that begins with the root, and make it a version. */
static void commit(wood *w, const vls_buf *list, const valise_id *root)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_tree_record_args record = {.base = w->version, .changes = {.bytes = vls_buf_str(list)}};
    vls_tree_commit_args args = {.base = w->version, .object = *root};
    const vls_run_item items[] = {{&vls_op_context_tree_record, &record, NULL},
                                  {&vls_op_context_tree_commit, &args, NULL}};

    must(vls_buf_check(list, &err), &err);
    must(vls_run_many(w->v, items, VLS_COUNT(items), NULL, &err), &err);
    w->version++;
}

static void add_below(wood *w, vls_tree_changes_writer *writer, char path[64], unsigned depth)
{
    size_t len = strlen(path);

    for (unsigned i = 0; i < (depth > 0 ? FANOUT : FILES); i++) {
        (void)snprintf(path + len, 64 - len, "%s%s%02u", len > 0 ? "/" : "", depth > 0 ? "d" : "f",
                       i);
        add(w, writer, path, depth > 0 ? VLS_NODE_DIR : VLS_NODE_FILE, NULL);
        if (depth > 0)
            add_below(w, writer, path, depth - 1); /* at most three levels */
    }
    path[len] = '\0';
}

/* The first file of all, or one more beside it: with the directories it is in. */
static void change(wood *w, const char *name, vls_node_kind kind)
{
    vls_tree_changes_writer *writer = malloc(sizeof(*writer));
    vls_buf list = {0};
    valise_id root = new_id(w);
    char path[64] = "";

    MUST(writer);
    vls_buf_init(&list, valise_env_default(), SIZE_MAX);
    vls_tree_changes_begin(writer, &list);
    add(w, writer, "", VLS_NODE_DIR, &root);
    for (unsigned i = 0; i < w->depth; i++) {
        size_t len = strlen(path);
        (void)snprintf(path + len, sizeof(path) - len, "%sd00", len > 0 ? "/" : "");
        add(w, writer, path, VLS_NODE_DIR, NULL);
    }
    (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", name);
    add(w, writer, path, kind, NULL);
    commit(w, &list, &root);
    vls_buf_release(&list);
    free(writer);
}

/* ---- operations ---- */

static void edit(void *arg, size_t times)
{
    wood *w = arg;

    for (size_t i = 0; i < times; i++) {
        change(w, "f00", VLS_NODE_FILE);
        run(w, "context:prune", "{\"versions\":1}");
    }
}

static void come_and_go(void *arg, size_t times)
{
    wood *w = arg;
    char payload[200], path[64] = "";

    for (unsigned i = 0; i < w->depth; i++)
        (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "d00/");
    for (size_t i = 0; i < times; i++) {
        change(w, "new", VLS_NODE_FILE);
        (void)snprintf(payload, sizeof(payload),
                       "{\"node\":\"%snew\",\"content\":\"%08llu\",\"noScan\":true}", path,
                       (unsigned long long)(w->next % 100000000));
        run(w, "frame:put", payload);
        change(w, "new", VLS_NODE_GONE);
        run(w, "context:prune", "{\"versions\":1,\"orphans\":true}");
    }
}

/* ---- all of it ---- */

static void say(wood *w, char path[64], unsigned depth)
{
    size_t len = strlen(path);
    char payload[200];

    for (unsigned i = 0; i < (depth > 0 ? FANOUT : FILES / 10); i++) {
        (void)snprintf(path + len, 64 - len, "%s%s%02u", len > 0 ? "/" : "", depth > 0 ? "d" : "f",
                       i);
        if (depth > 0) {
            say(w, path, depth - 1);
        } else {
            (void)snprintf(payload, sizeof(payload),
                           "{\"node\":\"%s\",\"content\":\"YWJj\",\"noScan\":true}", path);
            run(w, "frame:put", payload);
        }
    }
    path[len] = '\0';
}

static void *plant(size_t files)
{
    vls_tree_changes_writer *writer = malloc(sizeof(*writer));
    wood *w = calloc(1, sizeof(*w));
    vls_buf list = {0};
    valise_id root;
    char path[64] = "";

    MUST(w && writer);
    for (size_t n = files; n > FILES; n /= FANOUT)
        w->depth++;
    raw_make_dir(w->dir, "prune");
    w->v = raw_open_workspace(w->dir, false, NULL);
    root = new_id(w);
    vls_buf_init(&list, valise_env_default(), SIZE_MAX);
    vls_tree_changes_begin(writer, &list);
    add(w, writer, "", VLS_NODE_DIR, &root);
    add_below(w, writer, path, w->depth);
    commit(w, &list, &root);
    say(w, path, w->depth);
    vls_buf_release(&list);
    free(writer);
    return w;
}

static void fell(void *arg)
{
    wood *w = arg;

    valise_close(w->v);
    raw_remove_dir(w->dir);
    free(w);
}

BENCH(prune)
{
    bench_growth_row rows[] = {
        {.name = "an edit, and a prune of its version", .fn = edit},
        {.name = "a file comes and goes, and a prune of its slot", .fn = come_and_go},
    };

    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        rows[i].setup = plant;
        rows[i].teardown = fell;
        rows[i].cpu = true;
        rows[i].sizes[0] = 1000;
        rows[i].sizes[1] = 10000;
        rows[i].sizes[2] = bench_is_quick(b) ? 0 : 100000;
        bench_growth(b, &rows[i]);
    }
}
