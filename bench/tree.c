/* tree.c -- nodes are found, and spoken of, in trees of 1,000 to 1,000,000 files. [C4] [Q15]
 *
 * The trees are rows without files: 100 files in each directory, recorded as a scan records them.
 * Each is made once, and all operations are measured in it. */
#define VLS_ALLOW_MALLOC
#include "bench/bench.h"
#include "bench/raw.h"

#include "base/hex.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "context/ops_tree.h"
#include "tree/changes.h"

#include <valise/workspace.h>

#define FILES_PER_DIR 100u
#define DIRS_PER_LIST 100u
#define SAMPLES 1024u
#define SIZES 3u

typedef struct wood {
    char dir[256];
    valise *v;
    size_t files;
    char paths[SAMPLES][32], ids[SAMPLES][65];
    uint64_t next; /* operation */
} wood;

static wood *woods[SIZES]; /* this program is the only one that uses them */

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

/* ---- the tree ---- */

static vls_node file_of(size_t n)
{
    vls_node node = {.kind = VLS_NODE_FILE, .size = (int64_t)(n % 10000)};

    memcpy(node.content.bytes, &n, sizeof(n));
    node.content.bytes[31] = 1;
    vls_node_hash(&node);
    return node;
}

static valise_str name_of(char out[32], const char *format, size_t n)
{
    return vls_str(out, (size_t)snprintf(out, 32, format, (unsigned)n));
}

static vls_node dir_of(size_t d)
{
    vls_hasher h;
    vls_node node = {.kind = VLS_NODE_DIR, .size = FILES_PER_DIR};
    char name[32];

    vls_dir_hash_begin(&h, FILES_PER_DIR);
    for (size_t f = 0; f < FILES_PER_DIR; f++) {
        vls_node file = file_of(d * FILES_PER_DIR + f);
        vls_dir_hash_entry(&h, name_of(name, "file-%02u.c", f), VLS_NODE_FILE, &file.object);
    }
    vls_dir_hash_end(&node.object, &h);
    return node;
}

static void add_dir(vls_tree_changes_writer *writer, size_t d, const vls_node *dir)
{
    char path[32];
    int len;

    vls_tree_changes_add(writer, &(vls_tree_change){name_of(path, "folder-%05u", d), *dir});
    len = (int)strlen(path);
    for (size_t f = 0; f < FILES_PER_DIR; f++) {
        (void)snprintf(path + len, sizeof(path) - (size_t)len, "/file-%02u.c", (unsigned)f);
        vls_tree_changes_add(
            writer, &(vls_tree_change){valise_str_of(path), file_of(d * FILES_PER_DIR + f)});
    }
}

/* Lists of changes, one for each DIRS_PER_LIST, and the object id of the root. */
static size_t write_changes(vls_buf **out, valise_id *root, size_t dirs)
{
    vls_tree_changes_writer *writer = malloc(sizeof(*writer));
    vls_node *nodes = calloc(dirs, sizeof(*nodes));
    size_t count = (dirs + DIRS_PER_LIST - 1) / DIRS_PER_LIST;
    vls_buf *lists = calloc(count, sizeof(*lists));
    vls_hasher h;
    char name[32];

    MUST(writer && nodes && lists);
    for (size_t d = 0; d < dirs; d++)
        nodes[d] = dir_of(d);
    vls_dir_hash_begin(&h, dirs);
    for (size_t d = 0; d < dirs; d++)
        vls_dir_hash_entry(&h, name_of(name, "folder-%05u", d), VLS_NODE_DIR, &nodes[d].object);
    vls_dir_hash_end(root, &h);
    for (size_t d = 0; d < dirs; d++) {
        vls_buf *list = &lists[d / DIRS_PER_LIST];
        if (d % DIRS_PER_LIST == 0) {
            vls_buf_init(list, valise_env_default(), SIZE_MAX);
            vls_tree_changes_begin(writer, list);
        }
        if (d == 0)
            vls_tree_changes_add(
                writer,
                &(vls_tree_change){VLS_STR(""),
                                   {.kind = VLS_NODE_DIR, .size = (int64_t)dirs, .object = *root}});
        add_dir(writer, d, &nodes[d]);
    }
    free(nodes);
    free(writer);
    *out = lists;
    return count;
}

static void record(wood *w)
{
    valise_error err = VALISE_ERROR_INIT;
    size_t dirs = w->files / FILES_PER_DIR;
    vls_buf *lists = NULL;
    vls_tree_commit_args commit = {.base = 0};
    size_t count = write_changes(&lists, &commit.object, dirs);
    vls_run_item *items = calloc(count + 1, sizeof(*items));
    vls_tree_record_args *args = calloc(count, sizeof(*args));

    MUST(items && args);
    for (size_t i = 0; i < count; i++) {
        MUST(vls_buf_check(&lists[i], &err) == 0);
        args[i].changes.bytes = vls_buf_str(&lists[i]);
        items[i] = (vls_run_item){&vls_op_context_tree_record, &args[i], NULL};
    }
    commit.counts = (vls_tree_counts){.files = (int64_t)w->files, .dirs = (int64_t)dirs};
    commit.added = (int64_t)(w->files + dirs);
    items[count] = (vls_run_item){&vls_op_context_tree_commit, &commit, NULL};
    must(vls_run_many(w->v, items, count + 1, NULL, &err), &err);
    for (size_t i = 0; i < count; i++)
        vls_buf_release(&lists[i]);
    free(lists);
    free(items);
    free(args);
}

/* Files all over the tree, to be asked for. */
static void choose(wood *w)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        size_t n = (size_t)((uint64_t)i * UINT64_C(2654435761) % w->files);
        vls_node node = file_of(n);
        valise_id id;
        (void)snprintf(w->paths[i], sizeof(w->paths[i]), "folder-%05u/file-%02u.c",
                       (unsigned)(n / FILES_PER_DIR), (unsigned)(n % FILES_PER_DIR));
        vls_node_id(&id, valise_str_of(w->paths[i]), &node.object);
        memcpy(w->ids[i], vls_id_hex(&id).s, sizeof(w->ids[i]));
    }
}

/* ---- operations ---- */

static void run(wood *w, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    must(valise_dispatch(&reply, w->v, type, payload, NULL, &err), &err);
    valise_reply_release(&reply);
}

static void get(wood *w, size_t times, bool by_id, int digits)
{
    char payload[200];

    for (size_t i = 0; i < times; i++) {
        size_t n = w->next++ % SAMPLES;
        (void)snprintf(payload, sizeof(payload), "{\"node\":\"%.*s\",\"noScan\":true}", digits,
                       by_id ? w->ids[n] : w->paths[n]);
        run(w, "node:get", payload);
    }
}

static void by_path(void *arg, size_t times)
{
    get(arg, times, false, 64);
}

static void by_id(void *arg, size_t times)
{
    get(arg, times, true, 64);
}

static void by_prefix(void *arg, size_t times)
{
    get(arg, times, true, 16);
}

static void list(void *arg, size_t times)
{
    wood *w = arg;
    char payload[200];

    for (size_t i = 0; i < times; i++) {
        (void)snprintf(payload, sizeof(payload), "{\"path\":\"%.12s\"}",
                       w->paths[w->next++ % SAMPLES]);
        run(w, "tree:ls", payload);
    }
}

static void put(void *arg, size_t times)
{
    wood *w = arg;
    char payload[300];

    for (size_t i = 0; i < times; i++) {
        uint64_t n = w->next++;
        (void)snprintf(payload, sizeof(payload),
                       "{\"node\":\"%s\",\"content\":\"%08llu\",\"noScan\":true}",
                       w->paths[n % SAMPLES], (unsigned long long)(n % 100000000));
        run(w, "frame:put", payload);
    }
}

/* ---- all of it ---- */

static void *plant(size_t files)
{
    char name[32];
    wood *w = NULL;

    for (size_t i = 0; i < SIZES; i++) {
        if (woods[i] && woods[i]->files == files)
            return woods[i];
    }
    w = calloc(1, sizeof(*w));
    MUST(w);
    w->files = files;
    (void)snprintf(name, sizeof(name), "tree-%zu", files);
    raw_make_dir(w->dir, name);
    w->v = raw_open_workspace(w->dir, false, NULL);
    record(w);
    choose(w);
    by_path(w, SAMPLES); /* the first touch of a page is another story */
    by_id(w, SAMPLES);
    for (size_t i = 0; i < SIZES; i++) {
        if (!woods[i]) {
            woods[i] = w;
            break;
        }
    }
    return w;
}

static void keep(void *arg)
{
    (void)arg;
}

static void fell_all(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        if (!woods[i])
            continue;
        valise_close(woods[i]->v);
        raw_remove_dir(woods[i]->dir);
        free(woods[i]);
        woods[i] = NULL;
    }
}

BENCH(tree)
{
    static const struct {
        const char *name;
        bench_fn *fn;
    } rows[] = {{"a node by its path", by_path},
                {"a node by its id", by_id},
                {"a node by 16 digits of its id", by_prefix},
                {"a directory of 100 files, listed", list},
                {"a frame put", put}};
    bool quick = bench_is_quick(b);

    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        bench_growth(
            b, &(bench_growth_row){.name = rows[i].name,
                                   .setup = plant,
                                   .teardown = keep,
                                   .fn = rows[i].fn,
                                   .sizes = {1000, quick ? 10000 : 30000, quick ? 100000 : 1000000},
                                   .promised = 0,
                                   .cpu = true});
    fell_all();
}
