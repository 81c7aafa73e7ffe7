/* api.c -- synthesis, regeneration, marks and reports through the public C functions: what they
 * answer, what they refuse, and every allocation that fails. [C15] [C21] [C24] [C28] */
#include <valise/derive.h>

#include "base/hex.h"
#include "base/str.h"
#include "context/kit.h"
#include "harness/fault.h"

TEST_PARAMS(derive_api, "memory", "sqlite")

#define TREE "a.c=1 src/x.c=1 src/y.c=2 src/sub/z.c=3"

static const valise_id none;

static void notes(yard *y)
{
    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/x.c", "notes", "about x", "");
    (void)yard_put(y, "w", "src/sub/z.c", "notes", "about z", "");
}

static valise_call as(const char *actor)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = valise_str_of(actor);
    return call;
}

static void free_derived(void *arg)
{
    valise_derived_free(arg);
}

static const valise_derived *synthesize(yard *y, const char *node, unsigned flags)
{
    test *t = y->t;
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_derived *made = NULL;
    valise_call call = as("s");

    o.flags = flags | VALISE_DERIVE_NO_SCAN;
    CHECK_OK(valise_synthesize(&made, y->v, node, &o, &call, &t->err));
    test_defer(free_derived, made);
    return made;
}

static const valise_derived *regenerate(yard *y, const char *node, unsigned flags, int64_t up)
{
    test *t = y->t;
    valise_regenerate_options o = VALISE_REGENERATE_OPTIONS_INIT;
    valise_derived *made = NULL;

    o.flags = flags | VALISE_DERIVE_NO_SCAN;
    o.up = up;
    CHECK_OK(valise_regenerate(&made, y->v, node, &o, NULL, &t->err));
    test_defer(free_derived, made);
    return made;
}

/* "src made, . unchanged" */
static const char *told(const valise_derived *made)
{
    static const char *const outcomes[] = {"made",    "unchanged", "needs-author", "needs-run",
                                           "unknown", "orphaned",  "out-of-scope", "missing",
                                           "failed",  "stale"};
    const char *all = "";

    for (size_t i = 0; i < made->count; i++) {
        const valise_derived_slot *s = made->items[i];
        all =
            test_format("%s%s%.*s %s", all, i ? ", " : "",
                        VALISE_STR_ARG(s->path.len ? s->path : VLS_STR(".")), outcomes[s->outcome]);
    }
    return all;
}

static const char *head(yard *y, const char *node)
{
    return yard_member(
        y, yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"notes\"}", node)),
        "items.0.frameId");
}

TEST(derive_api, synthesis_and_regeneration)
{
    yard *y = yard_open(t);
    const valise_derived *made, *again;

    notes(y);
    made = synthesize(y, ".", VALISE_DERIVE_RECURSIVE);
    CHECK_TEXT("src/sub made, src made, . made, src/y.c missing, a.c missing", told(made));
    CHECK_INT(3, made->made);
    CHECK_INT(0, made->unchanged);
    CHECK_INT(2, made->missing); /* a.c and src/y.c */
    CHECK_TEXT(head(y, "."), vls_id_hex(&made->frame).s);
    CHECK(vls_id_equal(&made->frame, &made->items[2]->after));
    CHECK(vls_id_equal(&none, &made->items[2]->before) && !made->items[2]->why.ptr);
    CHECK_STR(VLS_STR("notes"), made->items[0]->type);
    again = synthesize(y, ".", VALISE_DERIVE_RECURSIVE);
    CHECK_TEXT("src/sub unchanged, src unchanged, . unchanged, src/y.c missing, a.c missing",
               told(again));
    CHECK(vls_id_equal(&made->frame, &again->frame)); /* it is told all the same */
    CHECK(vls_id_equal(&made->context_root, &again->context_root));

    (void)yard_put(y, "w", "src/sub/z.c", "notes", "more about z", "");
    again = regenerate(y, "src/sub", VALISE_DERIVE_DRY_RUN, 0);
    CHECK_INT(1, again->made);
    CHECK_INT(1, again->out_of_scope);
    CHECK_TEXT(vls_id_hex(&made->items[0]->after).s, head(y, "src/sub")); /* nothing was written */
    again = regenerate(y, "src/sub", 0, 1);
    CHECK_TEXT("src/sub made, src made, . out-of-scope, src/y.c missing", told(again));
    CHECK(vls_id_equal(&made->items[0]->after, &again->items[0]->before));
    CHECK(vls_id_equal(&none, &again->frame)); /* it is nobody's in particular */
    CHECK_INT(1, regenerate(y, ".", VALISE_DERIVE_RECURSIVE, 0)->made);
    CHECK_INT(0, regenerate(y, ".", VALISE_DERIVE_RECURSIVE, 0)->made);
    yard_check(y);
}

/* The functions and JSON are one and the same. */
TEST(derive_api, the_same_as_json_says)
{
    yard *y = yard_open(t);
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_derived *made = NULL;
    const char *json;

    notes(y);
    (void)yard_put(y, "w", "src/y.c", "todo.now", "do y", "");
    json =
        yard_run(y, "context:synthesize",
                 "{\"node\":\"src\",\"noScan\":true,\"dryRun\":true,\"type\":\"todo.*\","
                 "\"output\":\"todo\",\"policy\":\"filtering\",\"params\":{\"budget\":512},"
                 "\"name\":\"*.c\",\"byAgent\":\"w\",\"maxSize\":100,\"limit\":2,\"fresh\":true}");
    o.flags = VALISE_DERIVE_NO_SCAN | VALISE_DERIVE_DRY_RUN | VALISE_DERIVE_FRESH;
    o.type = VLS_STR("todo.*");
    o.output = VLS_STR("todo");
    o.policy = VLS_STR("filtering");
    o.params = VLS_STR(" { \"budget\" : 512 } ");
    o.name = VLS_STR("*.c");
    o.by_agent = VLS_STR("w");
    o.max_size = 100;
    o.limit = 2;
    CHECK_OK(valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    test_defer(free_derived, made);
    CHECK_TEXT(yard_member(y, json, "frameId"), vls_id_hex(&made->frame).s);
    CHECK_TEXT(yard_member(y, json, "slots.0.after"), vls_id_hex(&made->frame).s);
    CHECK_TEXT("1", yard_member(y, json, "made"));
    CHECK_INT(1, made->made);
    CHECK_STR(VLS_STR("todo"), made->items[0]->type);
    /* Each of these decides. */
    o.limit = 1;
    o.params = VLS_STR("{\"budget\":300}");
    valise_derived_free(NULL);
    {
        valise_derived *other = NULL;
        CHECK_OK(valise_synthesize(&other, y->v, "src", &o, NULL, &t->err));
        CHECK(!vls_id_equal(&made->frame, &other->frame));
        valise_derived_free(other);
    }
}

TEST(derive_api, what_synthesis_refuses)
{
    yard *y = yard_open(t);
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_regenerate_options ro = VALISE_REGENERATE_OPTIONS_INIT;
    valise_derived *made = (valise_derived *)y; /* stays as it is */
    valise_call reader = as("r");

    notes(y);
    (void)yard_put(y, "w", "src", "notes", "by hand", "");
    o.flags = VALISE_DERIVE_NO_SCAN;
    CHECK_RC(VALISE_E_CONFLICT, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    o.flags = VALISE_DERIVE_NO_SCAN | VALISE_DERIVE_STRICT | VALISE_DERIVE_REPLACE;
    CHECK_RC(VALISE_E_CONFLICT, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_synthesize(&made, y->v, "src", NULL, &reader, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_regenerate(&made, y->v, "src", NULL, &reader, &t->err));
    o.flags = VALISE_DERIVE_NO_SCAN;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_synthesize(&made, y->v, "nowhere", &o, NULL, &t->err));
    o.policy = VLS_STR("magic");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    o.policy = VLS_STR("");
    o.params = VLS_STR("{");
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    CHECK_TEXT("params", t->err.path);
    o.params = VLS_STR("");
    o.flags = VALISE_DERIVE_RUN;
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    o.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, NULL, "src", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, NULL, NULL, NULL, &t->err));
    o = (valise_synthesize_options)VALISE_SYNTHESIZE_OPTIONS_INIT;
    o.flags = VALISE_DERIVE_NO_SCAN;
    o.program = VLS_STR("/bin/true"); /* nobody trusts it */
    CHECK_RC(VALISE_E_DENIED, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    o.policy = VLS_STR("filtering");
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    o.policy = o.program = VLS_STR("");
    o.flags |= VALISE_DERIVE_VERIFY;
    CHECK_RC(VALISE_E_INVALID, valise_synthesize(&made, y->v, "src", &o, NULL, &t->err));
    ro.flags = VALISE_DERIVE_STRICT;
    CHECK_RC(VALISE_E_INVALID, valise_regenerate(&made, y->v, "src", &ro, NULL, &t->err));
    ro.flags = 0;
    ro.up = -1;
    CHECK_RC(VALISE_E_INVALID, valise_regenerate(&made, y->v, "src", &ro, NULL, &t->err));
    ro.size = 0;
    CHECK_RC(VALISE_E_INVALID, valise_regenerate(&made, y->v, "src", &ro, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_regenerate(&made, y->v, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_regenerate(&made, NULL, "src", NULL, NULL, &t->err));
    CHECK(made == (valise_derived *)y);
    o = (valise_synthesize_options)VALISE_SYNTHESIZE_OPTIONS_INIT;
    o.flags = VALISE_DERIVE_NO_SCAN | VALISE_DERIVE_REPLACE;
    CHECK_OK(valise_synthesize(NULL, y->v, "src", &o, NULL, &t->err)); /* nobody wants to know */
    CHECK_OK(valise_regenerate(NULL, y->v, ".", NULL, NULL, &t->err));
}

/* ---- marks ---- */

TEST(derive_api, marks_come_and_go)
{
    yard *y = yard_open(t);
    valise_invalidate_options o = VALISE_INVALIDATE_OPTIONS_INIT;
    valise_invalidated marked = VALISE_INVALIDATED_INIT;
    valise_reaffirmed back = VALISE_REAFFIRMED_INIT;
    const char *before;

    notes(y);
    (void)yard_put(y, "w", "src/x.c", "todo", "do x", "");
    before = head(y, "src/x.c");
    o.flags = VALISE_DERIVE_NO_SCAN;
    o.type = VLS_STR("todo");
    o.reason = VLS_STR("done");
    CHECK_OK(valise_invalidate(&marked, y->v, "src/x.c", &o, NULL, &t->err));
    CHECK_INT(1, marked.marked);
    CHECK_INT(0, marked.already);
    CHECK_TEXT("invalidated", yard_state(y, "src/x.c", "todo"));
    CHECK_TEXT("fresh", yard_state(y, "src/x.c", "notes"));
    o = (valise_invalidate_options)VALISE_INVALIDATE_OPTIONS_INIT;
    o.flags = VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_NO_SCAN;
    CHECK_OK(valise_invalidate(&marked, y->v, "src", &o, NULL, &t->err));
    CHECK_INT(2, marked.marked);
    CHECK_INT(1, marked.already);
    CHECK_OK(valise_invalidate(NULL, y->v, "src/x.c", &o, NULL, &t->err));

    CHECK_OK(valise_reaffirm(&back, y->v, "src/x.c", NULL, VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    CHECK(back.changed && vls_id_equal(&back.frame, &back.previous_head)); /* only the mark goes */
    CHECK_TEXT(before, vls_id_hex(&back.frame).s);
    CHECK(!vls_id_equal(&marked.context_root, &back.context_root));
    CHECK_OK(valise_reaffirm(&back, y->v, "src/x.c", NULL, VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    CHECK(!back.changed);
    yard_grow(y, "a.c=1 src/x.c=22 src/y.c=2 src/sub/z.c=3", "");
    CHECK_TEXT("stale node-changed", yard_state(y, "src/x.c", "notes"));
    CHECK_OK(
        valise_reaffirm(&back, y->v, "src/x.c", "notes", VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    CHECK(back.changed && !vls_id_equal(&back.frame, &back.previous_head));
    CHECK_TEXT("fresh", yard_state(y, "src/x.c", "notes"));
    CHECK_OK(valise_reaffirm(NULL, y->v, "src/x.c", "todo", VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    yard_check(y);
}

TEST(derive_api, what_marks_refuse)
{
    yard *y = yard_open(t);
    valise_invalidate_options o = VALISE_INVALIDATE_OPTIONS_INIT;
    valise_invalidated marked = VALISE_INVALIDATED_INIT;
    valise_reaffirmed back = VALISE_REAFFIRMED_INIT;
    valise_call reader = as("r");

    notes(y);
    (void)synthesize(y, "src/sub", 0);
    (void)yard_put(y, "w", "src/sub/z.c", "notes", "more about z", "");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_reaffirm(&back, y->v, "src/sub", NULL, VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_reaffirm(&back, y->v, "a.c", NULL, VALISE_DERIVE_NO_SCAN, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_reaffirm(&back, y->v, "src/x.c", NULL, VALISE_DERIVE_NO_SCAN,
                                              &reader, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_reaffirm(&back, y->v, "src/x.c", NULL, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_reaffirm(&back, y->v, NULL, NULL, 0, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_reaffirm(&back, NULL, "a.c", NULL, 0, NULL, &t->err));
    CHECK(vls_id_equal(&none, &back.frame) && !back.changed);
    back.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_reaffirm(&back, y->v, "src/x.c", NULL, 0, NULL, &t->err));

    CHECK_RC(VALISE_E_NOT_FOUND, valise_invalidate(&marked, y->v, "a.c", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_invalidate(&marked, y->v, "src/x.c", NULL, &reader, &t->err));
    o.flags = VALISE_DERIVE_REPLACE;
    CHECK_RC(VALISE_E_INVALID, valise_invalidate(&marked, y->v, "src/x.c", &o, NULL, &t->err));
    o.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_invalidate(&marked, y->v, "src/x.c", &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_invalidate(&marked, NULL, "src/x.c", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_invalidate(&marked, y->v, NULL, NULL, NULL, &t->err));
    CHECK_INT(0, marked.marked);
    marked.size = 8;
    CHECK_RC(VALISE_E_INVALID, valise_invalidate(&marked, y->v, "src/x.c", NULL, NULL, &t->err));
}

/* ---- reports ---- */

static void free_report(void *arg)
{
    valise_report_free(arg);
}

TEST(derive_api, reports)
{
    yard *y = yard_open(t);
    valise_report_options o = VALISE_REPORT_OPTIONS_INIT;
    valise_invalidate_options mark = VALISE_INVALIDATE_OPTIONS_INIT;
    valise_report *report = NULL, *small = NULL, *untouched = (valise_report *)y;
    const char *json;

    notes(y);
    (void)yard_put(y, NULL, "src/y.c", "todo", "x", "");
    (void)synthesize(y, "src", VALISE_DERIVE_RECURSIVE);
    mark.flags = VALISE_DERIVE_NO_SCAN;
    CHECK_OK(valise_invalidate(NULL, y->v, "src/sub/z.c", &mark, NULL, &t->err));
    yard_grow(y, "a.c=1 src/x.c=22 src/sub/z.c=3", "");
    o.fail_on = VALISE_REPORT_ORPHANED | VALISE_REPORT_NEEDS_AUTHOR;
    o.format = VALISE_REPORT_MARKDOWN;
    CHECK_OK(valise_context_report(&report, y->v, NULL, &o, NULL, &t->err));
    test_defer(free_report, report);
    json = yard_run(y, "context:report", "{\"format\":\"markdown\"}");
    CHECK_TEXT(yard_member(y, json, "heads"), test_format("%lld", (long long)report->heads));
    CHECK_TEXT(yard_member(y, json, "fresh"), test_format("%lld", (long long)report->fresh));
    CHECK_TEXT(yard_member(y, json, "coveredFiles"),
               test_format("%lld", (long long)report->covered_files));
    CHECK_TEXT(yard_member(y, json, "coveredDirs"),
               test_format("%lld", (long long)report->covered_dirs));
    CHECK_TEXT(yard_member(y, json, "contextRoot"), vls_id_hex(&report->context_root).s);
    CHECK_TEXT(yard_member(y, json, "treeRoot"), vls_id_hex(&report->tree_root).s);
    CHECK_STR(valise_str_of(yard_member(y, json, "document")), report->document);
    CHECK_INT(3, report->files);
    CHECK_INT(3, report->dirs);
    CHECK(report->failed);
    CHECK_INT(1, report->orphaned.count);
    CHECK_STR(VLS_STR("src/y.c"), report->orphaned.first[0].path);
    CHECK_STR(VLS_STR("todo"), report->orphaned.first[0].type);
    CHECK_INT(VALISE_STATE_ORPHANED, report->orphaned.first[0].state);
    CHECK_INT(1, report->invalidated.count);
    CHECK_STR(VLS_STR("src/sub/z.c"), report->invalidated.first[0].path);
    CHECK_INT(2, report->needs_author.count);
    CHECK(report->stale.count > 0 && report->stale.first_count == (size_t)report->stale.count);
    CHECK_INT(2, report->type_count);
    CHECK_STR(VLS_STR("notes"), report->types[0].name);
    CHECK_INT(report->heads, report->types[0].heads + report->types[1].heads);
    CHECK_INT(1, report->types[1].orphaned);
    CHECK_INT(3, report->agent_count);
    o.fail_on = VALISE_REPORT_ORPHANED;
    o.format = VALISE_REPORT_JUNIT;
    CHECK_OK(valise_context_report(&small, y->v, "src/sub", &o, NULL, &t->err));
    CHECK(!small->failed && vls_str_starts(small->document, VLS_STR("<?xml")));
    valise_report_free(small);

    o.format = VALISE_REPORT_TEXT;
    CHECK_OK(valise_context_report(&small, y->v, "src/x.c", &o, NULL, &t->err));
    CHECK(!small->failed && small->stale.count == 1 && !small->document.ptr);
    valise_report_free(small);

    o.format = 9;
    CHECK_RC(VALISE_E_INVALID, valise_context_report(&untouched, y->v, NULL, &o, NULL, &t->err));
    o.format = 0;
    o.fail_on = 32;
    CHECK_RC(VALISE_E_INVALID, valise_context_report(&untouched, y->v, NULL, &o, NULL, &t->err));
    o.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_context_report(&untouched, y->v, NULL, &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_context_report(NULL, y->v, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_context_report(&untouched, NULL, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_context_report(&untouched, y->v, "nowhere", NULL, NULL, &t->err));
    CHECK(untouched == (valise_report *)y);
    valise_report_free(NULL);
}

/* ---- without memory ---- */

/* A folder with a frame about a file, a synthesis of it and one change since. */
static int all_of_it(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_synthesize_options how = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_report *report = NULL;
    valise_derived *made = NULL;
    valise *v = NULL;
    int deed = *(int *)arg, rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_INT(0, valise_open(&v, test_format("%s/ws", f->dir), &o, &f->err));
    test_write_file(test_format("%s/ws/a", f->dir), VLS_STR("1"));
    CHECK_INT(0, valise_tree_scan(NULL, v, NULL, NULL, &f->err));
    CHECK_INT(0, valise_frame_put(NULL, v, "a", VLS_STR("one"), NULL, NULL, &f->err));
    how.params = VLS_STR("{\"budget\": 1000}");
    if (deed > 0)
        CHECK_INT(0, valise_synthesize(NULL, v, ".", &how, NULL, &f->err));
    CHECK_INT(0, valise_frame_put(NULL, v, "a", VLS_STR("two"), NULL, NULL, &f->err));
    fault_on(f);
    if (deed == 0)
        rc = valise_synthesize(&made, v, ".", &how, NULL, &f->err);
    else if (deed == 1)
        rc = valise_regenerate(&made, v, ".", NULL, NULL, &f->err);
    else if (deed == 2)
        rc = valise_invalidate(NULL, v, "a", NULL, NULL, &f->err);
    else if (deed == 3)
        rc = valise_reaffirm(NULL, v, "a", NULL, 0, NULL, &f->err);
    else
        rc = valise_context_report(&report, v, NULL, NULL, NULL, &f->err);
    fault_off(f);
    CHECK_INT(rc == 0 && deed < 2, made != NULL);
    CHECK_INT(rc == 0 && deed == 4, report != NULL);
    if (rc >= 0 && fault_has_hit(f))
        f->recovered = true; /* caches are not worth a failure */
    valise_derived_free(made);
    valise_report_free(report);
    CHECK_INT(0, valise_regenerate(NULL, v, ".", NULL, NULL, &f->err)); /* it goes on */
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(derive_faults, without_memory)
{
    for (int deed = 0; deed < 5; deed++)
        CHECK(fault_each_alloc(t, 0, all_of_it, &deed) > 0);
}
