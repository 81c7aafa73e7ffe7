/* startup.c -- how long the command takes to start, answer and end, beyond running `true`, in a
 * workspace with 100,000 rows of an extension, 100,000 sessions and 100,000 turns, and an entry of
 * the log for each. [Q13 L10] */
#define VLS_ALLOW_MALLOC
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

#include "base/str.h"

#include <valise/sys/extension.h>
#include <valise/workspace.h>

#define ROWS 100000u
#define BATCH 1000u
#define ROUNDS 61u
#define SESSION "018f0000-0000-7000-8000-000000077777"
#define TURN "018f0001-0000-7000-8000-000000055555"
#define BLOB "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

extern char **environ;

static void die(const char *what)
{
    (void)fprintf(stderr, "bench/startup.c: %s\n", what);
    abort();
}

/* ---- the workspace ---- */

typedef struct node {
    valise_str name;
    valise_id value;
} node;

static const valise_field node_fields[] = {
    VALISE_FIELD(node, name, STR, VALISE_REQUIRED | VALISE_KEY, "Name."),
    VALISE_FIELD_WITH(node, value, ID, VALISE_NULLABLE, "Value.", .ref = "object"),
    VALISE_FIELD_END,
};

static const valise_coll nodes = {.size = sizeof(valise_coll),
                                  .name = "many.node",
                                  .help = "One of many.",
                                  .fields = node_fields,
                                  .row_size = sizeof(node)};

typedef struct put_args {
    valise_str name;
    valise_content value;
} put_args;

static const valise_field put_in[] = {
    VALISE_FIELD(put_args, name, STR, VALISE_REQUIRED, "Name."),
    VALISE_FIELD(put_args, value, TEXT, VALISE_REQUIRED, "Value."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const put_args *args = in;
    node row = {args->name, args->value.id};

    (void)out;
    return valise_view_put(view, &nodes, &row, err);
}

static const valise_op put_op = {.size = sizeof(valise_op),
                                 .name = "many:put",
                                 .brief = "Put one of many.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "many:write",
                                 .in = put_in,
                                 .in_size = sizeof(put_args),
                                 .decide = decide,
                                 .example = "{\"name\":\"a\",\"value\":\"b\"}"};

/* The text with five digits wherever it has a #. */
static size_t write_numbered(char *out, size_t room, const char *text, unsigned number)
{
    size_t len = 0;

    for (; *text && len + 6 < room; text++) {
        if (*text == '#')
            len += (size_t)snprintf(out + len, room - len, "%05u", number);
        else
            out[len++] = *text;
    }
    return len;
}

/* As many commands of a type as there are to be rows, of numbered payloads. */
static void run_many(valise *v, const char *type, const char *payload)
{
    static char texts[BATCH][256];
    valise_command commands[BATCH];
    valise_error err = VALISE_ERROR_INIT;

    for (unsigned done = 0; done < ROWS; done += BATCH) {
        for (unsigned i = 0; i < BATCH; i++) {
            size_t len = write_numbered(texts[i], sizeof(texts[i]), payload, done + i);
            commands[i] = (valise_command){valise_str_of(type), vls_str(texts[i], len), NULL};
        }
        if (valise_dispatch_batch(NULL, v, commands, BATCH, NULL, &err) < 0)
            die(err.message);
    }
}

static void run_one(valise *v, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;

    if (valise_dispatch_str(NULL, v, valise_str_of(type), valise_str_of(payload), NULL, &err) < 0)
        die(err.message);
}

static void fill(const char *dir)
{
    static const valise_coll *const colls[] = {&nodes, NULL};
    static const valise_op *const ops[] = {&put_op, NULL};
    static const valise_extension package = {.size = sizeof(package),
                                             .abi = VALISE_EXTENSION_ABI,
                                             .name = "many",
                                             .version = "1",
                                             .collections = colls,
                                             .operations = ops};
    static const valise_extension *const extensions[] = {&package, NULL};
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    options.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    options.durability = VALISE_DURABILITY_NORMAL;
    options.extensions = extensions;
    if (valise_open(&v, dir, &options, &err) < 0)
        die(err.message);
    run_many(v, "many:put", "{\"name\":\"node #\",\"value\":\"this is number #\"}");
    run_many(v, "session:create",
             "{\"id\":\"018f0000-0000-7000-8000-0000000#\",\"label\":\"number #\"}");
    run_many(v, "turn:add",
             "{\"sessionId\":\"" SESSION "\",\"turn\":{\"id\":"
             "\"018f0001-0000-7000-8000-0000000#\",\"role\":\"user\",\"blocks\":"
             "[{\"type\":\"text\",\"text\":\"this is number #\"}]}}");
    run_one(v, "role:add", "{\"name\":\"coder\",\"persona\":\"You write C.\"}");
    run_one(v, "blob:register", "{\"data\":\"aGVsbG8K\"}");
    valise_close(v);
}

/* ---- processes ---- */

static double now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double time_of(const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    double began = now_ms();
    int status = 0;
    pid_t pid;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0)
        die(argv[0]);
    (void)posix_spawn_file_actions_destroy(&actions);
    return now_ms() - began;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The median of what ours takes longer than `true`, in turns. */
static double beyond_true(const char *const *argv)
{
    static const char *const nothing[] = {"true", NULL};
    double differences[ROUNDS];

    for (unsigned i = 0; i < ROUNDS; i++) {
        double raw = time_of(nothing);
        differences[i] = time_of(argv) - raw;
    }
    qsort(differences, ROUNDS, sizeof(differences[0]), compare);
    return differences[ROUNDS / 2];
}

/* The command that was built beside this program. */
static const char *find_command(char *room, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", room, size - 32);
    char *slash;

    if (len < 0)
        die("/proc/self/exe");
    room[len] = '\0';
    for (int i = 0; i < 2; i++) {
        slash = strrchr(room, '/');
        if (!slash)
            die(room);
        *slash = '\0';
    }
    (void)snprintf(room + strlen(room), 32, "/cli/valise");
    return access(room, X_OK) == 0 ? room : NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

BENCH(startup)
{
    char room[4096], dir[] = "/var/tmp/valise-startup-XXXXXX";
    const char *command = find_command(room, sizeof(room));

    if (!command) {
        (void)fprintf(stderr, "startup: there is no cli/valise beside bench/; skipped\n");
        return;
    }
    if (!mkdtemp(dir))
        die("mkdtemp");
    fill(dir);
    bench_fact(b, "valise status beyond `true`",
               beyond_true((const char *const[]){command, "-C", dir, "status", NULL}), "ms", 5);
    bench_fact(b, "a point read beyond `true`",
               beyond_true(
                   (const char *const[]){command, "-C", dir, "show", "many.node/node 77777", NULL}),
               "ms", 5);
    bench_fact(
        b, "session show beyond `true`",
        beyond_true((const char *const[]){command, "-C", dir, "session", "show", SESSION, NULL}),
        "ms", 5);
    bench_fact(
        b, "turn show beyond `true`",
        beyond_true((const char *const[]){command, "-C", dir, "turn", "show", TURN "@1", NULL}),
        "ms", 5);
    bench_fact(
        b, "role show beyond `true`",
        beyond_true((const char *const[]){command, "-C", dir, "role", "show", "coder", NULL}), "ms",
        5);
    bench_fact(b, "blob show beyond `true`",
               beyond_true((const char *const[]){command, "-C", dir, "blob", "show", BLOB, NULL}),
               "ms", 5);
    bench_fact(b, "valise version beyond `true`",
               beyond_true((const char *const[]){command, "version", NULL}), "ms", 5);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
