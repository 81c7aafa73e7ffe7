/* chat.c -- conversations against a naive model: which versions each session has, what the role is,
 * what nobody needs. [W1] [W2] [W3] [W4] [W5] [W6] [W10]
 *
 * The model of a session is a head and a set of versions: all that it ever had its head at or
 * below, but for what was deleted. Real sessions have a head and tips; what lies at or above these
 * must be that set. A version is there as long as a set has it, or a pin at or below it; blobs as
 * long as such a version that was not erased holds them. */
#include "kit/replayed.h"
#include "kit/talk.h"

#include "base/hex.h"
#include "blob/hold.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "harness/model.h"

#define TURNS 160
#define SESSIONS 8
#define PARENTS 4
#define BLOBS 3
#define NOBODY (-1)

typedef struct turn {
    const char *ref;
    int parents[PARENTS];
    int parent_count;
    int to;   /* role:transition to role number; 0: none */
    int blob; /* held; NOBODY: none */
    bool gone, erased, pinned;
} turn;

typedef struct session {
    const char *id; /* NULL: none */
    int head;
    bool has[TURNS];
} session;

typedef struct plot {
    test *t;
    talk k;
    const char *path;
    turn turns[TURNS];
    int turn_count;
    session sessions[SESSIONS];
    int made;
    bool erased; /* something: the log does not say all any more */
} plot;

/* ---- the model ---- */

static bool is_before(const plot *p, int a, int b)
{
    if (a == b)
        return true;
    for (int i = 0; i < p->turns[b].parent_count; i++) {
        if (is_before(p, a, p->turns[b].parents[i]))
            return true;
    }
    return false;
}

static bool has_child(const plot *p, int x)
{
    for (int i = 0; i < p->turn_count; i++) {
        for (int k = 0; !p->turns[i].gone && k < p->turns[i].parent_count; k++) {
            if (p->turns[i].parents[k] == x)
                return true;
        }
    }
    return false;
}

static void add_path(const plot *p, bool *has, int x)
{
    if (x == NOBODY || has[x])
        return;
    has[x] = true;
    for (int i = 0; i < p->turns[x].parent_count; i++)
        add_path(p, has, p->turns[x].parents[i]);
}

/* The walk: parents in their order, each once; the last transition counts. */
static void walk(const plot *p, bool *seen, int *role, int x)
{
    if (x == NOBODY || seen[x])
        return;
    seen[x] = true;
    for (int i = 0; i < p->turns[x].parent_count; i++)
        walk(p, seen, role, p->turns[x].parents[i]);
    if (p->turns[x].to != 0)
        *role = p->turns[x].to;
}

static void settle(plot *p)
{
    bool needed[TURNS] = {false};

    for (int s = 0; s < SESSIONS; s++) {
        for (int i = 0; p->sessions[s].id && i < p->turn_count; i++)
            needed[i] |= p->sessions[s].has[i];
    }
    for (int i = 0; i < p->turn_count; i++) {
        if (p->turns[i].pinned)
            add_path(p, needed, i);
    }
    for (int i = 0; i < p->turn_count; i++)
        p->turns[i].gone = !needed[i];
}

/* ---- drawing ---- */

static session *draw_session(plot *p, model_args *a)
{
    uint64_t n = model_below(a, "session", SESSIONS);
    session *live[SESSIONS];
    uint64_t count = 0;

    for (int s = 0; s < SESSIONS; s++) {
        if (p->sessions[s].id)
            live[count++] = &p->sessions[s];
    }
    return count == 0 ? NULL : live[n % count];
}

static int draw_turn(plot *p, model_args *a, const char *label)
{
    int alive[TURNS], count = 0;
    uint64_t n = model_below(a, label, TURNS);

    for (int i = p->turn_count; i-- > 0;) { /* small numbers: the newest */
        if (!p->turns[i].gone)
            alive[count++] = i;
    }
    return count == 0 ? NOBODY : alive[n % (uint64_t)count];
}

static const char *const bytes[BLOBS] = {"QUFB", "QkJC", "Q0ND"};

static const char *draw_blocks(plot *p, model_args *a, int *blob)
{
    uint64_t n = model_below(a, "blob", 2 * BLOBS);

    *blob = n < BLOBS ? (int)n : NOBODY;
    if (*blob == NOBODY)
        return test_format("[{\"type\":\"text\",\"text\":\"turn %d\"}]", p->made++);
    return test_format("[{\"type\":\"text\",\"text\":\"turn %d\"},{\"type\":\"document\",\"data\":"
                       "\"%s\"}]",
                       p->made++, bytes[*blob]);
}

/* ---- operations ---- */

static void added(plot *p, session *s, const char *answer, const int *parents, int count, int blob)
{
    turn *new_turn = &p->turns[p->turn_count];

    *new_turn = (turn){.ref = talk_member(&p->k, answer, "ref"), .blob = blob};
    for (int i = 0; i < count; i++)
        new_turn->parents[new_turn->parent_count++] = parents[i];
    s->head = p->turn_count++;
    add_path(p, s->has, s->head);
    settle(p);
}

static void op_create(void *state, model_args *a)
{
    plot *p = state;
    session *s = &p->sessions[model_below(a, "session", SESSIONS)];

    if (s->id)
        return;
    *s = (session){.id = talk_session(&p->k, NULL), .head = NOBODY};
}

static void op_add(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int blob;
    const char *blocks = draw_blocks(p, a, &blob);

    if (!s || p->turn_count == TURNS)
        return;
    added(p, s,
          talk_run(&p->k, "turn:add",
                   "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":%s}}", s->id,
                   blocks),
          &s->head, s->head == NOBODY ? 0 : 1, blob);
}

static void op_switch(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int to = 1 + (int)model_below(a, "role", 2);

    if (!s || p->turn_count == TURNS)
        return;
    added(p, s,
          talk_run(&p->k, "session:role:switch", "{\"sessionId\":\"%s\",\"newRole\":\"r%d\"}",
                   s->id, to),
          &s->head, s->head == NOBODY ? 0 : 1, NOBODY);
    p->turns[p->turn_count - 1].to = to;
}

static void op_edit(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int x = draw_turn(p, a, "turn"), blob;
    const char *blocks = draw_blocks(p, a, &blob);

    if (!s || x == NOBODY || p->turn_count == TURNS || p->turns[x].to != 0)
        return;
    added(p, s,
          talk_run(&p->k, "turn:edit", "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"newBlocks\":%s}",
                   s->id, p->turns[x].ref, blocks),
          p->turns[x].parents, p->turns[x].parent_count, blob);
}

static void op_branch(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int x = draw_turn(p, a, "turn"), blob;
    const char *blocks = draw_blocks(p, a, &blob);

    if (!s || x == NOBODY || p->turn_count == TURNS)
        return;
    added(p, s,
          talk_run(&p->k, "turn:branch",
                   "{\"sessionId\":\"%s\",\"parent\":\"%s\",\"turn\":{\"role\":\"assistant\","
                   "\"blocks\":%s}}",
                   s->id, p->turns[x].ref, blocks),
          &x, 1, blob);
}

static void op_merge(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int x[2] = {draw_turn(p, a, "first"), draw_turn(p, a, "second")}, blob;
    const char *blocks = draw_blocks(p, a, &blob);

    if (!s || x[0] == NOBODY || x[0] == x[1] || p->turn_count == TURNS)
        return;
    added(p, s,
          talk_run(&p->k, "turn:merge",
                   "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"],\"turn\":{\"role\":\"user\","
                   "\"blocks\":%s}}",
                   s->id, p->turns[x[0]].ref, p->turns[x[1]].ref, blocks),
          x, 2, blob);
}

static void op_fork(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a), *to = &p->sessions[model_below(a, "to", SESSIONS)];
    int x = draw_turn(p, a, "turn");
    const char *answer;

    if (!s || to->id || x == NOBODY)
        return;
    answer = talk_run(&p->k, "session:fork", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s->id,
                      p->turns[x].ref);
    *to = (session){.id = talk_member(&p->k, answer, "id"), .head = x};
    add_path(p, to->has, x);
}

static void op_checkout(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int x = draw_turn(p, a, "turn");

    if (!s || x == NOBODY)
        return;
    (void)talk_run(&p->k, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s->id,
                   p->turns[x].ref);
    s->head = x;
    add_path(p, s->has, x);
}

/* Does another session stand in the way? 1: it does; 0: it does not; -1: a tip may. */
static int in_the_way(const plot *p, const session *own, int x, bool recursive)
{
    int found = 0;

    for (int s = 0; s < SESSIONS; s++) {
        const session *other = &p->sessions[s];
        bool below = false;
        if (!other->id || other == own || !other->has[x])
            continue;
        if (recursive || other->head == x)
            return 1;
        for (int i = 0; i < p->turn_count; i++)
            below |= other->has[i] && i != x && is_before(p, x, i);
        if (!below)
            return 1;
        found = -1;
    }
    return found;
}

static void take_away(plot *p, const bool *branch)
{
    for (int s = 0; s < SESSIONS; s++) {
        session *of = &p->sessions[s];
        while (of->id && of->head != NOBODY && branch[of->head])
            of->head = p->turns[of->head].parent_count ? p->turns[of->head].parents[0] : NOBODY;
        for (int i = 0; i < p->turn_count; i++)
            of->has[i] &= !branch[i];
    }
}

static void op_delete(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);
    int x = draw_turn(p, a, "turn");
    bool recursive = model_below(a, "recursive", 3) == 0, force = model_below(a, "force", 2) == 0;
    bool branch[TURNS] = {false};
    int way, rc;

    if (!s || x == NOBODY)
        return;
    /* A pin below holds rows that are in no set any more: the model has no words for that. */
    for (int i = 0; i < p->turn_count; i++) {
        branch[i] = !p->turns[i].gone && (i == x || (recursive && is_before(p, x, i)));
        if (p->turns[i].pinned && is_before(p, x, i))
            return;
    }
    way = force ? 0 : in_the_way(p, s, x, recursive);
    rc = talk_try(&p->k, "turn:delete",
                  "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"recursive\":%s,\"force\":%s}", s->id,
                  p->turns[x].ref, recursive ? "true" : "false", force ? "true" : "false");
    if (way > 0)
        CHECK_INT(VALISE_E_CONFLICT, rc);
    if (way == 0)
        CHECK_MSG(rc == 0, "%s", p->t->err.message);
    if (rc < 0)
        return;
    p->erased = true;
    for (int i = 0; i < p->turn_count; i++)
        p->turns[i].erased |= branch[i];
    if (recursive || !has_child(p, x))
        take_away(p, branch);
    settle(p);
}

static void op_end(void *state, model_args *a)
{
    plot *p = state;
    session *s = draw_session(p, a);

    if (!s)
        return;
    (void)talk_run(&p->k, "session:delete", "{\"sessionId\":\"%s\"}", s->id);
    s->id = NULL;
    settle(p);
}

static const char *place_of(const turn *of)
{
    const char *at = strchr(of->ref, '@');

    return test_format("turn/%.*s/%s", (int)(at - of->ref), of->ref, at + 1);
}

static void op_pin(void *state, model_args *a)
{
    plot *p = state;
    int x = draw_turn(p, a, "turn");

    if (x == NOBODY)
        return;
    if (!p->turns[x].pinned) {
        (void)talk_run(&p->k, "pin:add", "{\"name\":\"p%d\",\"target\":\"%s\"}", x,
                       place_of(&p->turns[x]));
    } else {
        (void)talk_run(&p->k, "pin:remove", "{\"name\":\"p%d\"}", x);
        (void)talk_run(&p->k, "workspace:gc", "{}");
    }
    p->turns[x].pinned = !p->turns[x].pinned;
    settle(p);
}

static void op_reopen(void *state, model_args *a)
{
    plot *p = state;

    (void)a;
    if (strcmp(p->path, ":memory:") == 0)
        return;
    valise_close(p->k.v);
    talk_open_at(&p->k, p->t, p->t->env, p->path);
}

/* ---- what must hold ---- */

static int find(const plot *p, const vls_turn_ref *ref)
{
    vls_turn_ref_text text = vls_turn_ref_write(ref);

    for (int i = 0; i < p->turn_count; i++) {
        if (strcmp(p->turns[i].ref, text.s) == 0)
            return i;
    }
    test_fail(__FILE__, __LINE__, "there is a turn %s that nobody made", text.s);
}

static int check_rows(void *arg, valise_view *view, valise_error *err)
{
    const plot *p = arg;
    vls_turn_row row;
    valise_scan *scan = NULL;
    bool there[TURNS] = {false};
    int rc = valise_view_scan(&scan, view, &vls_turns, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        there[find(p, &row.ref)] = true;
    valise_scan_close(scan);
    for (int i = 0; i < p->turn_count; i++)
        CHECK_MSG(there[i] == !p->turns[i].gone, "turn %d (%s) is %s", i, p->turns[i].ref,
                  there[i] ? "there, and nobody needs it" : "missing");
    return rc;
}

static int check_session(const plot *p, valise_view *view, const session *s, valise_error *err)
{
    vls_session_row row = {0};
    vls_tip_row key = {0}, tip;
    const valise_select select = {.row = &key, .equal = 1};
    valise_scan *scan = NULL;
    bool has[TURNS] = {false}, seen[TURNS] = {false};
    int role = 0, rc;

    CHECK(vls_uuid_parse(&row.id, valise_str_of(s->id), NULL) == 0);
    key.session = row.id;
    CHECK_INT(1, valise_view_get(&row, view, &vls_sessions, err));
    CHECK_INT(s->head, row.head.version == 0 ? NOBODY : find(p, &row.head));
    add_path(p, has, s->head);
    rc = valise_view_scan(&scan, view, &vls_tips, &select, err);
    while (rc >= 0 && (rc = valise_scan_next(&tip, scan, err)) > 0)
        add_path(p, has, find(p, &tip.turn));
    valise_scan_close(scan);
    for (int i = 0; i < p->turn_count; i++)
        CHECK_MSG(has[i] == s->has[i], "session %s: turn %d (%s) is %s", s->id, i, p->turns[i].ref,
                  has[i] ? "below a tip that should not be" : "lost");
    walk(p, seen, &role, s->head);
    CHECK_STR(role == 0 ? VLS_STR("") : valise_str_of(test_format("r%d", role)), row.role);
    return rc;
}

static int check_blobs(void *arg, valise_view *view, valise_error *err)
{
    const plot *p = arg;
    vls_blob_hold hold;
    valise_scan *scan = NULL;
    int64_t wanted = 0, held = 0;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&hold, scan, err)) > 0)
        held++;
    valise_scan_close(scan);
    for (int i = 0; i < p->turn_count; i++)
        wanted += !p->turns[i].gone && !p->turns[i].erased && p->turns[i].blob != NOBODY;
    CHECK_INT(wanted, held);
    return rc;
}

static int check_all(void *arg, valise_view *view, valise_error *err)
{
    const plot *p = arg;
    int rc = check_rows(arg, view, err);

    if (rc == 0)
        rc = check_blobs(arg, view, err);
    for (int s = 0; rc == 0 && s < SESSIONS; s++) {
        if (p->sessions[s].id)
            rc = check_session(p, view, &p->sessions[s], err);
    }
    return rc;
}

static void check(void *state)
{
    plot *p = state;
    test *t = p->t;

    CHECK_OK(vls_with_view(p->k.v, NULL, check_all, p, &t->err));
}

static void op_validate(void *state, model_args *a)
{
    plot *p = state;

    (void)a;
    (void)talk_run(&p->k, "workspace:gc", "{}");
    talk_check(&p->k, false);
}

/* ---- all of it ---- */

static void *start(test *t, const char *dir)
{
    plot *p = test_alloc(sizeof(*p));

    memset(p, 0, sizeof(*p));
    p->t = t;
    p->path = strcmp(t->param, "memory") == 0 ? ":memory:" : test_format("%s/talk", dir);
    talk_open_at(&p->k, t, t->env, p->path);
    (void)talk_run(&p->k, "role:add", "{\"name\":\"r1\"}");
    (void)talk_run(&p->k, "role:add", "{\"name\":\"r2\"}");
    return p;
}

static void stop(void *state)
{
    plot *p = state;

    op_validate(p, NULL);
    if (!p->erased) /* whichever backend it was: a replay is in memory */
        CHECK_TEXT(state_of(p->t, p->k.v), replayed(p->t, p->k.v));
    valise_close(p->k.v);
}

TEST_PARAMS(chat_model, "memory", "sqlite")

TEST(chat_model, agrees_with_sets)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 8,
                            .steps = 60,
                            .ops = {{"create", 2, op_create},
                                    {"add", 8, op_add},
                                    {"switch", 2, op_switch},
                                    {"edit", 4, op_edit},
                                    {"branch", 4, op_branch},
                                    {"merge", 3, op_merge},
                                    {"fork", 2, op_fork},
                                    {"checkout", 4, op_checkout},
                                    {"delete", 4, op_delete},
                                    {"end", 1, op_end},
                                    {"pin", 1, op_pin},
                                    {"reopen", 1, op_reopen},
                                    {"validate", 1, op_validate}}};
    model_test(t, &m);
}

/* Nothing is erased: the log alone gives the same state, in another backend too. [K32] */
TEST(chat_model, replays_to_the_same_state)
{
    static const model m = {.start = start,
                            .check = check,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 6,
                            .steps = 60,
                            .ops = {{"create", 2, op_create},
                                    {"add", 8, op_add},
                                    {"switch", 2, op_switch},
                                    {"edit", 4, op_edit},
                                    {"branch", 4, op_branch},
                                    {"merge", 3, op_merge},
                                    {"fork", 3, op_fork},
                                    {"checkout", 4, op_checkout},
                                    {"end", 3, op_end},
                                    {"pin", 1, op_pin},
                                    {"reopen", 1, op_reopen}}};
    model_test(t, &m);
}
