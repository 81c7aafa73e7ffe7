/* roles.c -- who may do what with the tree and with what is known about it: every operation of
 * both areas, as the registry has them, for every role and for grants that are narrowed. [C7] [Q24]
 *
 * An operation without a line here fails the test, so nobody adds one without saying who may. */
#include <sys/stat.h>

#include "base/hex.h"
#include "base/str.h"
#include "bus/registry.h"
#include "context/kit.h"
#include "engine/engine.h"

TEST_PARAMS(roles, "sqlite")

/* ---- who ---- */

static const struct {
    char who[2];
    const char *role, *capabilities; /* NULL: nobody admitted it */
} actors[] = {
    {"r", "reader", "[]"},
    {"w", "writer", "[]"},
    {"s", "synthesis", "[]"},
    {"o", "owner", "[]"},
    {"a", "none", "[\"admin\"]"},     /* actors are all that this is about */
    {"e", "none", "[\"pin:read\"]"},  /* known, and for something else */
    {"t", "none", "[\"tree:read\"]"}, /* sees files, and not what is known about them */
    {"p", "none", "[\"context:read path=src/**\",\"context:write type=summary path=src/**\"]"},
    {"y", "none", "[\"context:read type=summary\"]"},
    {"g", "owner", NULL}, /* it was there, and is gone */
    {"x", NULL, NULL},    /* nobody knows it */
};

#define PUT(node_, type_)                                                                          \
    "{\"node\":\"" node_ "\",\"type\":\"" type_ "\",\"content\":\"YQ==\",\"noScan\":true}"
#define OF(node_, type_) "{\"node\":\"" node_ "\",\"type\":\"" type_ "\"}"
#define UUID "00000000-0000-7000-8000-000000000001"
#define ONE "0000000000000000000000000000000000000000000000000000000000000001"

/* $F stands for the id of a frame about src/a.c of the type summary. */
static const struct {
    const char *op, *payload;
    const char *may; /* the actors that are not denied */
} matrix[] = {
    {"checkpoint:diff", "{\"checkpoint\":\"one\"}", "rwsot"},
    {"checkpoint:drop", "{\"tree\":\"" UUID "\",\"name\":\"one\"}", ""},
    {"checkpoint:forget", "{\"state\":\"" ONE "\",\"hashes\":[\"" ONE "\"]}", ""},
    {"checkpoint:list", "{}", "rwsot"},
    {"checkpoint:make",
     "{\"tree\":\"" UUID "\",\"root\":\"" ONE "\",\"version\":1,\"name\":\"x\",\"partial\":true,"
     "\"manifest\":\"dmFsaXNlIG1hbmlmZXN0IDEKAQ==\"}",
     ""},
    {"checkpoint:remove", "{\"checkpoint\":\"none\"}", "o"},
    {"checkpoint:show", "{\"checkpoint\":\"one\"}", "rwsot"},
    {"checkpoint:store", "{\"contents\":[{\"hash\":\"" ONE "\",\"data\":\"YQ==\",\"size\":1}]}",
     ""},
    {"context:regenerate", "{\"node\":\"src\",\"noScan\":true}", "so"},
    {"context:synthesize", "{\"node\":\"src\",\"noScan\":true,\"output\":\"made\"}", "so"},
    {"context:prune", "{\"dryRun\":true,\"versions\":1}", "oa"},
    {"context:report", "{}", "rwsopy"},
    {"context:report", "{\"path\":\"README\"}", "rwsoy"},
    {"frame:list", OF("src/a.c", "summary"), "rwsopy"},
    {"frame:list", OF("src/a.c", "notes"), "rwsop"},
    {"frame:list", OF("README", "summary"), "rwsoy"},
    {"frame:list", "{\"node\":\"src/a.c\"}", "rwsopy"},
    {"frame:proof", OF("src/a.c", "summary"), "rwsopy"},
    {"frame:proof", OF("README", "summary"), "rwsoy"},
    {"frame:put", PUT("src/a.c", "summary"), "wsop"},
    {"frame:put", PUT("./src//a.c", "summary"), "wsop"},
    {"frame:put", PUT("src/a.c", "notes"), "wso"},
    {"frame:put", PUT("README", "summary"), "wso"},
    {"frame:put", PUT("src/../README", "summary"), "wso"},
    {"frame:show", "{\"frame\":\"$F\"}", "rwsopy"},
    {"frame:store",
     "{\"agent\":\"o\",\"basis\":\"\",\"content\":\"\",\"recipe\":\"ZGVyaXZlZAp7fQ==\","
     "\"type\":\"summary\"}",
     ""},
    {"frame:verify", "{\"root\":\"" ONE "\",\"key\":\"" ONE "\",\"proof\":\"AA==\"}",
     "rwsoaetpygx"},
    {"head:get", OF("src/a.c", "summary"), "rwsopy"},
    {"head:get", OF("src/a.c", "notes"), "rwsop"},
    {"head:get", OF("README", "summary"), "rwsoy"},
    {"node:compose", "{\"node\":\"src/a.c\"}", "rwsopy"},
    {"node:compose", "{\"node\":\"README\"}", "rwsoy"},
    {"node:compose", "{\"node\":\"src/a.c\",\"related\":[\"README\"]}", "rwsoy"},
    {"node:get", "{\"node\":\"src/a.c\"}", "rwsopy"},
    {"node:get", "{\"node\":\"README\"}", "rwsoy"},
    {"orphans:retain", "{\"age\":\"90d\"}", ""},
    {"slot:advance", "{\"heads\":[],\"looks\":[]}", ""},
    {"slot:drop", "{\"slots\":[{\"id\":\"" UUID "\",\"path\":\"README\",\"type\":\"summary\"}]}",
     ""},
    {"slot:invalidate", OF("src/a.c", "summary"), "wso"},
    {"slot:mark",
     "{\"count\":1,\"fromPath\":\"src/a.c\",\"fromType\":\"summary\",\"path\":\"src\"}", ""},
    {"slot:move", "{\"moves\":[{\"from\":\"README\",\"to\":\"src\"}]}", ""},
    {"slot:reaffirm", OF("src/a.c", "summary"), "wsop"},
    {"slot:reaffirm", OF("README", "summary"), "wso"},
    {"tree:check-ignore", "{\"paths\":[\"a.o\"]}", "rwsot"},
    {"tree:checkpoint", "{\"dryRun\":true}", "wo"},
    {"tree:commit", "{\"base\":1,\"object\":\"" ONE "\"}", ""},
    {"tree:diff", "{\"from\":\"v1\",\"patch\":true}", "rwsopy"},
    {"tree:expire", "{\"edge\":1}", ""},
    {"tree:list", "{}", "rwsot"},
    {"tree:ls", "{\"path\":\"src\"}", "rwsot"},
    {"tree:record", "{\"base\":1,\"changes\":\"dmFsaXNlIGNoYW5nZXMgMQo=\"}", ""},
    {"tree:retain", "{\"keepLatest\":1}", ""},
    {"tree:restore", "{\"checkpoint\":\"one\",\"dryRun\":true}", "o"},
    {"tree:scan", "{}", "wo"},
    {"tree:sweep", "{\"edge\":1,\"from\":0}", ""},
};

/* ---- the workspace ---- */

static const char *in_yard(const char *name)
{
    return test_format("%s/yard/%s", test_tmpdir(), name);
}

static void admit_all(yard *y)
{
    for (size_t i = 0; i < VLS_COUNT(actors); i++) {
        const char *also = actors[i].capabilities ? actors[i].capabilities : "[]";
        if (!actors[i].role)
            continue;
        if (strchr("rws", actors[i].who[0])) /* the yard has them */
            continue;
        (void)yard_run(y, "agent:add",
                       test_format("{\"id\":\"%s\",\"role\":\"%s\",\"capabilities\":%s}",
                                   actors[i].who, actors[i].role, also));
        if (!actors[i].capabilities)
            (void)yard_run(y, "agent:remove", test_format("{\"id\":\"%s\"}", actors[i].who));
    }
}

/* With files, scanned, and a frame in three slots; the id of the one that matters. */
static yard *open_yard(test *t, const char **frame)
{
    yard *y = yard_open(t);

    admit_all(y);
    CHECK_INT(0, mkdir(in_yard("src"), 0700));
    test_write_file(in_yard("src/a.c"), VLS_STR("1"));
    test_write_file(in_yard("README"), VLS_STR("2"));
    (void)yard_run(y, "tree:checkpoint", "{\"name\":\"one\"}");
    (void)yard_put(y, NULL, "README", "summary", "one", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "two", "");
    *frame = yard_member(y, yard_put(y, NULL, "src/a.c", "summary", "three", ""), "frameId");
    return y;
}

static const char *filled(const char *payload, const char *frame)
{
    const char *at = strstr(payload, "$F");

    return at ? test_format("%.*s%s%s", (int)(at - payload), payload, frame, at + 2) : payload;
}

static const valise_op *const *ops_of(yard *y)
{
    return vls_registry_ops(vls_engine_of(y->v)->registry);
}

/* What lets go of things for good is for who may administer. */
static bool is_pruning(const valise_op *op)
{
    static const char *const names[] = {"context:prune", "orphans:retain", "slot:drop",
                                        "tree:expire",   "tree:retain",    "tree:sweep"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        if (strcmp(op->name, names[i]) == 0)
            return strcmp(op->needs, "admin") == 0;
    }
    return false;
}

/* Of the tree or the context: by what it needs, or because others of its noun are. */
static bool is_ours(const valise_op *const *ops, const valise_op *op)
{
    valise_str noun, other, rest;

    if (op->needs)
        return strncmp(op->needs, "tree:", 5) == 0 || strncmp(op->needs, "context:", 8) == 0 ||
               is_pruning(op);
    (void)vls_str_cut(&noun, &rest, valise_str_of(op->name), ':');
    for (; *ops; ops++) {
        (void)vls_str_cut(&other, &rest, valise_str_of((*ops)->name), ':');
        if ((*ops)->needs && is_ours(ops, *ops) && vls_str_equal(noun, other))
            return true;
    }
    return false;
}

/* ---- the matrix ---- */

/* Every operation has a line, and every line an operation. */
TEST(roles, every_operation_is_in_the_matrix)
{
    yard *y = yard_open(t);
    size_t found = 0, named = 0;

    for (const valise_op *const *op = ops_of(y); *op; op++) {
        bool there = false;
        for (size_t i = 0; i < VLS_COUNT(matrix); i++)
            there = there || strcmp(matrix[i].op, (*op)->name) == 0;
        CHECK_MSG(there == is_ours(ops_of(y), *op), "%s: who may?", (*op)->name);
        found += there;
    }
    for (size_t i = 0; i < VLS_COUNT(matrix); i++)
        named += i == 0 || strcmp(matrix[i].op, matrix[i - 1].op) != 0;
    CHECK_INT((int64_t)named, (int64_t)found);
}

/* "Agent identity verified on all write operations", and on all others. Who is denied has changed
 * nothing, and who reads neither. */
TEST(roles, every_operation_for_every_actor)
{
    const char *frame, *before, *after;
    yard *y = open_yard(t, &frame);
    size_t denied = 0;

    for (size_t i = 0; i < VLS_COUNT(matrix); i++) {
        for (size_t k = 0; k < VLS_COUNT(actors); k++) {
            bool may = strchr(matrix[i].may, actors[k].who[0]) != NULL;
            bool writes = strcmp(matrix[i].op, "frame:put") == 0 ||
                          vls_str_starts(valise_str_of(matrix[i].op), VLS_STR("slot:")) ||
                          vls_str_starts(valise_str_of(matrix[i].op), VLS_STR("context:"));
            int rc;
            before = yard_run(y, "workspace:hash", NULL);
            rc = yard_try(y, actors[k].who, matrix[i].op, filled(matrix[i].payload, frame), NULL);
            test_context("%s %s as %s: %d %s", matrix[i].op, matrix[i].payload, actors[k].who, rc,
                         t->err.message);
            CHECK((rc == VALISE_E_DENIED) == !may);
            /* The proof that everybody may have checked is a bad one, and what is removed is not
             * there. */
            CHECK_INT(!may                             ? VALISE_E_DENIED
                      : strstr(matrix[i].op, "verify") ? VALISE_E_CORRUPT
                      : strstr(matrix[i].op, "remove") ? VALISE_E_NOT_FOUND
                                                       : 0,
                      rc);
            after = yard_run(y, "workspace:hash", NULL);
            if (!may || !writes)
                CHECK_TEXT(before, after);
            denied += !may;
        }
    }
    test_context_end();
    test_note("%zu lines, %zu actors, %zu times denied", VLS_COUNT(matrix), VLS_COUNT(actors),
              denied);
    yard_check(y);
}

/* Who is denied learns who it is, what it lacks and what gives it. */
TEST(roles, a_denial_says_what_is_missing)
{
    const char *frame;
    yard *y = open_yard(t, &frame);

    CHECK_INT(VALISE_E_DENIED, yard_try(y, "r", "frame:put", PUT("README", "summary"), NULL));
    CHECK_MSG(strstr(t->err.message, "context:write") && strstr(t->err.message, "r"), "%s",
              t->err.message);
    CHECK(t->err.hint[0]);
    CHECK_INT(VALISE_E_DENIED, yard_try(y, "x", "frame:put", PUT("README", "summary"), NULL));
    CHECK_MSG(strstr(t->err.message, "x"), "%s", t->err.message);
    CHECK(t->err.hint[0]);
    /* The same for what is there and for what is not: a denial tells nothing about the tree. */
    CHECK_INT(VALISE_E_DENIED, yard_try(y, "e", "node:get", "{\"node\":\"nothing\"}", NULL));
    CHECK_INT(VALISE_E_DENIED, yard_try(y, "p", "head:get", OF("nothing", "notes"), NULL));
}

/* "role and explicit grants that contradict each other are refused", through the operation. */
TEST(roles, grants_that_contradict_the_role_are_refused)
{
    static const char *const bad[] = {
        "{\"id\":\"n\",\"role\":\"reader\",\"capabilities\":[\"context:write\"]}",
        "{\"id\":\"n\",\"role\":\"reader\",\"capabilities\":[\"tree:write\"]}",
        "{\"id\":\"n\",\"role\":\"reader\",\"capabilities\":[\"context:synthesize\"]}",
        "{\"id\":\"n\",\"role\":\"synthesis\",\"capabilities\":[\"context:write type=a\"]}",
        "{\"id\":\"n\",\"role\":\"writer\",\"capabilities\":[\"context:read path=src/**\"]}",
    };
    yard *y = yard_open(t);

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("%s", bad[i]);
        CHECK_INT(VALISE_E_INVALID, yard_try(y, NULL, "agent:add", bad[i], NULL));
    }
    CHECK_INT(VALISE_E_NOT_FOUND, yard_try(y, NULL, "agent:show", "{\"id\":\"n\"}", NULL));
}

/* ---- narrowed ---- */

static const struct {
    const char *grant;
    const char *may; /* of the puts below: one letter each */
} narrowed[] = {
    {"context:write", "abcdef"},
    {"context:write type=summary", "ace"},
    {"context:write type=s*", "ace"},
    {"context:write type=no*s", "bdf"},
    {"context:write path=src/*", "ab"},
    {"context:write path=src/**", "abcd"},
    {"context:write path=**/a.c", "abcd"},
    {"context:write path=*", "ef"},
    {"context:write path=README type=notes", "f"},
    {"context:write type=summary path=src/lib/*", "c"},
    {"context:write node=src/a.c", ""}, /* conditions ask for paths, however they are written */
    {"context:* path=src/lib/**", "cd"},
    {"*:write path=src/lib/**", "cd"},
    {"context:read", ""},
    {"tree:write", ""},
};

static const struct {
    char letter;
    const char *node, *type;
} puts_[] = {{'a', "src/a.c", "summary"},     {'b', "src/a.c", "notes"},
             {'c', "src/lib/a.c", "summary"}, {'d', "src/lib/a.c", "notes"},
             {'e', "README", "summary"},      {'f', "README", "notes"}};

/* By path, by another spelling of it, by id: the grant asks for where it is. */
TEST(roles, grants_are_narrowed_by_type_and_path)
{
    yard *y = yard_open(t);

    yard_grow(y, "src/a.c=1 src/lib/a.c=2 README=3", "");
    for (size_t i = 0; i < VLS_COUNT(narrowed); i++) {
        const char *who = test_format("n%zu", i);
        (void)yard_run(y, "agent:add",
                       test_format("{\"id\":\"%s\",\"role\":\"none\",\"capabilities\":[\"%s\"]}",
                                   who, narrowed[i].grant));
        for (size_t k = 0; k < VLS_COUNT(puts_); k++) {
            bool may = strchr(narrowed[i].may, puts_[k].letter) != NULL;
            const char *const nodes[] = {
                puts_[k].node, test_format("./src/../%s", puts_[k].node),
                test_format("%s", vls_id_hex(&grove_get(&y->state, puts_[k].node)->id).s)};
            for (size_t n = 0; n < VLS_COUNT(nodes); n++) {
                int rc = yard_try_put(y, who, nodes[n], puts_[k].type, nodes[n], "");
                test_context("%s: %s of %s: %d %s", narrowed[i].grant, puts_[k].type, nodes[n], rc,
                             t->err.message);
                CHECK_INT(may ? 0 : VALISE_E_DENIED, rc);
            }
        }
    }
}

/* ---- files that changed ---- */

/* A put by path records what lies there now: that belongs to it, and needs no right of its own.
 * Who may not put does not make the tree look. [C10] */
TEST(roles, who_may_put_may_see_what_changed)
{
    static const char put[] = "{\"node\":\"src/a.c\",\"type\":\"summary\",\"content\":\"YQ==\"}";
    static const char *const may[] = {"w", "s", "o", "p"}, *const not_[] = {"r", "e", "y", "x"};
    const char *frame, *before;
    yard *y = open_yard(t, &frame);

    for (size_t i = 0; i < VLS_COUNT(may); i++) {
        test_write_file(in_yard("src/a.c"), valise_str_of(test_format("for %s %zu", may[i], i)));
        test_context("as %s: %s", may[i], t->err.message);
        CHECK_INT(0, yard_try(y, may[i], "frame:put", put, NULL));
        CHECK_TEXT("fresh", yard_state(y, "src/a.c", "summary"));
    }
    test_write_file(in_yard("src/a.c"), VLS_STR("once more"));
    before = yard_run(y, "workspace:hash", NULL);
    for (size_t i = 0; i < VLS_COUNT(not_); i++) {
        test_context("as %s", not_[i]);
        CHECK_INT(VALISE_E_DENIED, yard_try(y, not_[i], "frame:put", put, NULL));
        CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
    }
    /* Where a grant does not reach, nothing is recorded either. */
    test_write_file(in_yard("README"), VLS_STR("changed"));
    CHECK_INT(VALISE_E_DENIED,
              yard_try(y, "p", "frame:put", "{\"node\":\"README\",\"content\":\"YQ==\"}", NULL));
    CHECK_TEXT(before, yard_run(y, "workspace:hash", NULL));
}
