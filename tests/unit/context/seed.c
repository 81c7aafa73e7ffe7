/* seed.c -- the test criteria of the first two components of the design this began with, by their
 * words, as far as no other test has them. [C7] [C8] [C10] [C11] [C13]
 *
 * Agent read and write model:
 *   "Writer agents cannot overwrite frames"          frames.writer_agents_cannot_overwrite_frames,
 *                                                    here: what_is_stored_otherwise_...
 *   "Reader agents never trigger writes"             frames.reader_agents_never_trigger_writes,
 *                                                    here: reader_agents_never_trigger_writes
 *   "Agent attribution preserved in FrameIDs"        frames.agent_attribution_is_preserved_...
 *   "Concurrent agents do not corrupt state"         here; processes: tests/cli/61-frames.sh
 *   "Agent identity verified on all write operations"  here, and the matrix in roles.c
 * Context APIs:
 *   "Same request yields same frame set"             here; reads.views_choose_and_order,
 *                                                    reads.equal_roots_give_equal_answers
 *   "Frame append updates heads correctly"           frames.frame_append_updates_heads_correctly;
 *                                                    atomic: here, kill.frames_and_heads
 *   "API calls do not trigger synthesis implicitly"  reads.api_calls_do_not_trigger_synthesis
 *   "Error handling is deterministic"                here
 *   "Concurrent requests handled safely"             here
 *   "Invalid node_id returns clear error"            here; frames.invalid_node_id_returns_...
 */
#include <sys/stat.h>

#include "base/hex.h"
#include "base/str.h"
#include "bus/registry.h"
#include "context/frame.h"
#include "context/kit.h"
#include "engine/engine.h"

TEST_PARAMS(seed, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 README=hello"

static const char *seq_of(yard *y)
{
    return yard_member(y, yard_run(y, "workspace:status", NULL), "seq");
}

static bool writes(const valise_op *op)
{
    return op->kind == VALISE_COMMAND ||
           (op->kind == VALISE_JOB && !(op->flags & VALISE_OP_READ_ONLY));
}

/* ---- agents ---- */

/* "Reader agents never trigger writes (API enforces read-only)": neither those of the context nor
 * any others, whatever the operation, even where files have changed. */
TEST(seed, reader_agents_never_trigger_writes)
{
    yard *y = yard_open(t);
    bool folder = strcmp(t->param, "sqlite") == 0;
    const char *before, *hash, *outdated;
    size_t denied = 0, read = 0;

    if (folder) {
        test_write_file(test_format("%s/yard/README", test_tmpdir()), VLS_STR("hello"));
        (void)yard_run(y, "tree:scan", "{}");
        (void)yard_put(y, "w", "README", "notes", "x", "");
        test_write_file(test_format("%s/yard/README", test_tmpdir()), VLS_STR("changed"));
    }
    before = seq_of(y);
    hash = yard_run(y, "workspace:hash", NULL);
    for (const valise_op *const *op = vls_registry_ops(vls_engine_of(y->v)->registry); *op; op++) {
        int rc;
        if (!(*op)->needs || strncmp((*op)->name, "workspace:", 10) == 0)
            continue; /* needs no workspace, or is about files of its own */
        rc = yard_try(y, "r", (*op)->name, (*op)->example, NULL);
        test_context("%s: %d %s", (*op)->name, rc, t->err.message);
        if (writes(*op))
            CHECK_INT(VALISE_E_DENIED, rc);
        denied += rc == VALISE_E_DENIED;
        read += rc == 0;
        CHECK_TEXT(before, seq_of(y));
    }
    test_context_end();
    CHECK(denied > 20 && read > 5);
    if (folder) {
        outdated = yard_run(y, "node:get", "{\"node\":\"README\"}");
        CHECK_TEXT("outdated", yard_member(y, outdated, "meta.tree"));
        CHECK_INT(0, yard_try(y, "r", "node:get", "{\"node\":\"README\"}", NULL));
        outdated =
            yard_run(y, "node:get",
                     test_format("{\"node\":\"%s\"}", yard_member(y, outdated, "node.nodeId")));
        CHECK_TEXT("outdated", yard_member(y, outdated, "meta.tree")); /* by id as well */
    }
    CHECK_TEXT(before, seq_of(y));
    CHECK_TEXT(hash, yard_run(y, "workspace:hash", NULL));
}

/* "Agent identity verified on all write operations": whom nobody knows writes nothing, wherever. */
TEST(seed, agent_identity_is_verified_on_all_write_operations)
{
    yard *y = yard_open(t);
    const char *before;
    size_t count = 0;

    yard_grow(y, TREE, "");
    before = yard_run(y, "workspace:hash", NULL);
    for (const valise_op *const *op = vls_registry_ops(vls_engine_of(y->v)->registry); *op; op++) {
        if (!writes(*op) || !(*op)->needs)
            continue;
        test_context("%s", (*op)->name);
        CHECK_INT(VALISE_E_DENIED, yard_try(y, "stranger", (*op)->name, (*op)->example, NULL));
        count++;
    }
    test_context_end();
    CHECK(count > 20);
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    /* And what was written says who did. */
    (void)yard_put(y, "w", "README", "notes", "x", "");
    CHECK_TEXT("w", yard_member(y, yard_run(y, "log:list", "{}"), "items.0.actor"));
}

/* ---- frames that are there ---- */

static valise_id forged; /* the id under which something else is put; of one test */

/* A frame with the id of another one. */
static int forge(valise_view *view, const void *in, void *out, valise_error *err)
{
    valise_str text = VLS_STR("something else");
    vls_frame_row row = {.id = forged,
                         .type = VLS_STR("notes"),
                         .agent = VLS_STR("local"),
                         .kind = VLS_FRAME_AUTHORED,
                         .size = (int64_t)text.len};
    int rc = valise_view_add(&row.content, view, "data", text, err);

    (void)in, (void)out;
    if (rc == 0)
        rc = valise_view_add(&row.basis, view, "basis", text, err);
    return rc < 0 ? rc : valise_view_put(view, &vls_frames, &row, err);
}

static const valise_op forge_op = {.size = sizeof(valise_op),
                                   .name = "toy:forge",
                                   .brief = "Change a frame.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "toy:write",
                                   .decide = forge};
static const valise_op *const toy_ops[] = {&forge_op, NULL};
static const valise_extension toy = {.size = sizeof(valise_extension),
                                     .abi = VALISE_EXTENSION_ABI,
                                     .name = "toy",
                                     .version = "1",
                                     .operations = toy_ops};

static void close_it(void *arg)
{
    valise_close(arg);
}

static yard *open_toy(test *t)
{
    static const valise_extension *const extensions[] = {&toy, NULL};
    bool memory = strcmp(t->param, "memory") == 0;
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&y->v, memory ? ":memory:" : test_format("%s/toy", test_tmpdir()), &o,
                         &t->err));
    test_defer(close_it, y->v);
    return y;
}

/* "Writer agents cannot overwrite frames (attempts return error)": a put whose id is taken by other
 * bytes is refused and writes nothing, and no command changes a frame that is there. [C8] */
TEST(seed, what_is_stored_otherwise_is_not_overwritten)
{
    yard *y = open_toy(t), *honest = yard_open(t);
    const char *before, *id;

    yard_grow(honest, TREE, "");
    id = yard_member(honest, yard_put(honest, NULL, "README", "notes", "one", ""), "frameId");
    CHECK_OK(vls_id_parse(&forged, valise_str_of(id), &t->err));
    yard_grow(y, TREE, "");
    (void)yard_run(y, "toy:forge", "{}");
    before = yard_run(y, "workspace:hash", NULL);
    CHECK_INT(VALISE_E_CONFLICT, yard_try_put(y, NULL, "README", "notes", "one", ""));
    CHECK_MSG(strstr(t->err.message, id) && strstr(t->err.message, "says something else"), "%s",
              t->err.message);
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    id = yard_member(y, yard_put(y, NULL, "README", "notes", "two", ""), "frameId");
    CHECK_OK(vls_id_parse(&forged, valise_str_of(id), &t->err));
    before = yard_run(y, "workspace:hash", NULL);
    CHECK_INT(VALISE_E_CONFLICT, yard_try(y, NULL, "toy:forge", "{}", NULL));
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
}

/* ---- several at once ---- */

enum { WRITERS = 4, EACH = 25, READERS = 2 };

typedef struct said {
    const char *root, *node, *frame; /* the context root after a put, and what it put where */
} said;

typedef struct crowd {
    yard *y;
    said puts[WRITERS][EACH];
    said seen[READERS][EACH * WRITERS];
    size_t seen_count[READERS];
} crowd;

static const char *call(yard *y, const char *actor, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call c = VALISE_CALL_INIT;
    valise_error err = VALISE_ERROR_INIT;
    const char *text;

    c.actor = valise_str_of(actor);
    CHECK_MSG(valise_dispatch(&reply, y->v, type, payload, &c, &err) == 0, "%s", err.message);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static const char *const nodes[] = {"src/a.c", "src/b.c"};

static void write_some(crowd *c, size_t writer)
{
    const char *actor = writer % 2 ? "w" : "s";

    for (size_t i = 0; i < EACH; i++) {
        const char *node = nodes[(writer + i) % 2];
        const char *answer =
            call(c->y, actor, "frame:put",
                 test_format("{\"node\":\"%s\",\"content\":\"%c%c%c=\",\"noScan\":true}", node,
                             (int)('a' + writer), (int)('a' + i), "AEIMQUYcgkosw048"[i % 16]));
        c->puts[writer][i] = (said){yard_member(c->y, answer, "contextRoot"), node,
                                    yard_member(c->y, answer, "frameId")};
    }
}

static void read_some(crowd *c, size_t reader)
{
    for (size_t i = 0; i < EACH * WRITERS; i++) {
        const char *node = nodes[i % 2];
        const char *answer =
            call(c->y, "r", "node:get", test_format("{\"node\":\"%s\",\"noScan\":true}", node));
        c->seen[reader][c->seen_count[reader]++] =
            (said){yard_member(c->y, answer, "contextRoot"), node,
                   yard_member(c->y, answer, "frames.0.frameId")};
    }
}

static void do_some(size_t index, void *arg)
{
    if (index < WRITERS)
        write_some(arg, index);
    else
        read_some(arg, index - WRITERS);
}

/* What a reader saw under a root is what the put that made this root had put there. */
static size_t check_seen(const crowd *c, const said *seen)
{
    for (size_t i = 0; i < WRITERS * EACH; i++) {
        const said *put = &c->puts[i / EACH][i % EACH];
        if (strcmp(put->root, seen->root) != 0)
            continue;
        if (strcmp(put->node, seen->node) == 0)
            CHECK_TEXT(put->frame, seen->frame);
        return 1;
    }
    return 0;
}

/* "Concurrent agents do not corrupt state (atomic operations, proper locking)" and "Concurrent
 * requests handled safely (no race conditions)". */
TEST(seed, concurrent_agents_do_not_corrupt_state)
{
    crowd *c = test_alloc(sizeof(*c));
    const char *first, *answer;
    size_t known = 0, seen = 0;

    c->y = yard_open(t);
    yard_grow(c->y, TREE, "");
    first = yard_member(c->y, yard_run(c->y, "node:get", "{\"node\":\".\"}"), "contextRoot");
    test_threads(WRITERS + READERS, do_some, c);
    for (size_t r = 0; r < READERS; r++) {
        for (size_t i = 0; i < c->seen_count[r]; i++) {
            if (strcmp(c->seen[r][i].root, first) == 0)
                continue;
            seen++;
            known += check_seen(c, &c->seen[r][i]);
        }
    }
    CHECK_INT((int64_t)seen, (int64_t)known);
    test_note("%zu reads beside puts", seen);
    for (size_t n = 0; n < VLS_COUNT(nodes); n++) {
        answer = yard_run(c->y, "node:get",
                          test_format("{\"node\":\"%s\",\"view\":\"history,max=1000\"}", nodes[n]));
        CHECK_TEXT(test_format("%d", WRITERS * EACH / 2), yard_member(c->y, answer, "total"));
    }
    yard_check(c->y);
}

/* ---- requests ---- */

static const char *const requests[][2] = {
    {"node:get", "{\"node\":\"src/a.c\",\"noScan\":true}"},
    {"node:get", "{\"node\":\"src/a.c\",\"noScan\":true,\"view\":\"history,recency\"}"},
    {"node:get", "{\"node\":\"src/a.c\",\"noScan\":true,\"view\":\"history,agent,max=2\"}"},
    {"node:get", "{\"node\":\"src/a.c\",\"noScan\":true,\"view\":\"recency,max_bytes=4\"}"},
    {"frame:list", "{\"node\":\"src/a.c\"}"},
    {"head:get", "{\"node\":\"src/a.c\"}"},
    {"frame:proof", "{\"node\":\"src/a.c\",\"type\":\"notes\"}"},
};

static void say_some(yard *y)
{
    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/a.c", "notes", "one", "");
    (void)yard_put(y, "s", "src/a.c", "summary", "two", "");
    (void)yard_put(y, "w", "src/a.c", "notes", "three", "");
    (void)yard_put(y, "s", "src/a.c", "notes", "four", "");
}

/* "Same request yields same frame set (deterministic selection)": asked again, by another reader,
 * after the workspace was opened anew, and after something was said elsewhere. [C13] */
TEST(seed, same_request_yields_same_frame_set)
{
    const char *answers[VLS_COUNT(requests)], *again;
    yard *y = yard_open(t);

    say_some(y);
    for (size_t i = 0; i < VLS_COUNT(requests); i++)
        answers[i] = yard_run(y, requests[i][0], requests[i][1]);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < VLS_COUNT(requests); i++) {
            CHECK_TEXT(answers[i], yard_run(y, requests[i][0], requests[i][1]));
            CHECK_TEXT(answers[i], call(y, "r", requests[i][0], requests[i][1]));
        }
        if (strcmp(t->param, "memory") == 0)
            break;
        valise_close(y->v); /* nothing is kept between requests but what is stored */
        {
            valise_options o = VALISE_OPTIONS_INIT;
            o.env = t->env;
            o.flags = VALISE_OPEN_NO_USER_CONFIG;
            CHECK_OK(valise_open(&y->v, test_format("%s/yard", test_tmpdir()), &o, &t->err));
        }
    }
    (void)yard_put(y, "w", "README", "notes", "elsewhere", "");
    for (size_t i = 0; i < 4; i++) {
        again = yard_run(y, requests[i][0], requests[i][1]);
        CHECK_TEXT(yard_member(y, answers[i], "frames"), yard_member(y, again, "frames"));
        CHECK(strcmp(yard_member(y, answers[i], "contextRoot"),
                     yard_member(y, again, "contextRoot")) != 0);
    }
}

/* What cannot be asked, and what for. */
static const struct {
    const char *type, *payload;
    int rc;
} wrong[] = {
    {"node:get", "{\"node\":\"nothing\"}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":\"src/a.c/below\"}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":\"../up\"}", VALISE_E_INVALID},
    {"node:get", "{\"node\":\"src/../../up\"}", VALISE_E_INVALID},
    {"node:get", "{\"node\":\"beef\"}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":\"BEEF\"}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":\"zz\\n\\u001b[2J\"}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":{\"base64\":\"/w==\"}}", VALISE_E_NOT_FOUND},
    {"node:get", "{\"node\":{\"base64\":\"AA==\"}}", VALISE_E_INVALID},
    {"node:get", "{\"node\":7}", VALISE_E_INVALID},
    {"node:get", "{}", VALISE_E_INVALID},
    {"node:get", "{\"node\":\"src/a.c\",\"view\":\"best\"}", VALISE_E_INVALID},
    {"node:get", "{\"node\":\"src/a.c\",\"view\":\"max=\"}", VALISE_E_INVALID},
    {"node:get", "{\"node\":\"src/a.c\",\"at\":\"v99\"}", VALISE_E_NOT_FOUND},
    {"frame:list", "{\"node\":\"nothing\"}", VALISE_E_NOT_FOUND},
    {"frame:list", "{\"node\":\"src/a.c\",\"type\":\"No Type\"}", VALISE_E_INVALID},
    {"head:get", "{\"node\":\"nothing\"}", VALISE_E_NOT_FOUND},
    {"frame:show", "{\"frame\":\"00\"}", VALISE_E_INVALID},
    {"frame:put", "{\"node\":\"nothing\",\"content\":\"YQ==\",\"noScan\":true}",
     VALISE_E_NOT_FOUND},
    {"frame:put", "{\"node\":\"src/a.c\",\"content\":\"!\",\"noScan\":true}", VALISE_E_INVALID},
    {"frame:put", "{\"node\":\"src/a.c\",\"content\":\"YQ==\",\"type\":\"\",\"noScan\":true}",
     VALISE_E_INVALID},
    {"frame:put", "{\"node\":\"src/a.c\",\"noScan\":true}", VALISE_E_INVALID},
};

/* "Error handling is deterministic (same error for same conditions)", "Invalid node_id returns
 * clear error (not panic)": asked twice, and in a workspace that came there by another way. */
TEST(seed, error_handling_is_deterministic)
{
    yard *y = yard_open(t), *z;
    test other = *t;

    say_some(y);
    other.param = "memory";
    z = yard_open(&other);
    say_some(z);
    (void)yard_put(z, "w", "src/b.c", "notes", "more", "");
    for (size_t i = 0; i < VLS_COUNT(wrong); i++) {
        const char *before = yard_run(y, "workspace:hash", NULL), *first;
        test_context("%s %s", wrong[i].type, wrong[i].payload);
        CHECK_INT(wrong[i].rc, yard_try(y, NULL, wrong[i].type, wrong[i].payload, NULL));
        CHECK(t->err.message[0] && !strpbrk(t->err.message, "\n\x1b"));
        first = test_format("%s|%s|%s", t->err.message, t->err.path, t->err.hint);
        CHECK_INT(wrong[i].rc, yard_try(y, NULL, wrong[i].type, wrong[i].payload, NULL));
        CHECK_TEXT(first, test_format("%s|%s|%s", t->err.message, t->err.path, t->err.hint));
        CHECK_INT(wrong[i].rc, yard_try(z, NULL, wrong[i].type, wrong[i].payload, NULL));
        CHECK_TEXT(first,
                   test_format("%s|%s|%s", other.err.message, other.err.path, other.err.hint));
        CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    }
}
