/* find.c -- matches in order: by rank, then the newest, then by kind and key.
 *
 * FTS5 hands out each match with its score (rank.c). The best of them are kept in a heap; only who
 * would get into it is looked at more closely: may the actor read it, is it of the topics that are
 * asked for, has it expired? So what is not to be seen takes nobody's place, and few are looked at.
 */
#include "search/search.h"

#include "base/str.h"
#include "chat/graph.h"
#include "chat/rows.h"
#include "context/place.h"
#include "context/slot.h"
#include "field/row.h"
#include "memory/rows.h"
#include "store/place.h"

typedef struct match {
    int64_t doc;
    double score; /* the higher the better */
    valise_str key;
    int64_t time;
    valise_str topics;
} match;

typedef struct finding {
    vls_search *s;
    valise_view *view;
    const vls_search_args *args;
    vls_arena *arena; /* of what is kept */
    vls_search_terms terms;
    vls_buf expression;
    double scale;   /* of scores */
    unsigned kinds; /* bits */
    match *heap;    /* the worst on top */
    size_t count, max;
    match now; /* the one that is looked at; loaded: key, time and topics are there */
    bool loaded;
    int64_t expires;
    vls_vec(vls_turn_row) ends; /* head and tips of the session that is asked for */
} finding;

static int kind_of(const match *m)
{
    return (int)(m->doc & 3);
}

/* ---- what is known of one ---- */

/* The doc of f->now; its strings are valid until the next one is loaded. */
static int load(finding *f, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (f->loaded)
        return 0;
    rc = vls_search_stmt(&stmt, f->s, VLS_SEARCH_DOC_SHOWN, err);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(stmt, 1, f->now.doc);
    rc = vls_search_step(f->s, stmt, err);
    if (rc == 0) {
        f->s->damaged = true;
        return vls_fail(err, VALISE_E_CORRUPT,
                        "the search index has a word of an entry that it lacks");
    }
    if (rc < 0)
        return rc;
    f->now.key = vls_search_column(stmt, 0);
    f->now.time = vls_search_int_or_none(stmt, 1);
    f->expires = vls_search_int_or_none(stmt, 2);
    f->now.topics = vls_search_column(stmt, 3);
    f->loaded = true;
    return 0;
}

/* The row with its key members set; strings in the view. */
static int key_row(void *row, finding *f, int kind, valise_str key, valise_cell *cells,
                   valise_error *err)
{
    const valise_coll *desc = vls_search_coll(kind);
    const vls_coll *coll = vls_store_coll(f->view->txn->store, desc);
    int rc = vls_key_read(cells, coll->key_count, key, &f->view->arena, err);

    if (rc == 0)
        rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, coll->key_count,
                                &f->view->arena, err);
    if (rc == VALISE_E_CORRUPT)
        f->s->damaged = true; /* it was written by us */
    return rc;
}

/* The index is that of this view: what it names and the view lacks was never written by us. */
static int refuse_stranger(finding *f, valise_error *err)
{
    f->s->damaged = true;
    return vls_fail(err, VALISE_E_CORRUPT, "the search index names something that is not there");
}

/* A hit is a row that is there, as the index knows it. */
static int confirm(finding *f, const match *m, const valise_cell *cells, valise_error *err)
{
    vls_search_row row = {0};
    int rc = vls_search_look(&row, f->view, kind_of(m), cells, err);

    if (rc < 0)
        return rc;
    return rc > 0 && row.seq == m->doc >> VLS_SEARCH_SEQ_SHIFT ? 0 : refuse_stranger(f, err);
}

/* ---- order ---- */

/* Negative: a comes before b. */
static int compare(const match *a, const match *b)
{
    int64_t newer = (b->doc >> VLS_SEARCH_SEQ_SHIFT) - (a->doc >> VLS_SEARCH_SEQ_SHIFT);

    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (newer != 0)
        return newer < 0 ? -1 : 1;
    if (kind_of(a) != kind_of(b))
        return kind_of(a) < kind_of(b) ? -1 : 1;
    return vls_str_compare(a->key, b->key);
}

static int compare_matches(const void *a, const void *b)
{
    return compare(a, b);
}

static void sink(finding *f, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < f->count && compare(&f->heap[child], &f->heap[child + 1]) < 0)
            child++;
        if (child >= f->count || compare(&f->heap[child], &f->heap[at]) <= 0)
            return;
        match m = f->heap[at];
        f->heap[at] = f->heap[child];
        f->heap[child] = m;
        at = child;
    }
}

static void rise(finding *f, size_t at)
{
    while (at > 0 && compare(&f->heap[(at - 1) / 2], &f->heap[at]) < 0) {
        match m = f->heap[at];
        f->heap[at] = f->heap[(at - 1) / 2];
        f->heap[(at - 1) / 2] = m;
        at = (at - 1) / 2;
    }
}

static int take(finding *f, valise_error *err)
{
    match m = f->now;
    int rc = vls_arena_dup(&m.key, f->arena, m.key, err);

    if (rc == 0)
        rc = vls_arena_dup(&m.topics, f->arena, m.topics, err);
    if (rc < 0)
        return rc;
    if (f->count < f->max) {
        f->heap[f->count] = m;
        rise(f, f->count++);
    } else {
        f->heap[0] = m;
        sink(f, 0);
    }
    return 0;
}

/* Would it be among the best? 1, or 0. Rank and age mostly tell. */
static int is_good(finding *f, valise_error *err)
{
    const match *worst = &f->heap[0];
    int rc;

    if (f->count < f->max)
        return 1;
    if (f->now.score != worst->score)
        return f->now.score > worst->score;
    if (f->now.doc >> VLS_SEARCH_SEQ_SHIFT != worst->doc >> VLS_SEARCH_SEQ_SHIFT)
        return f->now.doc >> VLS_SEARCH_SEQ_SHIFT > worst->doc >> VLS_SEARCH_SEQ_SHIFT;
    rc = load(f, err);
    return rc < 0 ? rc : compare(&f->now, worst) < 0;
}

/* ---- what is asked for ---- */

static bool has_topic(valise_str topics, valise_list asked)
{
    const valise_str *list = asked.items;
    valise_str topic, rest = topics;

    while (rest.len > 0) {
        (void)vls_str_cut(&topic, &rest, rest, '\n');
        for (size_t i = 0; i < asked.count; i++) {
            if (vls_str_equal(topic, list[i]))
                return true;
        }
    }
    return false;
}

/* Does a session with one of the topics go over this turn? */
static int look_at_session(void *arg, const vls_session_row *session, const vls_tip_row *tip,
                           valise_error *err)
{
    const finding *f = arg;
    const valise_str *topics = session->topics.items;

    (void)tip;
    (void)err;
    for (size_t i = 0; i < session->topics.count; i++) {
        if (has_topic(topics[i], f->args->topics))
            return 1;
    }
    return 0;
}

/* A turn has the topics of the sessions that it is part of. 1, or 0. */
static int is_turn_asked_for(finding *f, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    vls_turn_row turn = {0};
    int rc = key_row(&turn, f, VLS_SEARCH_TURN, f->now.key, cells, err);

    if (rc == 0)
        rc = vls_turn_get(&turn, f->view, &turn.ref, err);
    if (rc == 0)
        return refuse_stranger(f, err);
    if (rc > 0 && f->args->topics.count > 0)
        rc = vls_below_each(f->view, &turn, look_at_session, f, err);
    if (rc <= 0 || !f->args->session.ptr)
        return rc;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < f->ends.len; i++)
        rc = vls_turn_is_before(f->view, &turn, &f->ends.ptr[i], err);
    return rc;
}

/* 1, or 0. What a kind needs was asked for all of them; a frame's right may be narrowed. */
static int may_read(finding *f, valise_error *err)
{
    vls_view_mark mark = vls_view_here(f->view);
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    vls_slot_row slot = {0};
    int rc;

    if (kind_of(&f->now) != VLS_SEARCH_FRAME)
        return 1;
    rc = key_row(&slot, f, VLS_SEARCH_FRAME, f->now.key, cells, err);
    if (rc == 0)
        rc = vls_path_readable(f->view, slot.path, slot.type, err);
    vls_view_rewind(f->view, mark);
    return rc;
}

static int is_asked_for(finding *f, valise_error *err)
{
    vls_view_mark mark = vls_view_here(f->view);
    int rc = load(f, err);

    if (rc < 0)
        return rc;
    if (f->expires != VALISE_NONE && f->expires <= f->view->stamp.time)
        return 0;
    if (kind_of(&f->now) == VLS_SEARCH_TURN) {
        rc = f->args->topics.count > 0 || f->args->session.ptr ? is_turn_asked_for(f, err) : 1;
        vls_view_rewind(f->view, mark);
        return rc;
    }
    if (f->args->topics.count > 0 && !has_topic(f->now.topics, f->args->topics))
        return 0;
    return may_read(f, err);
}

/* ---- matches ---- */

static int gather(finding *f, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, f->s, VLS_SEARCH_MATCH, err);

    if (rc < 0)
        return rc;
    double hits = 0;
    int64_t last = INT64_MAX;
    vls_search_bind(stmt, 1, vls_buf_str(&f->expression), true);
    while (rc >= 0 && (rc = vls_search_step(f->s, stmt, err)) > 0) {
        f->now =
            (match){.doc = sqlite3_column_int64(stmt, 0), .score = sqlite3_column_double(stmt, 1)};
        f->loaded = false;
        hits++;
        if (f->now.doc >= last) { /* FTS5 goes down by row ids, each once */
            rc = refuse_stranger(f, err);
            break;
        }
        last = f->now.doc;
        if (!(f->kinds & (1u << kind_of(&f->now))) ||
            f->now.doc >> VLS_SEARCH_SEQ_SHIFT > f->view->stamp.seq)
            continue;
        rc = is_good(f, err);
        if (rc > 0)
            rc = is_asked_for(f, err);
        if (rc > 0)
            rc = take(f, err);
    }
    (void)sqlite3_reset(stmt);
    /* Of one word alone its rarity counts for all the same. */
    f->scale = f->terms.count == 1 && !f->s->rank.plain ? vls_search_idf(f->s->rank.rows, hits) : 1;
    if (rc == 0 && f->count > 0)
        qsort(f->heap, f->count, sizeof(*f->heap), compare_matches);
    return rc;
}

/* ---- what is shown ---- */

static int add_snippet(vls_search_hit *hit, finding *f, const match *m, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, f->s, VLS_SEARCH_DOC_TEXT, err);

    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(stmt, 1, m->doc);
    rc = vls_search_step(f->s, stmt, err);
    if (rc > 0)
        rc = vls_search_snippet(hit, &f->s->words, &f->terms, vls_search_column(stmt, 0), f->arena,
                                err);
    (void)sqlite3_reset(stmt);
    return rc;
}

static int add_topics(vls_search_hit *hit, finding *f, valise_str topics, valise_error *err)
{
    vls_vec(valise_str) list = VLS_VEC_INIT;
    valise_str topic, rest = topics;

    while (rest.len > 0) {
        (void)vls_str_cut(&topic, &rest, rest, '\n');
        if (!vls_vec_push_in(&list, f->arena, topic))
            return vls_arena_fail(f->arena, err);
    }
    hit->topics = (valise_list){list.ptr, list.len};
    return 0;
}

static int add_place(vls_search_hit *hit, finding *f, int kind, const valise_cell *cells,
                     valise_error *err)
{
    VLS_AUTO(buf) vls_buf place = {0};
    int rc;

    vls_buf_init(&place, f->arena->env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&place, vls_store_coll(f->view->txn->store, vls_search_coll(kind)), cells);
    rc = vls_buf_check(&place, err);
    return rc < 0 ? rc : vls_arena_dup(&hit->place, f->arena, vls_buf_str(&place), err);
}

static int add_key(vls_search_hit *hit, finding *f, const match *m, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    union {
        vls_turn_row turn;
        vls_context_entry_row entry;
        vls_slot_row slot;
    } row = {.turn = {.role = 0}};
    int kind = kind_of(m);
    int rc = key_row(&row, f, kind, m->key, cells, err);

    if (rc == 0)
        rc = confirm(f, m, cells, err);
    if (rc == 0)
        rc = add_place(hit, f, kind, cells, err);
    if (rc < 0)
        return rc;
    if (kind == VLS_SEARCH_TURN) {
        vls_turn_ref_text text = vls_turn_ref_write(&row.turn.ref);
        return vls_arena_dup(&hit->ref, f->arena, valise_str_of(text.s), err);
    }
    if (kind == VLS_SEARCH_CONTEXT)
        return vls_arena_dup(&hit->key, f->arena, row.entry.key, err);
    rc = vls_arena_dup(&hit->path, f->arena, row.slot.path, err);
    return rc < 0 ? rc : vls_arena_dup(&hit->type, f->arena, row.slot.type, err);
}

static int show(vls_search_hit *hit, finding *f, const match *m, valise_error *err)
{
    vls_view_mark mark = vls_view_here(f->view);
    int rc;

    *hit = (vls_search_hit){.kind = kind_of(m),
                            .time = m->time,
                            .seq = m->doc >> VLS_SEARCH_SEQ_SHIFT,
                            .score = m->score * f->scale};
    rc = add_key(hit, f, m, err);
    vls_view_rewind(f->view, mark);
    if (rc == 0)
        rc = add_topics(hit, f, m->topics, err);
    return rc < 0 ? rc : add_snippet(hit, f, m, err);
}

/* ---- all of it ---- */

/* The rights that kinds need. */
static const char *const needs[VLS_SEARCH_KINDS] = {"session:read", "memory:read", "context:read"};

/* May the actor read all that the index has? Then scores may be made from all of it. */
static int choose_rank(finding *f, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(needs); i++)
        rc = valise_view_allows(f->view, needs[i], NULL, &why);
    f->s->rank.plain = rc == VALISE_E_DENIED;
    if (rc < 0 && rc != VALISE_E_DENIED && err)
        *err = why;
    return rc == VALISE_E_DENIED ? 0 : rc;
}

/* The kinds that are asked for and that the actor may read; where none is left, why. */
static int choose_kinds(finding *f, valise_error *err)
{
    static const char *const any[] = {"?path", "", "?type", "", NULL};
    const int64_t *asked = f->args->kinds.items;
    valise_error why = VALISE_ERROR_INIT;
    unsigned wanted = f->args->kinds.count == 0 ? (1u << VLS_SEARCH_KINDS) - 1 : 0;
    int rc = 0;

    for (size_t i = 0; i < f->args->kinds.count; i++)
        wanted |= 1u << asked[i];
    for (int kind = 0; kind < VLS_SEARCH_KINDS; kind++) {
        if (!(wanted & (1u << kind)))
            continue;
        rc = valise_view_allows(f->view, needs[kind], kind == VLS_SEARCH_FRAME ? any : NULL, &why);
        if (rc >= 0)
            f->kinds |= 1u << kind;
        else if (rc != VALISE_E_DENIED)
            break;
    }
    if (rc < 0 && (rc != VALISE_E_DENIED || f->kinds == 0)) {
        if (err)
            *err = why;
        return rc;
    }
    return f->kinds == 0 ? vls_fail(err, VALISE_E_DENIED,
                                    "the actor may not read anything that can be searched")
                         : 0;
}

static int add_end(finding *f, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row turn = {0};
    int rc = ref->version == 0 ? 0 : vls_turn_get(&turn, f->view, ref, err);

    if (rc > 0 && !vls_vec_push_in(&f->ends, f->arena, turn))
        return vls_arena_fail(f->arena, err);
    return vls_settle(rc);
}

/* Turns of one session alone: what its head and its tips have before them. */
static int choose_session(finding *f, valise_error *err)
{
    vls_session_row session = {0};
    valise_scan *scan = NULL;
    vls_tip_row tip = {0};
    int rc;

    if (!f->args->session.ptr)
        return 0;
    f->kinds &= 1u << VLS_SEARCH_TURN;
    rc = valise_view_allows(f->view, "session:read", NULL, err);
    if (rc >= 0)
        rc = vls_session_find(&session, f->view, f->args->session, err);
    if (rc >= 0)
        rc = add_end(f, &session.head, err);
    tip.session = session.id;
    if (rc == 0)
        rc = valise_view_scan(&scan, f->view, &vls_tips, &(valise_select){.row = &tip, .equal = 1},
                              err);
    while (rc >= 0 && (rc = valise_scan_next(&tip, scan, err)) > 0)
        rc = add_end(f, &tip.turn, err);
    valise_scan_close(scan);
    return rc;
}

static int run(const vls_search_hit **hits, size_t *count, finding *f, valise_error *err)
{
    size_t offset = (size_t)f->args->offset;
    vls_search_hit *list;
    int rc = choose_kinds(f, err);

    if (rc == 0)
        rc = choose_rank(f, err);
    if (rc == 0)
        rc = choose_session(f, err);
    if (rc == 0)
        rc = vls_search_parse(&f->terms, f->args->query, &f->s->words, f->arena, err);
    if (rc == 0)
        rc = vls_search_expression(&f->expression, &f->terms, err);
    if (rc == 0)
        rc = gather(f, err);
    if (rc < 0)
        return rc;
    *count = f->count > offset ? f->count - offset : 0;
    list = vls_arena_array(f->arena, *count + 1, sizeof(*list));
    if (!list)
        return vls_arena_fail(f->arena, err);
    for (size_t i = 0; rc == 0 && i < *count; i++)
        rc = show(&list[i], f, &f->heap[offset + i], err);
    *hits = list;
    return rc;
}

int vls_search_find(const vls_search_hit **hits, size_t *count, vls_search *s, valise_view *view,
                    const vls_search_args *args, vls_arena *to, valise_error *err)
{
    finding f = {.s = s, .view = view, .args = args, .arena = to};
    int rc;

    f.max = (size_t)(args->limit + args->offset);
    f.heap = vls_arena_array(to, f.max, sizeof(*f.heap));
    if (!f.heap)
        return vls_arena_fail(to, err);
    vls_buf_init(&f.expression, view->arena.env, (size_t)8 * VLS_SEARCH_QUERY_MAX);
    rc = run(hits, count, &f, err);
    vls_buf_release(&f.expression);
    return rc;
}
