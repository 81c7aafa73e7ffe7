/* registry.c -- what a package must be like to be registered, and what is found afterwards. [K6]
 * [K13] */
#include "bus/registry.h"

#include "harness/fault.h"
#include "harness/test.h"

/* ---- a package in which everything is right; tests spoil one thing each ---- */

typedef struct thing_row {
    valise_str name;
    int64_t count;
} thing_row;

typedef struct thing_args {
    valise_str name;
    int64_t count;
    valise_content text;
} thing_args;

static const valise_field row_fields[] = {
    VALISE_FIELD(thing_row, name, STR, VALISE_KEY, "Its name."),
    VALISE_FIELD(thing_row, count, INT, 0, "How many."),
    VALISE_FIELD_END,
};
static const valise_field add_in[] = {
    VALISE_FIELD(thing_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name."),
    VALISE_FIELD(thing_args, count, INT, 0, "How many."),
    VALISE_FIELD(thing_args, text, TEXT, VALISE_NULLABLE, "What to say."),
    VALISE_FIELD_END,
};
static const valise_field text_out[] = {
    VALISE_FIELD(thing_args, text, TEXT, VALISE_NULLABLE, "What was said."),
    VALISE_FIELD_END,
};

static int run(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)args, (void)result, (void)err;
    return 0;
}

static int run_job(valise_job *job, const void *args, void *result, valise_error *err)
{
    (void)job, (void)args, (void)result, (void)err;
    return 0;
}

static int current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    (void)json, (void)view, (void)args, (void)err;
    return 0;
}

static int before(void *self, valise_pass *pass, valise_error *err)
{
    (void)self, (void)pass, (void)err;
    return 0;
}

static int map_thing(valise_index_out *out, const void *row, valise_error *err)
{
    (void)out, (void)row, (void)err;
    return 0;
}

static int process(void *self, valise_job *job, const valise_event *event, const void *row,
                   valise_error *err)
{
    (void)self, (void)job, (void)event, (void)row, (void)err;
    return 0;
}

/* Everything a test may want to change, in one place. */
typedef struct kit {
    test *t;
    vls_registry *registry;
    const char *const *index_fields;
    valise_coll_index indexes[20];
    valise_coll coll;
    const valise_coll *colls[2];
    valise_op ops[3];
    const valise_op *op_list[4];
    valise_middleware middleware;
    const valise_middleware *middleware_list[2];
    valise_index_source sources[40];
    valise_indexer indexer;
    const valise_indexer *indexers[2];
    valise_processor processor;
    const valise_processor *processors[2];
    valise_extension package;
} kit;

static const char *const over_count[] = {"count", NULL};

static void free_registry(void *arg)
{
    vls_registry_free(((kit *)arg)->registry);
}

static void fill_ops(kit *k)
{
    k->ops[0] = (valise_op){.size = sizeof(valise_op),
                            .name = "thing:add",
                            .alias = "put-thing",
                            .brief = "Add a thing.",
                            .kind = VALISE_COMMAND,
                            .needs = "thing:write",
                            .in = add_in,
                            .in_size = sizeof(thing_args),
                            .current = current,
                            .expect_help = "how many there are",
                            .decide = run,
                            .example = "{\"name\":\"a\",\"count\":2}"};
    k->ops[1] = (valise_op){.size = sizeof(valise_op),
                            .name = "thing:list",
                            .brief = "List the things.",
                            .kind = VALISE_QUERY,
                            .flags = VALISE_OP_LIST,
                            .needs = "thing:read",
                            .out = row_fields,
                            .out_size = sizeof(thing_row),
                            .query = run};
    k->ops[2] = (valise_op){.size = sizeof(valise_op),
                            .name = "thing:count:all",
                            .brief = "Count them.",
                            .kind = VALISE_JOB,
                            .flags = VALISE_OP_READ_ONLY,
                            .needs = "admin",
                            .job = run_job};
    for (size_t i = 0; i < 3; i++)
        k->op_list[i] = &k->ops[i];
}

static kit *kit_new(test *t)
{
    kit *k = test_alloc(sizeof(*k));

    k->t = t;
    CHECK_OK(vls_registry_new(&k->registry, t->env, &t->err));
    test_defer(free_registry, k);
    k->indexes[0] = (valise_coll_index){"by_count", over_count};
    k->coll = (valise_coll){.size = sizeof(valise_coll),
                            .name = "ext.thing",
                            .help = "A thing.",
                            .fields = row_fields,
                            .row_size = sizeof(thing_row),
                            .indexes = k->indexes};
    k->colls[0] = &k->coll;
    fill_ops(k);
    k->middleware = (valise_middleware){sizeof(valise_middleware), "guard", NULL, before, NULL};
    k->middleware_list[0] = &k->middleware;
    k->sources[0] = (valise_index_source){&k->coll, map_thing};
    k->indexer = (valise_indexer){sizeof(valise_indexer), "things", "By count.", k->sources};
    k->indexers[0] = &k->indexer;
    k->processor =
        (valise_processor){sizeof(valise_processor), "counter", NULL, &k->coll, NULL, process};
    k->processors[0] = &k->processor;
    k->package = (valise_extension){
        sizeof(valise_extension), VALISE_EXTENSION_ABI, "ext",        "1.0", k->colls, k->op_list,
        k->middleware_list,       k->indexers,          k->processors};
    return k;
}

static int add(kit *k)
{
    k->t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_registry_add(k->registry, &k->package, false, &k->t->err);
}

static size_t count_of(const void *list)
{
    const void *const *p = list;
    size_t n = 0;

    while (p[n])
        n++;
    return n;
}

static void check_empty(kit *k)
{
    CHECK_INT(0, count_of(vls_registry_ops(k->registry)));
    CHECK_INT(0, count_of(vls_registry_colls(k->registry)));
    CHECK_INT(0, count_of(vls_registry_middleware(k->registry)));
    CHECK_INT(0, count_of(vls_registry_indexers(k->registry)));
    CHECK_INT(0, count_of(vls_registry_processors(k->registry)));
    CHECK_INT(0, count_of(vls_registry_packages(k->registry)));
}

/* The package is refused with this code and a message with this text, and nothing of it stays. */
static void refused(kit *k, int code, const char *text)
{
    test *t = k->t;

    CHECK_RC(code, add(k));
    CHECK_MSG(strstr(t->err.message, text), "\"%s\" is not in \"%s\"", text, t->err.message);
    check_empty(k);
}

static void refused_at(kit *k, const char *path)
{
    test *t = k->t;

    CHECK_RC(VALISE_E_INVALID, add(k));
    CHECK_TEXT(path, t->err.path);
    check_empty(k);
}

/* ---- what is registered is found ---- */

TEST(registry, finds_what_was_added)
{
    kit *k = kit_new(t);

    check_empty(k);
    CHECK(!vls_registry_op(k->registry, VLS_STR("thing:add")));
    CHECK_OK(add(k));
    CHECK(vls_registry_op(k->registry, VLS_STR("thing:add")) == &k->ops[0]);
    CHECK(vls_registry_op(k->registry, VLS_STR("thing:count:all")) == &k->ops[2]);
    CHECK(!vls_registry_op(k->registry, VLS_STR("thing:ad")));
    CHECK(!vls_registry_op(k->registry, VLS_STR("thing:adds")));
    CHECK(!vls_registry_op(k->registry, VLS_STR("")));
    CHECK(vls_registry_colls(k->registry)[0] == &k->coll);
    CHECK(vls_registry_middleware(k->registry)[0] == &k->middleware);
    CHECK_TEXT("things", vls_registry_indexers(k->registry)[0]->name);
    CHECK(vls_registry_indexers(k->registry)[0]->sources[0].coll == &k->coll);
    CHECK(!vls_registry_indexers(k->registry)[0]->sources[1].coll);
    CHECK(vls_registry_processors(k->registry)[0]->coll == &k->coll);
    CHECK(vls_registry_packages(k->registry)[0] == &k->package);
    CHECK(!vls_registry_packages(k->registry)[1]);
}

TEST(registry, operations_are_sorted_by_name)
{
    kit *k = kit_new(t);
    const valise_op *const *ops;

    CHECK_OK(add(k));
    ops = vls_registry_ops(k->registry);
    CHECK_TEXT("thing:add", ops[0]->name);
    CHECK_TEXT("thing:count:all", ops[1]->name);
    CHECK_TEXT("thing:list", ops[2]->name);
    CHECK(!ops[3]);
}

/* Many packages with names in random order: every one is found, the list is sorted. */
TEST(registry, many_packages)
{
    enum { COUNT = 100 };
    kit *k = kit_new(t);
    test_rng rng = test_rng_new(test_seed());
    valise_extension *packages = test_alloc(COUNT * sizeof(*packages));
    valise_op *ops = test_alloc(COUNT * sizeof(*ops));
    const valise_op **lists = test_alloc(2 * COUNT * sizeof(*lists));
    const valise_op *const *all;

    for (size_t i = 0; i < COUNT; i++) {
        ops[i] = k->ops[1];
        ops[i].name = test_format("a%llu:b%zu", (unsigned long long)test_random_below(&rng, 50), i);
        lists[2 * i] = &ops[i];
        packages[i] = (valise_extension){sizeof(valise_extension), VALISE_EXTENSION_ABI,
                                         test_format("p%zu", i), "1"};
        packages[i].operations = &lists[2 * i];
        CHECK_OK(vls_registry_add(k->registry, &packages[i], false, &t->err));
    }
    all = vls_registry_ops(k->registry);
    CHECK_INT(COUNT, count_of(all));
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(vls_registry_op(k->registry, valise_str_of(ops[i].name)) == &ops[i]);
        CHECK(vls_registry_packages(k->registry)[i] == &packages[i]);
        CHECK(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
    }
}

TEST(registry, an_area_has_names_without_a_prefix)
{
    kit *k = kit_new(t);

    k->coll.name = "thing";
    CHECK_OK(vls_registry_add(k->registry, &k->package, true, &t->err));
    CHECK_TEXT("thing", vls_registry_colls(k->registry)[0]->name);
}

TEST(registry, names_the_most_similar_operation)
{
    kit *k = kit_new(t);

    CHECK_OK(add(k));
    CHECK_TEXT("thing:add", vls_registry_near(k->registry, VLS_STR("thing:ad"))->name);
    CHECK_TEXT("thing:add", vls_registry_near(k->registry, VLS_STR("thng:add"))->name);
    CHECK_TEXT("thing:list", vls_registry_near(k->registry, VLS_STR("thing:lsit"))->name);
    CHECK(!vls_registry_near(k->registry, VLS_STR("session:fork")));
    CHECK(!vls_registry_near(k->registry, VLS_STR("")));
    CHECK(!vls_registry_near(k->registry, valise_str_of(test_format("%0200d", 0))));
}

TEST(registry, does_not_suggest_what_only_the_engine_may_do)
{
    kit *k = kit_new(t);

    k->ops[0].flags = VALISE_OP_INTERNAL;
    CHECK_OK(add(k));
    CHECK(!vls_registry_near(k->registry, VLS_STR("thing:ad")) ||
          vls_registry_near(k->registry, VLS_STR("thing:ad")) != &k->ops[0]);
}

/* ---- tables of other sizes ---- */

/* What stands behind the end of a shorter table is not read. */
TEST(registry, reads_a_table_only_as_far_as_its_size_says)
{
    kit *k = kit_new(t);

    k->ops[1].size = offsetof(valise_op, example);
    k->ops[1].example = (const char *)(uintptr_t)1;
    k->coll.size = offsetof(valise_coll, check);
    memset(&k->coll.check, 0xee, sizeof(k->coll.check));
    k->middleware.size = offsetof(valise_middleware, after);
    memset(&k->middleware.after, 0xee, sizeof(k->middleware.after));
    k->package.size = offsetof(valise_extension, processors);
    k->package.processors = (const void *)(uintptr_t)1;
    CHECK_OK(add(k));

    const valise_op *op = vls_registry_op(k->registry, VLS_STR("thing:list"));
    const valise_coll *coll = vls_registry_colls(k->registry)[0];
    CHECK(op != &k->ops[1] && op->size == sizeof(valise_op) && !op->example && op->query == run);
    CHECK(coll != &k->coll && coll->size == sizeof(valise_coll) && !coll->check && !coll->event);
    CHECK(!vls_registry_middleware(k->registry)[0]->after);
    CHECK_INT(0, count_of(vls_registry_processors(k->registry)));
    /* Who follows the collection follows the registered one. */
    CHECK(vls_registry_indexers(k->registry)[0]->sources[0].coll == coll);
}

/* A newer header has longer tables; what is behind ours is theirs. */
TEST(registry, takes_tables_that_are_longer)
{
    kit *k = kit_new(t);

    k->ops[0].size += 64;
    k->coll.size += 64;
    k->package.size += 64;
    CHECK_OK(add(k));
    CHECK(vls_registry_op(k->registry, VLS_STR("thing:add")) == &k->ops[0]);
}

TEST(registry, refuses_tables_that_are_too_short)
{
    kit *k = kit_new(t);

    k->ops[0].size = offsetof(valise_op, example) - 1;
    refused(k, VALISE_E_INVALID, "operation says that it has");
    k = kit_new(t);
    k->coll.size = 0;
    refused(k, VALISE_E_INVALID, "collection says that it has 0 bytes");
    k = kit_new(t);
    k->middleware.size = 8;
    refused(k, VALISE_E_INVALID, "middleware says that it has 8 bytes");
    k = kit_new(t);
    k->indexer.size = 8;
    refused(k, VALISE_E_INVALID, "indexer says that it has 8 bytes");
    k = kit_new(t);
    k->processor.size = 8;
    refused(k, VALISE_E_INVALID, "processor says that it has 8 bytes");
    k = kit_new(t);
    k->package.size = 8;
    refused(k, VALISE_E_INVALID, "8 bytes");
}

/* ---- packages ---- */

TEST(registry, refuses_another_abi_and_says_both_numbers) /* [K13] */
{
    kit *k = kit_new(t);

    k->package.abi = 7;
    refused(k, VALISE_E_UNSUPPORTED,
            "extension \"ext\" was built for extension ABI 7; this library "
            "has ABI 1");
    CHECK(strstr(t->err.hint, VALISE_VERSION));
}

TEST(registry, refuses_packages_without_a_proper_name_or_version)
{
    static const char *const names[] = {NULL, "", "1a", "A", "a-b", "a.b", "a b", "\xc3\xa4"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        kit *k = kit_new(t);
        k->package.name = names[i];
        refused(k, VALISE_E_INVALID, "a name is lower-case");
    }
    kit *k = kit_new(t);
    k->package.name = test_format("%0100d", 0);
    refused(k, VALISE_E_INVALID, "a name is lower-case");
    k = kit_new(t);
    k->package.version = NULL;
    refused(k, VALISE_E_INVALID, "no version");
    k->package.version = "";
    refused(k, VALISE_E_INVALID, "no version");
    k->package.version = test_format("%0100d", 0);
    refused(k, VALISE_E_INVALID, "no version");
}

TEST(registry, refuses_a_package_twice)
{
    kit *k = kit_new(t);
    valise_extension other = {sizeof(other), VALISE_EXTENSION_ABI, "ext", "2"};

    CHECK_OK(add(k));
    CHECK_RC(VALISE_E_EXISTS, vls_registry_add(k->registry, &other, false, &t->err));
    CHECK_INT(1, count_of(vls_registry_packages(k->registry)));
}

/* The registry is as it was when a package is refused at its very last entry. */
TEST(registry, keeps_nothing_of_a_package_that_is_refused)
{
    kit *k = kit_new(t);
    kit *other = kit_new(t);
    const valise_op *const *ops;

    CHECK_OK(add(k));
    ops = vls_registry_ops(k->registry);
    other->package.name = "other";
    other->coll.name = "other.thing";
    other->ops[0].name = "b:add";
    other->ops[0].alias = NULL;
    other->ops[1].name = "b:list";
    other->ops[2].name = "b:count";
    other->middleware.name = "b";
    other->indexer.name = "b";
    CHECK_RC(VALISE_E_EXISTS, vls_registry_add(k->registry, &other->package, false, &t->err));
    CHECK(strstr(t->err.message, "processor counter"));
    CHECK(vls_registry_ops(k->registry) == ops && count_of(ops) == 3);
    CHECK_INT(1, count_of(vls_registry_colls(k->registry)));
    CHECK_INT(1, count_of(vls_registry_middleware(k->registry)));
    CHECK(!vls_registry_op(k->registry, VLS_STR("b:add")));

    other->processor.name = "b";
    CHECK_OK(vls_registry_add(k->registry, &other->package, false, &t->err));
    CHECK_INT(6, count_of(vls_registry_ops(k->registry)));
}

TEST(registry, refuses_too_many)
{
    enum { COUNT = 5000 };
    kit *k = kit_new(t);
    const void **list = test_alloc((COUNT + 1) * sizeof(*list));

    for (size_t i = 0; i < 300; i++) {
        valise_middleware *m = test_alloc(sizeof(*m));
        *m = k->middleware;
        m->name = test_format("m%zu", i);
        list[i] = m;
    }
    k->package.middleware = (const void *)list;
    refused(k, VALISE_E_LIMIT, "over 256 middleware");
    for (size_t i = 0; i < COUNT; i++) {
        valise_op *op = test_alloc(sizeof(*op));
        *op = k->ops[1];
        op->name = test_format("a:b%zu", i);
        list[i] = op;
    }
    k->package.operations = (const void *)list;
    refused(k, VALISE_E_LIMIT, "over 4096 operations");
    for (size_t i = 0; i < COUNT; i++) {
        valise_coll *coll = test_alloc(sizeof(*coll));
        *coll = k->coll;
        coll->name = test_format("ext.c%zu", i);
        list[i] = coll;
    }
    k->package.collections = (const void *)list;
    refused(k, VALISE_E_LIMIT, "over 496 collections");
}

TEST(registry, refuses_too_many_packages)
{
    kit *k = kit_new(t);

    for (size_t i = 0; i <= 256; i++) {
        valise_extension *p = test_alloc(sizeof(*p));
        *p = (valise_extension){sizeof(*p), VALISE_EXTENSION_ABI, test_format("p%zu", i), "1"};
        CHECK_RC(i < 256 ? 0 : VALISE_E_LIMIT, vls_registry_add(k->registry, p, false, &t->err));
    }
    CHECK_INT(256, count_of(vls_registry_packages(k->registry)));
}

/* ---- operations ---- */

TEST(registry, refuses_names_of_operations)
{
    static const char *const names[] = {
        NULL,   "",     "add",   "thing:", ":add",      "a::b",  "A:b",  "a:B",  "a:b c",
        "1a:b", "a:1b", "a:b_c", "a:b\n",  "a:b:c:d:e", "a b:c", "-a:b", "a:-b", "\xc3\xa4:b"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        kit *k = kit_new(t);
        k->ops[0].name = names[i];
        test_context("name \"%s\"", names[i] ? names[i] : "NULL");
        refused(k, VALISE_E_INVALID, "a name is like \"pin:add\"");
    }
    kit *k = kit_new(t);
    k->ops[0].name = test_format("a:b%080d", 0);
    refused(k, VALISE_E_INVALID, "a name is like \"pin:add\"");
}

TEST(registry, refuses_names_that_are_taken)
{
    kit *k = kit_new(t);

    k->ops[1].name = "thing:add";
    refused(k, VALISE_E_EXISTS, "operation thing:add: the name is already in use");
}

/* `thing add` is a command line by its name, `put-thing` by its alias: nobody else has them. */
TEST(registry, refuses_command_lines_that_are_taken)
{
    kit *k = kit_new(t);

    k->ops[1].alias = "put-thing";
    refused(k, VALISE_E_EXISTS, "\"valise put-thing\" is taken by thing:add");
    k = kit_new(t);
    k->ops[1].alias = "thing count all";
    refused(k, VALISE_E_EXISTS, "\"valise thing count all\" is taken by thing:list");
    k = kit_new(t);
    k->ops[2].alias = "thing add";
    refused(k, VALISE_E_EXISTS, "\"valise thing add\" is taken by thing:add");
    k = kit_new(t);
    k->ops[0].alias = "thing add";
    refused(k, VALISE_E_EXISTS, "\"valise thing add\" is taken by thing:add");
}

TEST(registry, refuses_aliases_that_cannot_be_typed)
{
    static const char *const aliases[] = {"", "Put", "a  b", " a", "a ", "a:b", "-a", "a b c d"};

    for (size_t i = 0; i < VLS_COUNT(aliases); i++) {
        kit *k = kit_new(t);
        k->ops[0].alias = aliases[i];
        refused(k, VALISE_E_INVALID, "is not a command line");
    }
}

TEST(registry, wants_a_brief_with_a_period)
{
    static const char *const briefs[] = {NULL, "", ".", "Add a thing", "Add.\nMore.", "\xff."};

    for (size_t i = 0; i < VLS_COUNT(briefs); i++) {
        kit *k = kit_new(t);
        k->ops[0].brief = briefs[i];
        refused(k, VALISE_E_INVALID, "ends in a period");
    }
    kit *k = kit_new(t);
    k->ops[0].brief = test_format("%0100d.", 0);
    refused(k, VALISE_E_INVALID, "ends in a period");
    k->ops[0].brief = test_format("%099d.", 0);
    CHECK_OK(add(k));
    k = kit_new(t);
    k->ops[0].help = "\xff";
    refused(k, VALISE_E_INVALID, "its help must be UTF-8");
}

TEST(registry, wants_exactly_the_function_of_the_kind)
{
    for (uint32_t kind = 0; kind < 5; kind++) {
        for (unsigned has = 0; has < 8; has++) {
            bool fits = (kind == VALISE_COMMAND && has == 1) ||
                        (kind == VALISE_QUERY && has == 2) || (kind == VALISE_JOB && has == 4);
            kit *k = kit_new(t);
            k->ops[0].kind = kind;
            k->ops[0].current = NULL;
            k->ops[0].expect_help = NULL;
            k->ops[0].decide = has & 1 ? run : NULL;
            k->ops[0].query = has & 2 ? run : NULL;
            k->ops[0].job = has & 4 ? run_job : NULL;
            test_context("kind %u with functions %u", (unsigned)kind, has);
            if (fits)
                CHECK_OK(add(k));
            else
                refused(k, VALISE_E_INVALID,
                        kind == 0 || kind == 4 ? "there is no kind" : "exactly one function");
        }
    }
}

TEST(registry, expect_is_for_commands_and_explained)
{
    kit *k = kit_new(t);

    k->ops[1].current = current;
    k->ops[1].expect_help = "what";
    refused(k, VALISE_E_INVALID, "only a command takes `expect`");
    k = kit_new(t);
    k->ops[0].expect_help = NULL;
    refused(k, VALISE_E_INVALID, "come together");
    k = kit_new(t);
    k->ops[0].current = NULL;
    refused(k, VALISE_E_INVALID, "come together");
}

TEST(registry, refuses_flags_that_do_not_fit)
{
    kit *k = kit_new(t);

    k->ops[0].flags = 1u << 20;
    refused(k, VALISE_E_INVALID, "flags that this library does not know (0x100000)");
    k = kit_new(t);
    k->ops[0].flags = VALISE_OP_LIST;
    refused(k, VALISE_E_INVALID, "answers with a list");
    k = kit_new(t);
    k->ops[2].flags = VALISE_OP_LIST;
    refused(k, VALISE_E_INVALID, "answers with a list");
    k = kit_new(t);
    k->ops[2].flags = VALISE_OP_NO_WORKSPACE;
    refused(k, VALISE_E_INVALID, "only a query can do without");
    k = kit_new(t);
    k->ops[1].flags = VALISE_OP_READ_ONLY;
    refused(k, VALISE_E_INVALID, "is for jobs");
    k = kit_new(t);
    k->ops[1].flags = VALISE_OP_DESTRUCTIVE;
    refused(k, VALISE_E_INVALID, "a query destroys nothing");
}

TEST(registry, wants_to_know_the_capability) /* [K23] */
{
    static const char *const needs[] = {"", "write", "*", "a:*", "a:b c=d", "Admin", "admin:"};

    for (size_t i = 0; i < VLS_COUNT(needs); i++) {
        kit *k = kit_new(t);
        k->ops[0].needs = needs[i];
        refused(k, VALISE_E_INVALID, "is not a capability");
    }
    for (size_t i = 0; i < 3; i++) {
        kit *k = kit_new(t);
        k->ops[i].needs = NULL;
        refused(k, VALISE_E_INVALID, "does not say which capability it needs");
    }
    kit *k = kit_new(t);
    k->ops[1].needs = NULL;
    k->ops[1].flags |= VALISE_OP_NO_WORKSPACE;
    CHECK_OK(add(k));
}

TEST(registry, refuses_tables_of_fields_that_make_no_sense)
{
    static const valise_field bad[] = {
        VALISE_FIELD_AS(thing_args, name, "not_camel", STR, 0, "Its name."),
        VALISE_FIELD_END,
    };
    kit *k = kit_new(t);

    k->ops[0].in = bad;
    refused_at(k, "thing:add.in.not_camel");
    k = kit_new(t);
    k->ops[1].out = bad;
    refused_at(k, "thing:list.out.not_camel");
    k = kit_new(t);
    k->coll.fields = bad;
    refused_at(k, "ext.thing.not_camel");
    k = kit_new(t);
    k->ops[0].in_size = 8;
    CHECK_RC(VALISE_E_INVALID, add(k));
    k = kit_new(t);
    k->ops[0].in_size = 0;
    refused(k, VALISE_E_INVALID, "in_size is 0");
    k->ops[0].in_size = (size_t)1 << 20;
    refused(k, VALISE_E_INVALID, "in_size is 1048576");
    k = kit_new(t);
    k->ops[0].out_size = 8;
    refused(k, VALISE_E_INVALID, "out_size is 8, but there is no table");
}

TEST(registry, refuses_operands_nobody_could_tell_apart)
{
    static const valise_field text = {.type = VALISE_T_STR};
    static const struct {
        unsigned short first_type, first_flags, second_flags;
        const char *text; /* NULL: fine */
    } cases[] = {
        {VALISE_T_STR, VALISE_REQUIRED, VALISE_REQUIRED, NULL},
        {VALISE_T_STR, VALISE_REQUIRED, 0, NULL},
        {VALISE_T_STR, 0, 0, NULL},
        {VALISE_T_STR, 0, VALISE_REQUIRED, "no operand can follow `first`"},
        {VALISE_T_LIST, VALISE_REQUIRED, VALISE_REQUIRED, "no operand can follow `first`"},
        {VALISE_T_LIST, VALISE_REQUIRED, 0, "no operand can follow `first`"},
        {VALISE_T_STR, VALISE_REQUIRED | VALISE_SECRET, 0, "`first` is secret"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const valise_field in[] = {
            {.name = "first",
             .help = "The first.",
             .type = cases[i].first_type,
             .flags = (uint16_t)(VALISE_POSITIONAL | cases[i].first_flags),
             .more = cases[i].first_type == VALISE_T_LIST ? &text : NULL},
            {.name = "second",
             .help = "The second.",
             .type = VALISE_T_STR,
             .flags = (uint16_t)(VALISE_POSITIONAL | cases[i].second_flags),
             .offset = 32},
            VALISE_FIELD_END,
        };
        kit *k = kit_new(t);
        k->ops[0].in = in;
        k->ops[0].in_size = 64;
        k->ops[0].example = cases[i].first_type == VALISE_T_LIST
                                ? "{\"first\":[\"a\"],\"second\":\"b\"}"
                                : "{\"first\":\"a\",\"second\":\"b\"}";
        test_context("case %zu", i);
        if (cases[i].text)
            refused(k, VALISE_E_INVALID, cases[i].text);
        else
            CHECK_OK(add(k));
    }
}

/* A plain text that a collection says is content is one, wherever it stands. [K15 K20] */
TEST(registry, refuses_commands_that_answer_with_what_is_marked_as_content)
{
    static const valise_field marked[] = {
        VALISE_FIELD(thing_args, name, STR, VALISE_NULLABLE | VALISE_CONTENT, "What it says."),
        VALISE_FIELD_END,
    };
    kit *k = kit_new(t);

    k->ops[0].out = marked;
    k->ops[0].out_size = sizeof(thing_args);
    refused(k, VALISE_E_INVALID, "`name` of its answer is content");
}

/* A command's answer is kept in the log, where contents must not be. [K9] */
TEST(registry, refuses_commands_that_answer_with_contents)
{
    static const valise_struct inner = {sizeof(thing_args), text_out};
    static const valise_field in_struct[] = {
        {.name = "more", .help = "More.", .type = VALISE_T_STRUCT, .flags = 0, .more = &inner},
        VALISE_FIELD_END,
    };
    static const valise_field item = {.type = VALISE_T_STRUCT, .more = &inner};
    static const valise_field in_list[] = {
        {.name = "more", .help = "More.", .type = VALISE_T_LIST, .more = &item},
        VALISE_FIELD_END,
    };
    static const valise_struct plain = {sizeof(thing_row), row_fields};
    static const valise_case cases[] = {{"a", &plain}, {"b", &inner}, {NULL, NULL}};
    static const valise_union either = {"type", cases, 0};
    static const valise_field in_union[] = {
        {.name = "more", .help = "More.", .type = VALISE_T_UNION, .more = &either},
        VALISE_FIELD_END,
    };
    const valise_field *const outs[] = {text_out, in_struct, in_list, in_union};

    for (size_t i = 0; i < VLS_COUNT(outs); i++) {
        kit *k = kit_new(t);
        k->ops[0].out = outs[i];
        k->ops[0].out_size = sizeof(thing_args);
        test_context("table %zu", i);
        refused(k, VALISE_E_INVALID, "`text` of its answer is content");
    }
    static const valise_case harmless[] = {{"a", &plain}, {NULL, NULL}};
    static const valise_union one = {"type", harmless, 0};
    static const valise_field fine[] = {
        {.name = "more", .help = "More.", .type = VALISE_T_UNION, .more = &one},
        VALISE_FIELD_END,
    };
    kit *k = kit_new(t);
    k->ops[0].out = fine;
    k->ops[0].out_size = sizeof(thing_args);
    k->ops[1].out = text_out; /* a query may */
    k->ops[1].out_size = sizeof(thing_args);
    CHECK_OK(add(k));
}

TEST(registry, wants_an_example_that_decodes)
{
    kit *k = kit_new(t);

    k->ops[0].example = NULL;
    refused(k, VALISE_E_INVALID, "takes arguments and has no example");
    k->ops[0].example = "{\"name\":";
    refused_at(k, "thing:add.example");
    k->ops[0].example = "{\"name\":7}";
    refused_at(k, "thing:add.example.name");
    k->ops[0].example = "{\"count\":7}";
    refused_at(k, "thing:add.example.name");
    k->ops[0].example = "{\"name\":\"a\",\"other\":7}";
    CHECK_RC(VALISE_E_INVALID, add(k));
    k = kit_new(t);
    k->ops[1].example = "{\"name\":\"a\"}"; /* it takes no arguments */
    CHECK_RC(VALISE_E_INVALID, add(k));
    k->ops[1].example = "{}";
    CHECK_OK(add(k));
}

/* ---- collections ---- */

TEST(registry, refuses_names_of_collections)
{
    static const char *const names[] = {NULL, "", "Thing", "1", "a-b", "a b", "a/b"};
    static const char *const foreign[] = {"thing",   "ext.",     "other.thing", "ext.1",
                                          "ext.a.b", "extthing", "ex.thing"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        kit *k = kit_new(t);
        k->coll.name = names[i];
        refused(k, VALISE_E_INVALID, "a name is lower-case");
    }
    for (size_t i = 0; i < VLS_COUNT(foreign); i++) {
        kit *k = kit_new(t);
        k->coll.name = foreign[i];
        refused(k, VALISE_E_INVALID, "those of the extension ext are named \"ext.thing\"");
    }
}

TEST(registry, refuses_areas_names_of_extensions_and_of_the_store)
{
    kit *k = kit_new(t);

    CHECK_RC(VALISE_E_INVALID, vls_registry_add(k->registry, &k->package, true, &t->err));
    CHECK(strstr(t->err.message, "only those of extensions have a '.'"));
    k->coll.name = "log";
    CHECK_RC(VALISE_E_EXISTS, vls_registry_add(k->registry, &k->package, true, &t->err));
    CHECK(strstr(t->err.message, "the store has a table of that name"));
    check_empty(k);
}

TEST(registry, refuses_two_collections_of_one_name)
{
    kit *k = kit_new(t);
    valise_coll twin = k->coll;
    const valise_coll *both[] = {&k->coll, &twin, NULL};

    k->package.collections = both;
    refused(k, VALISE_E_EXISTS, "collection ext.thing: the name is already in use");
}

TEST(registry, refuses_collections_that_make_no_sense)
{
    static const valise_field no_key[] = {
        VALISE_FIELD(thing_row, name, STR, 0, "Its name."),
        VALISE_FIELD_END,
    };
    static const valise_field none[] = {VALISE_FIELD_END};
    kit *k = kit_new(t);

    k->coll.help = "A thing";
    refused(k, VALISE_E_INVALID, "ends in a period");
    k->coll.help = NULL;
    refused(k, VALISE_E_INVALID, "ends in a period");
    k = kit_new(t);
    k->coll.fields = NULL;
    refused(k, VALISE_E_INVALID, "it needs a table");
    k = kit_new(t);
    k->coll.row_size = 0;
    refused(k, VALISE_E_INVALID, "it needs a table");
    k->coll.row_size = (size_t)1 << 20;
    refused(k, VALISE_E_INVALID, "it needs a table");
    k = kit_new(t);
    k->coll.fields = no_key;
    refused(k, VALISE_E_INVALID, "its first field must be a KEY");
    k->coll.fields = none;
    CHECK_RC(VALISE_E_INVALID, add(k));
    k = kit_new(t);
    k->coll.flags = 1u << 9;
    refused(k, VALISE_E_INVALID, "flags that this library does not know");
    k->coll.flags = VALISE_COLL_QUIET;
    refused(k, VALISE_E_INVALID, "QUIET is for IMMUTABLE");
    k->coll.flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE;
    CHECK_OK(add(k));
}

static int meet_nobody(valise_view *view, const void *here, const void *there, valise_error *err)
{
    (void)view, (void)here, (void)there, (void)err;
    return 0;
}

static int let_nothing_go(valise_view *view, const void *row, valise_error *err)
{
    (void)view, (void)row, (void)err;
    return 0;
}

TEST(registry, refuses_functions_that_nobody_would_call)
{
    kit *k = kit_new(t);

    k->coll.meet = meet_nobody;
    k->coll.flags = VALISE_COLL_EXEMPT;
    refused(k, VALISE_E_INVALID, "are in no bundle");
    k = kit_new(t);
    k->coll.erased = let_nothing_go;
    refused(k, VALISE_E_INVALID, "`erased` is for rows with CONTENT");
    k = kit_new(t);
    k->coll.meet = meet_nobody;
    CHECK_OK(add(k));
}

TEST(registry, refuses_indexes_that_make_no_sense)
{
    static const char *const unknown[] = {"colour", NULL};
    static const char *const nothing[] = {NULL};
    const char *many[70];
    kit *k = kit_new(t);

    k->indexes[0].fields = unknown;
    refused(k, VALISE_E_INVALID, "index by_count is over `colour`, which is not a field");
    k->indexes[0].fields = nothing;
    refused(k, VALISE_E_INVALID, "is over no field");
    k->indexes[0].fields = NULL;
    refused(k, VALISE_E_INVALID, "is over no field");
    for (size_t i = 0; i < VLS_COUNT(many); i++)
        many[i] = i + 1 < VLS_COUNT(many) ? "count" : NULL;
    k->indexes[0].fields = many;
    refused(k, VALISE_E_INVALID, "too many fields");
    k = kit_new(t);
    k->indexes[0].name = "By Count";
    refused(k, VALISE_E_INVALID, "is not a name for an index");
    k = kit_new(t);
    k->indexes[1] = k->indexes[0];
    refused(k, VALISE_E_INVALID, "two indexes by_count");
    k = kit_new(t);
    for (size_t i = 0; i < 17; i++)
        k->indexes[i] = (valise_coll_index){test_format("i%zu", i), over_count};
    refused(k, VALISE_E_INVALID, "over 16 indexes");
}

/* ---- middleware, indexers, processors ---- */

TEST(registry, refuses_middleware_that_does_nothing)
{
    kit *k = kit_new(t);

    k->middleware.before = NULL;
    refused(k, VALISE_E_INVALID, "neither before nor after");
    k->middleware.before = before;
    k->middleware.name = NULL;
    refused(k, VALISE_E_INVALID, "middleware \"\": a name is");
}

TEST(registry, refuses_indexers_that_follow_nothing)
{
    static const valise_coll stranger = {.size = sizeof(stranger), .name = "ext.stranger"};
    kit *k = kit_new(t);

    k->indexer.sources = NULL;
    refused(k, VALISE_E_INVALID, "follows 1 to 32 collections");
    k = kit_new(t);
    k->sources[0].coll = NULL;
    refused(k, VALISE_E_INVALID, "follows 1 to 32 collections");
    k->sources[0].coll = &stranger;
    refused(k, VALISE_E_INVALID, "no collection \"ext.stranger\" is known");
    k = kit_new(t);
    k->sources[0].map = NULL;
    refused(k, VALISE_E_INVALID, "it has no `map` for ext.thing");
    k = kit_new(t);
    k->indexer.name = "A";
    refused(k, VALISE_E_INVALID, "indexer \"A\"");
    k = kit_new(t);
    for (size_t i = 0; i < 33; i++)
        k->sources[i] = k->sources[0];
    refused(k, VALISE_E_INVALID, "follows 1 to 32 collections");
}

TEST(registry, refuses_processors_that_follow_nothing)
{
    kit *k = kit_new(t);

    k->processor.coll = NULL;
    refused(k, VALISE_E_INVALID, "processor counter: no collection \"\" is known");
    k = kit_new(t);
    k->processor.run = NULL;
    refused(k, VALISE_E_INVALID, "it has no `run`");
    k = kit_new(t);
    k->processor.name = "";
    refused(k, VALISE_E_INVALID, "processor \"\"");
}

static int add_once(fault *f, void *arg)
{
    kit *k = arg;
    vls_registry *registry = NULL;
    int rc = vls_registry_new(&registry, f->env, &f->err);

    if (rc == 0)
        rc = vls_registry_add(registry, &k->package, false, &f->err);
    if (registry && rc < 0)
        CHECK(!vls_registry_op(registry, VLS_STR("thing:add")));
    vls_registry_free(registry);
    return rc;
}

TEST(registry, without_memory)
{
    kit *k = kit_new(t);

    k->coll.size = offsetof(valise_coll, check);
    fault_each_alloc(t, 0, add_once, k);
    fault_each_alloc(t, FAULT_ONWARD, add_once, k);
}
