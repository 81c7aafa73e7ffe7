/* load.c -- see load.h. The table at the end says how often what is done. */
#include "load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"

#define BAGS 4u
#define KEYS 200u
#define SESSIONS 6u
#define ENTRIES 300u
#define FOLDERS 8u
#define FILES 12u
#define BLOB_BYTES ((size_t)48 << 10)

static const char *const words[] = {"parcel", "refund",  "carrier", "stamp",  "letter", "rule",
                                    "shop",   "monday",  "silver",  "window", "apple",  "north",
                                    "river",  "candle",  "paper",   "glass",  "button", "coffee",
                                    "winter", "bicycle", "orange",  "garden", "bridge", "violin"};

static unsigned below(worker *w, unsigned limit)
{
    return (unsigned)test_random_below(&w->rng, limit);
}

/* What may come of an operation that meets things as they happen to be. */
static bool is_expected(int rc)
{
    return rc == 0 || rc == VALISE_E_NOT_FOUND || rc == VALISE_E_EXISTS ||
           rc == VALISE_E_CONFLICT || rc == VALISE_E_INVALID;
}

static int ask(worker *w, const char *op, const char *at)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.at = valise_str_of(at);
    rc = valise_dispatch(&reply, w->v, op, w->payload, &call, &err);
    valise_reply_release(&reply);
    CHECK_MSG(is_expected(rc), "%s %.200s: %s: %s", op, w->payload, valise_error_name(rc),
              err.message);
    w->done++;
    w->refused += rc != 0;
    return rc;
}

static int run(worker *w, const char *op, const char *format, ...) VALISE_PRINTF(3, 4);
static int run(worker *w, const char *op, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(w->payload, sizeof(w->payload), format, args);
    va_end(args);
    CHECK(len >= 0 && (size_t)len < sizeof(w->payload));
    return ask(w, op, "");
}

/* Some words, in a buffer that the caller has. */
static const char *text_of(worker *w, char *out, size_t size, unsigned count)
{
    size_t used = 0;

    out[0] = '\0';
    while (count-- > 0 && used + 16 < size)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "",
                                 words[below(w, VLS_COUNT(words))]);
    return out;
}

/* ---- backpacks ---- */

static void bag_of(worker *w, char out[32])
{
    (void)snprintf(out, 32, "w%u-bag-%u", w->number, below(w, BAGS));
}

static void pack(worker *w)
{
    char bag[32], text[512];

    bag_of(w, bag);
    (void)run(w, "backpack:pack",
              "{\"backpack\":\"%s\",\"key\":\"key.%u\",\"value\":{\"said\":\"%s\",\"n\":%u}}", bag,
              below(w, KEYS), text_of(w, text, sizeof(text), 1 + below(w, 30)), below(w, 1000));
}

static void look_into_bag(worker *w)
{
    char bag[32];

    bag_of(w, bag);
    (void)run(w, "backpack:unpack", "{\"backpack\":\"%s\",\"key\":\"key.%u\"}", bag,
              below(w, KEYS));
    (void)run(w, "backpack:history", "{\"backpack\":\"%s\",\"limit\":20}", bag);
    (void)run(w, "backpack:diff", "{\"backpack\":\"%s\",\"from\":\"0\"}", bag);
    (void)run(w, "backpack:blame", "{\"backpack\":\"%s\",\"key\":\"key.%u\"}", bag, below(w, KEYS));
}

static void fork_bag(worker *w)
{
    char bag[32];

    bag_of(w, bag);
    if (run(w, "backpack:fork", "{\"backpack\":\"%s\",\"name\":\"w%u-fork\"}", bag, w->number) < 0)
        return;
    (void)run(w, "backpack:pack", "{\"backpack\":\"w%u-fork\",\"key\":\"forked\",\"value\":%u}",
              w->number, below(w, 1000));
    (void)run(w, "backpack:merge", "{\"backpack\":\"%s\",\"theirs\":\"w%u-fork\"}", bag, w->number);
    (void)run(w, "backpack:drop", "{\"backpack\":\"w%u-fork\"}", w->number);
}

static void drop_bag(worker *w)
{
    char bag[32];

    bag_of(w, bag);
    (void)run(w, "backpack:drop", "{\"backpack\":\"%s\"}", bag);
    (void)run(w, "backpack:create", "{\"name\":\"%s\",\"items\":{\"key.0\":1}}", bag);
}

static void flow(worker *w)
{
    (void)run(
        w, "flow:run",
        "{\"backpack\":\"w%u-flow\",\"items\":{\"question\":\"%s?\"},\"flow\":{\"nodes\":["
        "{\"id\":\"a\",\"type\":\"SetNode\",\"params\":{\"values\":{\"x\":\"{{question}}\"}}},"
        "{\"id\":\"b\",\"type\":\"FinalAnswerNode\",\"params\":{\"from\":\"{{x}}\"}}],"
        "\"edges\":[{\"from\":\"a\",\"to\":\"b\"}]}}",
        w->number, words[below(w, VLS_COUNT(words))]);
    (void)run(w, "flow:runs", "{\"limit\":5}");
    if (below(w, 4) == 0)
        (void)run(w, "backpack:drop", "{\"backpack\":\"w%u-flow\"}", w->number);
}

/* ---- conversations ---- */

static void session_of(worker *w, char out[32])
{
    (void)snprintf(out, 32, "w%u-session-%u", w->number, below(w, SESSIONS));
}

static void say(worker *w)
{
    char session[32], text[1024];

    session_of(w, session);
    (void)text_of(w, text, sizeof(text), 2 + below(w, 60));
    if (run(w, "turn:add", "{\"sessionId\":\"%s\",\"role\":\"%s\",\"text\":\"%s\"}", session,
            below(w, 2) ? "user" : "assistant", text) == VALISE_E_NOT_FOUND)
        (void)run(w, "session:create", "{\"label\":\"%s\",\"topics\":[\"%s\"]}", session,
                  words[below(w, VLS_COUNT(words))]);
}

static void say_otherwise(worker *w)
{
    char session[32], text[256];

    session_of(w, session);
    (void)run(w, "turn:edit", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD\",\"text\":\"%s\"}", session,
              text_of(w, text, sizeof(text), 9));
    (void)run(w, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"HEAD~1\"}", session);
    (void)run(w, "turn:log", "{\"sessionId\":\"%s\",\"limit\":10}", session);
}

static void fork_session(worker *w)
{
    char session[32], other[32];

    session_of(w, session);
    session_of(w, other);
    (void)run(w, "session:delete", "{\"sessionId\":\"%s\"}", other);
    (void)run(w, "session:fork", "{\"sessionId\":\"%s\",\"label\":\"%s\"}", session, other);
    (void)run(w, "session:graph", "{\"sessionId\":\"%s\"}", session);
}

static void prompt(worker *w)
{
    char session[32];

    session_of(w, session);
    (void)run(w, "prompt:build",
              "{\"provider\":\"openai\",\"model\":\"m\",\"session\":\"%s\",\"window\":20000}",
              session);
    (void)run(w, "prompt:list", "{\"limit\":5}");
}

/* ---- memory, blobs ---- */

static void remember(worker *w)
{
    char text[512];
    unsigned n = below(w, ENTRIES);

    (void)text_of(w, text, sizeof(text), 4 + below(w, 40));
    if (run(w, "context:update", "{\"key\":\"w%u/%u\",\"text\":\"%s\"}", w->number, n, text) ==
        VALISE_E_NOT_FOUND)
        (void)run(w, "context:add", "{\"key\":\"w%u/%u\",\"text\":\"%s\"}", w->number, n, text);
    if (below(w, 10) == 0)
        (void)run(w, "context:delete", "{\"key\":\"w%u/%u\"}", w->number, below(w, ENTRIES));
}

static void search(worker *w)
{
    (void)run(w, "search:query", "{\"limit\":5,\"query\":\"%s %.3s*\"}",
              words[below(w, VLS_COUNT(words))], words[below(w, VLS_COUNT(words))]);
}

/* What is held stays for ever, so what was held longest is let go. */
static void keep_blob(worker *w)
{
    const size_t len = 1 + below(w, BLOB_BYTES);
    uint8_t bytes[BLOB_BYTES];
    valise_blob_registered made = VALISE_BLOB_REGISTERED_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_id *place = &w->blobs[w->kept % LOAD_BLOBS];

    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)test_random(&w->rng);
    if (w->kept >= LOAD_BLOBS)
        CHECK_MSG(valise_blob_release(NULL, w->v, place, NULL, NULL, &err) == 0, "%s", err.message);
    CHECK_MSG(valise_blob_register_bytes(&made, w->v, (valise_str){(const char *)bytes, len}, NULL,
                                         NULL, &err) == 0,
              "%s", err.message);
    *place = made.sha256;
    w->kept++;
    w->done += 2;
}

/* ---- files, and what is known of them ---- */

static void path_of(worker *w, char out[48])
{
    (void)snprintf(out, 48, "w%u-%u/file-%u.txt", w->number, below(w, FOLDERS), below(w, FILES));
}

/* What is said of a file that is there stays for ever; what was said of one that is gone does not.
 */
static void remove_folder(worker *w)
{
    char path[4096];
    const int dir_len =
        snprintf(path, sizeof(path), "%s/w%u-%u", w->folder, w->number, below(w, FOLDERS));

    CHECK(dir_len > 0 && (size_t)dir_len + 16 < sizeof(path));
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(path + dir_len, sizeof(path) - (size_t)dir_len, "/file-%u.txt", i);
        (void)unlink(path);
    }
    path[dir_len] = '\0';
    CHECK(rmdir(path) == 0 || errno == ENOENT);
    (void)run(w, "tree:scan", "{}");
}

static void edit_file(worker *w)
{
    char path[48], full[4096], text[2048];
    FILE *file;

    path_of(w, path);
    (void)snprintf(full, sizeof(full), "%s/%s", w->folder, path);
    *strrchr(full, '/') = '\0';
    CHECK(mkdir(full, 0700) == 0 || errno == EEXIST);
    full[strlen(full)] = '/';
    file = fopen(full, "w");
    CHECK(file != NULL);
    CHECK(fputs(text_of(w, text, sizeof(text), 1 + below(w, 200)), file) >= 0);
    CHECK(fclose(file) == 0);
    (void)run(w, "tree:scan", "{}");
}

static void note(worker *w)
{
    char path[48], text[512];
    VLS_AUTO(buf) vls_buf data;
    valise_error err = VALISE_ERROR_INIT;

    path_of(w, path);
    vls_buf_init(&data, valise_env_default(), 4096);
    vls_base64_encode(&data, valise_str_of(text_of(w, text, sizeof(text), 1 + below(w, 40))));
    CHECK(vls_buf_check(&data, &err) == 0);
    (void)run(w, "frame:put", "{\"node\":\"%s\",\"type\":\"summary\",\"content\":\"%.*s\"}", path,
              VALISE_STR_ARG(vls_buf_str(&data)));
    (void)run(w, "node:get", "{\"node\":\"%s\"}", path);
}

static void derive(worker *w)
{
    (void)run(w, "context:synthesize", "{\"node\":\"w%u-%u\",\"type\":\"summary\"}", w->number,
              below(w, FOLDERS));
    (void)run(w, "context:regenerate", "{\"node\":\"w%u-%u\"}", w->number, below(w, FOLDERS));
    (void)run(w, "context:report", "{}");
}

static void checkpoint(worker *w)
{
    (void)run(w, "tree:checkpoint", "{\"name\":\"w%u-state\"}", w->number);
    (void)run(w, "checkpoint:diff", "{\"checkpoint\":\"w%u-state\"}", w->number);
    (void)run(w, "checkpoint:remove", "{\"checkpoint\":\"w%u-state\"}", w->number);
}

/* ---- the workspace ---- */

static void look_back(worker *w)
{
    char at[24];
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error err = VALISE_ERROR_INIT;
    long long seq;

    CHECK(valise_dispatch(&reply, w->v, "workspace:status", NULL, NULL, &err) == 0);
    seq = reply.seq;
    valise_reply_release(&reply);
    if (seq > 200)
        seq -= below(w, 200);
    (void)snprintf(at, sizeof(at), "%lld", seq);
    (void)snprintf(w->payload, sizeof(w->payload), "{\"limit\":20}");
    (void)ask(w, "session:list", at);
    (void)snprintf(w->payload, sizeof(w->payload), "{\"prefix\":\"w%u/1\"}", w->number);
    (void)ask(w, "context:list", at);
    (void)run(w, "log:list", "{\"limit\":20}");
    (void)run(w, "event:list", "{\"limit\":20,\"since\":%lld}", seq);
}

static void set_up(worker *w)
{
    (void)run(w, "role:add", "{\"name\":\"role-%u\",\"persona\":\"You are brief.\"}", w->number);
    (void)run(w, "role:update", "{\"name\":\"role-%u\",\"persona\":\"You are %s.\"}", w->number,
              words[below(w, VLS_COUNT(words))]);
    (void)run(w, "pin:add", "{\"name\":\"pin-%u\"}", w->number);
    (void)run(w, "pin:remove", "{\"name\":\"pin-%u\"}", w->number);
}

void load_pack(worker *w, const char *backpack)
{
    CHECK(run(w, "backpack:pack",
              "{\"backpack\":\"%s\",\"key\":\"key.%04u\",\"value\":\"%016llx%016llx\"}", backpack,
              below(w, 1000), (unsigned long long)test_random(&w->rng),
              (unsigned long long)test_random(&w->rng)) == 0);
}

void load_tidy(worker *w)
{
    valise_error err = VALISE_ERROR_INIT;
    int rc = valise_dispatch(NULL, w->v, "workspace:gc", "{\"grace\":\"0s\"}", NULL, &err);

    CHECK_MSG(rc == 0, "gc: %s: %s", valise_error_name(rc), err.message);
}

void load_begin(valise *v)
{
    static const char *const limits[] = {
        "{\"kind\":\"log\",\"keepLatest\":2000}",   "{\"kind\":\"backpack\",\"keepLatest\":300}",
        "{\"kind\":\"session\",\"keepLatest\":40}", "{\"kind\":\"prompt\",\"keepLatest\":40}",
        "{\"kind\":\"tree\",\"keepLatest\":40}",    "{\"kind\":\"orphans\",\"keepLatest\":40}",
    };
    worker *w = test_alloc(sizeof(*w));

    w->v = v;
    for (size_t i = 0; i < VLS_COUNT(limits); i++)
        CHECK(run(w, "retention:set", "%s", limits[i]) == 0);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned bag = 0; bag < BAGS; bag++)
            CHECK(run(w, "backpack:create", "{\"name\":\"w%u-bag-%u\",\"items\":{}}", i, bag) == 0);
    }
}

static const struct {
    unsigned weight;
    void (*fn)(worker *w);
} table[] = {
    {30, pack},      {8, look_into_bag}, {2, fork_bag},     {1, drop_bag},      {2, flow},
    {20, say},       {5, say_otherwise}, {2, fork_session}, {4, prompt},        {12, remember},
    {6, search},     {2, keep_blob},     {4, edit_file},    {6, note},          {2, derive},
    {1, checkpoint}, {4, look_back},     {1, set_up},       {1, remove_folder},
};

void load_step(worker *w)
{
    unsigned all = 0, at;

    for (size_t i = 0; i < VLS_COUNT(table); i++)
        all += table[i].weight;
    at = below(w, all);
    for (size_t i = 0; i < VLS_COUNT(table); i++) {
        if (at < table[i].weight) {
            table[i].fn(w);
            return;
        }
        at -= table[i].weight;
    }
}
