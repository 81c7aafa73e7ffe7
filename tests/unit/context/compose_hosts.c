/* compose_hosts.c -- compositions in programs that bring something along: an order, a policy, rows
 * that cannot be. [C25] [C26] */
#include "base/str.h"
#include "bus/bus.h"
#include "context/frame.h"
#include "context/kit.h"
#include "field/row.h"
#include "store/view.h"

TEST_PARAMS(compose_hosts, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 src/lib/x.c=3 README=hello"

static const char *payload_of(const char *node, const char *policy)
{
    return test_format("{\"node\":\"%s\",\"policy\":\"%s\",\"noScan\":true}", node, policy);
}

static const char *compose(yard *y, const char *node, const char *policy)
{
    return yard_run(y, "node:compose", payload_of(node, policy));
}

/* Those of all entries, in order. */
static const char *texts(yard *y, const char *answer)
{
    const char *all = yard_member(y, answer, "entries.0.text"), *text = all;

    for (int i = 1; text[0]; i++) {
        text = yard_member(y, answer, test_format("entries.%d.text", i));
        all = test_format("%s%s%s", all, text[0] ? " " : "", text);
    }
    return all;
}

/* ---- orders ---- */

/* The largest first. */
static int by_size(void *self, const valise_composed *a, const valise_composed *b)
{
    CHECK(self && !a->frame.content.ptr && a->score.total > 0);
    CHECK(a->frame.path.ptr && a->frame.type.len > 0 && a->frame.agent.len > 0);
    return a->frame.bytes > b->frame.bytes ? -1 : a->frame.bytes < b->frame.bytes;
}

static int anything;
static const valise_order sized = {sizeof(valise_order), "toy.by-size", &anything, by_size};
static const valise_order *const orders[] = {&sized, NULL};
static const valise_extension toy = {.size = sizeof(valise_extension),
                                     .abi = VALISE_EXTENSION_ABI,
                                     .name = "toy",
                                     .version = "1",
                                     .orders = orders};

static void close_it(void *arg)
{
    valise_close(arg);
}

static yard *open_with(test *t, const valise_extension *extension, valise_error *err)
{
    const valise_extension *extensions[] = {extension, NULL};
    bool memory = strcmp(t->param, "memory") == 0;
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    if (valise_open(&y->v, memory ? ":memory:" : test_format("%s/toy", test_tmpdir()), &o, err) < 0)
        return NULL;
    test_defer(close_it, y->v);
    return y;
}

TEST(compose_hosts, a_host_brings_its_own_order)
{
    static const valise_order unable = {sizeof(valise_order), "toy.unable", NULL, NULL};
    static const valise_order theirs = {sizeof(valise_order), "by-size", &anything, by_size};
    static const valise_order *const foreign[] = {&theirs, NULL};
    static const valise_order *const broken[] = {&unable, NULL}, *const twice[] = {&sized, &sized,
                                                                                   NULL};
    valise_extension other = toy;
    yard *y = open_with(t, &toy, &t->err);

    CHECK(y != NULL);
    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "1", "");
    (void)yard_put(y, NULL, "src/b.c", "notes", "333", "");
    (void)yard_put(y, NULL, "src/b.c", "other", "222", "");
    (void)yard_put(y, NULL, "src", "notes", "55555", "");
    CHECK_TEXT("55555 333 222 1", texts(y, compose(y, "src/a.c", "custom=toy.by-size")));
    CHECK_TEXT("55555 333", texts(y, compose(y, "src/a.c", "custom=toy.by-size,max=2,query=x")));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "node:compose", payload_of("src/a.c", "custom=by-luck"), NULL));
    CHECK_MSG(strstr(t->err.message, "'by-luck'"), "%s", t->err.message);
    CHECK(t->err.hint[0]);
    other.orders = broken;
    t->param = "memory";
    CHECK(!open_with(t, &other, &t->err));
    CHECK_MSG(strstr(t->err.message, "order toy.unable"), "%s", t->err.message);
    other.orders = foreign;
    CHECK(!open_with(t, &other, &t->err));
    CHECK_MSG(strstr(t->err.message, "must begin with \"toy.\""), "%s", t->err.message);
    other.orders = twice;
    CHECK(!open_with(t, &other, &t->err));
    CHECK_MSG(strstr(t->err.message, "by-size"), "%s", t->err.message);
}

/* ---- policies ---- */

static int make_text(valise_making *making, const void *params, valise_error *err)
{
    (void)params;
    return valise_making_write(making, VLS_STR("made"), err);
}

static const valise_extension *maker(valise_policy *policy, const valise_policy *list[2],
                                     valise_extension *out, int64_t version)
{
    *policy = (valise_policy){.size = sizeof(*policy),
                              .name = "maker.text",
                              .version = version,
                              .brief = "A text.",
                              .make = make_text};
    list[0] = policy;
    list[1] = NULL;
    *out = (valise_extension){.size = sizeof(*out),
                              .abi = VALISE_EXTENSION_ABI,
                              .name = "maker",
                              .version = "1",
                              .policies = list};
    return out;
}

/* Nothing changed, and nobody doubts it; but a newer program makes it in another way. */
TEST(compose_hosts, what_a_newer_program_makes_otherwise_is_stale)
{
    valise_policy policies[2];
    const valise_policy *lists[2][2];
    valise_extension extensions[2];
    yard *old, *new;
    const char *answer;

    if (strcmp(t->param, "memory") == 0)
        SKIP("two programs share a file");
    old = open_with(t, maker(&policies[0], lists[0], &extensions[0], 1), &t->err);
    CHECK_MSG(old != NULL, "%s", t->err.message);
    yard_grow(old, TREE, "");
    (void)yard_put(old, NULL, "src/a.c", "notes", "a", "");
    (void)yard_run(
        old, "context:synthesize",
        "{\"node\":\"src\",\"type\":\"notes\",\"policy\":\"maker.text\",\"noScan\":true}");
    answer = compose(old, "src/a.c", "sources=parent");
    CHECK_TEXT("made", texts(old, answer));
    CHECK_TEXT("fresh", yard_member(old, answer, "entries.0.state"));
    new = open_with(t, maker(&policies[1], lists[1], &extensions[1], 2), &t->err);
    CHECK_MSG(new != NULL, "%s", t->err.message);
    answer = compose(new, "src/a.c", "sources=parent");
    CHECK_TEXT("stale", yard_member(new, answer, "entries.0.state"));
    CHECK_TEXT("recipe-changed", yard_member(new, answer, "entries.0.reasons.0.reason"));
}

/* ---- rows that a bundle can bring ---- */

typedef struct forge_args {
    valise_id frame;
    int64_t size;
} forge_args;

/* A frame says that it is smaller than it is. */
static int forge(valise_view *view, const void *in, void *out, valise_error *err)
{
    const forge_args *args = in;
    const vls_coll *coll = vls_store_coll(view->txn->store, &vls_frames);
    vls_frame_row row = {.id = args->frame};
    valise_cell cells[VALISE_MAX_COLUMNS], *copy = NULL;
    int rc = valise_view_get(&row, view, &vls_frames, err);

    (void)out;
    row.size = args->size;
    if (rc > 0)
        rc = vls_row_to_cells(cells, &row, vls_frames.fields, &view->arena, err);
    if (rc == 0)
        rc = vls_cells_copy(&copy, cells, coll->field_count, &view->arena, err);
    return rc < 0 ? rc : vls_view_put_cells(view, coll, copy, true, err);
}

static const valise_field forge_in[] = {
    VALISE_FIELD(forge_args, frame, ID, VALISE_REQUIRED, "Which."),
    VALISE_FIELD(forge_args, size, INT, VALISE_REQUIRED, "What it shall say."),
    VALISE_FIELD_END,
};
static const valise_op forge_op = {.size = sizeof(valise_op),
                                   .name = "forger:forge",
                                   .brief = "Make a row say what is not so.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "context:write",
                                   .in = forge_in,
                                   .in_size = sizeof(forge_args),
                                   .decide = forge,
                                   .example = "{\"frame\":\"00000000000000000000000000000000"
                                              "000000000000000000000000000000ff\",\"size\":1}"};

/* Limits are about contents, not about what is said of them. */
TEST(compose_hosts, a_frame_that_lies_about_its_size_breaks_no_limit)
{
    static const valise_op *const ops[] = {&forge_op, NULL};
    static const valise_extension forger = {.size = sizeof(valise_extension),
                                            .abi = VALISE_EXTENSION_ABI,
                                            .name = "forger",
                                            .version = "1",
                                            .operations = ops};
    yard *y = open_with(t, &forger, &t->err);
    const char *answer, *frame;

    CHECK_MSG(y != NULL, "%s", t->err.message);
    yard_grow(y, TREE, "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "a text of thirty bytes or more", "");
    (void)yard_put(y, NULL, "src/b.c", "notes", "333", "");
    frame = yard_member(y, compose(y, "src/a.c", "max=1"), "entries.0.frameId");
    (void)yard_run(y, "forger:forge", test_format("{\"frame\":\"%s\",\"size\":2}", frame));
    answer = compose(y, "src/a.c", "max_bytes=10");
    CHECK_TEXT("333", texts(y, answer));
    CHECK_TEXT("3", yard_member(y, answer, "bytes"));
    CHECK_TEXT(frame, yard_member(y, answer, "corrupt.0.frameId"));
}
