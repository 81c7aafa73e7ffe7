/* bundle_hostile.c -- bundles that are well-formed and bring no graph are refused whole. [K36]
 * [Q26] */
#include "bundle_kit.h"

#include "base/hex.h"
#include "base/str.h"
#include "bus/bus.h"
#include "chat/graph.h"

TEST_PARAMS(chat_hostile, "memory")

/* ---- rows that no command would put ---- */

typedef struct tampering {
    const valise_coll *desc;
    void *row; /* its key is set */
    void (*change)(void *row, const void *arg);
    const void *arg;
    bool remove;
} tampering;

static int tamper_txn(void *arg, vls_txn *txn, valise_error *err)
{
    const tampering *c = arg;
    const vls_coll *coll = vls_store_coll(txn->store, c->desc);
    valise_cell cells[VALISE_MAX_COLUMNS], found[VALISE_MAX_COLUMNS];
    VLS_AUTO(view) valise_view view = {0};
    int rc;

    vls_view_init(&view, txn, vls_store_env(txn->store));
    rc = vls_row_to_cells(cells, c->row, c->desc->fields, &view.arena, err);
    if (rc == 0 && c->remove) {
        rc = vls_txn_del(txn, coll, cells, err);
        return rc < 0 ? rc : 0;
    }
    if (rc == 0)
        rc = vls_txn_get(found, txn, coll, cells, err);
    if (rc > 0)
        rc = vls_row_from_cells(c->row, c->desc->fields, c->desc->row_size, found,
                                coll->field_count, &view.arena, err);
    if (rc < 0)
        return rc;
    if (c->change)
        c->change(c->row, c->arg);
    rc = vls_row_to_cells(cells, c->row, c->desc->fields, &view.arena, err);
    return rc < 0 ? rc : vls_txn_put(txn, coll, cells, 1, err);
}

static void tamper(test *t, valise *v, tampering c)
{
    CHECK_OK(vls_with_txn(v, tamper_txn, &c, &t->err));
}

static vls_turn_ref ref_of(const char *text)
{
    vls_turn_ref ref = {.version = 0};

    CHECK(vls_turn_ref_read(&ref, valise_str_of(text)));
    return ref;
}

static void refuses_it(test *t, const char *name, const char *why)
{
    valise *b = place_open(t, name);
    int64_t seq = place_seq(t, b);

    CHECK_RC(VALISE_E_INVALID, place_import_try(t, b, "bad"));
    if (!strstr(t->err.message, why))
        test_note("%s", t->err.message);
    CHECK(strstr(t->err.message, why));
    CHECK_INT(0, count_rows(t, b, "session"));
    CHECK_INT(0, count_rows(t, b, "turn"));
    CHECK_INT((int)seq, (int)place_seq(t, b));
    place_check(t, b);
}

/* Export what was made of it, a part and whole: nobody takes it, and says why. */
static void refuses(test *t, valise *v, const char *session, const char *why)
{
    place_export(t, v, session, "bad");
    refuses_it(t, "b", why);
    place_run(t, v, "workspace:export", "{\"file\":\"%s\",\"force\":true}", bundle_path("bad"));
    refuses_it(t, "whole", why);
}

/* ---- turns ---- */

static void deeper(void *row, const void *arg)
{
    ((vls_turn_row *)row)->place.depth += *(const int64_t *)arg;
}

static void jump_elsewhere(void *row, const void *arg)
{
    ((vls_turn_row *)row)->jump = *(const vls_turn_ref *)arg;
}

static void parent_elsewhere(void *row, const void *arg)
{
    ((vls_turn_row *)row)->parent = *(const vls_turn_ref *)arg;
}

static void other_lane(void *row, const void *arg)
{
    (void)arg;
    ((vls_turn_row *)row)->place.lane.bytes[0] ^= 1;
}

static void says_calls(void *row, const void *arg)
{
    (void)arg;
    ((vls_turn_row *)row)->calls = true;
}

static void says_merge(void *row, const void *arg)
{
    vls_turn_row *turn = row;

    (void)arg;
    turn->merges = true;
    turn->merge = turn->ref;
}

static void role_of_others(void *row, const void *arg)
{
    ((vls_turn_row *)row)->in_force = valise_str_of(arg);
}

TEST(chat_hostile, turns_that_do_not_stand_where_their_parents_are)
{
    static const int64_t far = INT64_C(1) << 62, less = -1;
    static const vls_turn_ref nowhere = {.id = {{9}}, .version = 1};
    const struct {
        void (*change)(void *row, const void *arg);
        const void *arg;
        const char *why;
    } cases[] = {
        {deeper, &far, "not where"},
        {deeper, &less, "not where"},
        {jump_elsewhere, &nowhere, "not where"},
        {parent_elsewhere, &nowhere, "has a parent that is neither"},
        {other_lane, NULL, "no edge"},
        {says_merge, NULL, "no further parents"},
        {says_calls, NULL, "blocks that do not match"},
        {role_of_others, "admin", "role in force"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise *v = place_open(t, "a");
        const char *s = session_new(t, v, 1);
        vls_turn_row row = {.role = 0};

        test_context("case %zu", i);
        session_say(t, v, s, "one");
        row.ref = ref_of(session_say(t, v, s, "two"));
        if (cases[i].change != says_merge) /* who comes after it would be wrong as well */
            session_say(t, v, s, "three");
        tamper(t, v, (tampering){&vls_turns, &row, cases[i].change, cases[i].arg, false});
        refuses(t, v, s, cases[i].why);
    }
    test_context_end();
}

TEST(chat_hostile, a_first_parent_that_comes_after)
{
    valise *v = place_open(t, "a");
    const char *s = session_new(t, v, 1);
    vls_turn_row row = {.role = 0};
    vls_turn_ref last;

    session_say(t, v, s, "one");
    row.ref = ref_of(session_say(t, v, s, "two"));
    last = ref_of(session_say(t, v, s, "three"));
    tamper(t, v, (tampering){&vls_turns, &row, parent_elsewhere, &last, false});
    refuses(t, v, s, "not where");
}

TEST(chat_hostile, a_turn_that_is_missing)
{
    valise *v = place_open(t, "a");
    const char *s = session_new(t, v, 1);
    vls_turn_row row = {.role = 0};

    row.ref = ref_of(session_say(t, v, s, "one"));
    session_say(t, v, s, "two");
    tamper(t, v, (tampering){.desc = &vls_turns, .row = &row, .remove = true});
    refuses(t, v, s, "has a parent that is neither");
}

/* ---- merges in a circle ---- */

static const char *merge(test *t, valise *v, const char *session, const char *a, const char *b)
{
    return answer_of(place_run(t, v, "turn:merge",
                               "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"],\"turn\":{"
                               "\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"m\"}]}"
                               "}",
                               session, a, b),
                     "ref");
}

static const char *branch(test *t, valise *v, const char *session, const char *parent)
{
    return answer_of(place_run(t, v, "turn:branch",
                               "{\"sessionId\":\"%s\",\"parent\":\"%s\",\"turn\":{\"role\":"
                               "\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"b\"}]}}",
                               session, parent),
                     "ref");
}

TEST(chat_hostile, merges_that_come_before_themselves)
{
    valise *v = place_open(t, "a");
    const char *s = session_new(t, v, 1), *one = session_say(t, v, s, "one");
    const char *left = branch(t, v, s, one), *right = branch(t, v, s, one), *m1, *last;
    vls_edge_row old = {.position = 1}, circle;
    vls_turn_row row = {.role = 0};

    m1 = merge(t, v, s, left, right);
    session_say(t, v, s, "between");
    last = session_say(t, v, s, "last");
    merge(t, v, s, last, branch(t, v, s, one));
    old.parent = ref_of(right);
    old.child = ref_of(m1);
    tamper(t, v, (tampering){.desc = &vls_edges, .row = &old}); /* see it */
    circle = old;
    row.ref = circle.parent = ref_of(last);
    tamper(t, v, (tampering){.desc = &vls_turns, .row = &row}); /* see it */
    circle.above = row.place;
    tamper(t, v, (tampering){.desc = &vls_edges, .row = &old, .remove = true});
    tamper(t, v, (tampering){.desc = &vls_edges, .row = &circle});
    refuses(t, v, s, "is its own ancestor");
}

static void number(void *row, const void *arg)
{
    ((vls_edge_row *)row)->position = *(const int64_t *)arg;
}

TEST(chat_hostile, merges_whose_parents_are_numbered_otherwise)
{
    static const int64_t seven = 7, one = 1;
    valise *v = place_open(t, "a"), *w = place_open(t, "c");
    const char *s = session_new(t, v, 1), *first = session_say(t, v, s, "one"), *left, *right;
    vls_edge_row edge = {.position = 1}, other = {.position = 2};

    right = branch(t, v, s, first);
    edge.parent = ref_of(right);
    edge.child = ref_of(merge(t, v, s, branch(t, v, s, first), right));
    tamper(t, v, (tampering){.desc = &vls_edges, .row = &edge, .change = number, .arg = &seven});
    refuses(t, v, s, "numbered one by one");

    s = session_new(t, w, 1);
    first = session_say(t, w, s, "one");
    left = branch(t, w, s, first);
    right = branch(t, w, s, first);
    other.child = ref_of(answer_of(
        place_run(t, w, "turn:merge",
                  "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\",\"%s\"],\"turn\":{\"role\":"
                  "\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"m\"}]}}",
                  s, branch(t, w, s, first), left, right),
        "ref"));
    other.parent = ref_of(right);
    tamper(t, w, (tampering){.desc = &vls_edges, .row = &other, .change = number, .arg = &one});
    refuses(t, w, s, "numbered one by one");
}

TEST(chat_hostile, an_edge_for_a_turn_that_is_here)
{
    valise *v = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, v, 1), *one = session_say(t, v, s, "one");
    const char *two = session_say(t, v, s, "two"), *aside;
    vls_edge_row edge = {.position = 1};
    vls_turn_row parent = {.role = 0}, child = {.role = 0};

    place_export(t, v, s, "good");
    place_import(t, b, "good");
    aside = branch(t, v, s, one);
    parent.ref = edge.parent = ref_of(aside);
    child.ref = edge.child = ref_of(two);
    tamper(t, v, (tampering){.desc = &vls_turns, .row = &parent});
    tamper(t, v, (tampering){.desc = &vls_turns, .row = &child});
    edge.above = parent.place;
    edge.below = child.place;
    tamper(t, v, (tampering){.desc = &vls_edges, .row = &edge});
    place_run(t, v, "workspace:export",
              "{\"file\":\"%s\",\"force\":true,\"places\":[\"session/%s\","
              "\"turn_edge/%.36s/1/%.36s/1\"]}",
              bundle_path("bad"), s, aside, two);
    CHECK_RC(VALISE_E_INVALID, place_import_try(t, b, "bad"));
    CHECK(strstr(t->err.message, "would get another parent"));
    CHECK_TEXT("one|two", session_text(t, b, s));
}

/* ---- sessions, blobs ---- */

static void head_elsewhere(void *row, const void *arg)
{
    (void)arg;
    ((vls_session_row *)row)->place.depth = 7;
}

static void role_elsewhere(void *row, const void *arg)
{
    (void)arg;
    ((vls_session_row *)row)->role = VLS_STR("admin");
}

TEST(chat_hostile, a_session_whose_head_is_not_what_it_says)
{
    valise *v = place_open(t, "a"), *w = place_open(t, "c");
    const char *s = session_new(t, v, 1);
    vls_session_row row = {.created = 0};

    CHECK_OK(vls_uuid_parse(&row.id, valise_str_of(s), &t->err));
    session_say(t, v, s, "one");
    tamper(t, v, (tampering){.desc = &vls_sessions, .row = &row, .change = head_elsewhere});
    refuses(t, v, s, "in another place");
    session_new(t, w, 1);
    session_say(t, w, s, "one");
    row = (vls_session_row){.id = row.id};
    tamper(t, w, (tampering){.desc = &vls_sessions, .row = &row, .change = role_elsewhere});
    refuses(t, w, s, "does not match its head");
}

TEST(chat_hostile, a_version_that_says_something_else)
{
    valise *v = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, v, 1);
    vls_turn_row row = {.role = 0};
    static const int64_t none = 0;

    row.ref = ref_of(session_say(t, v, s, "one"));
    place_export(t, v, s, "good");
    place_import(t, b, "good");
    tamper(t, v, (tampering){&vls_turns, &row, deeper, &none, false});
    row.time++;
    tamper(t, v, (tampering){.desc = &vls_turns, .row = &row, .change = says_calls});
    place_export(t, v, s, "bad");
    CHECK_RC(VALISE_E_CONFLICT, place_import_try(t, b, "bad"));
    CHECK(strstr(t->err.message, "says something else"));
    place_check(t, b);
}
