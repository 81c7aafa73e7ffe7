/* memory.c -- stage 2: context entries that fit the topics, ranked. [P2] [P14]
 *
 * Entries that are older than the session stand before the history, in the order of their keys, as
 * far as there is room: with each turn they are the same. What came or changed since, and what does
 * not fit there, competes for the tail: by topics, then by how well it answers the question, then
 * the newest. */
#include <valise/sys/extension.h>

#include "base/text.h"
#include "bus/bus.h"
#include "memory/entry.h"
#include "prompt/cost.h"
#include "prompt/rank.h"
#include "prompt/stage.h"
#include "store/used.h"
#include "store/view.h"

#define CANDIDATES_MAX 4096u /* the best by topics, then the newest, are looked at */

typedef struct candidate {
    vls_context_entry_row row;
    int64_t overlap; /* topics */
    int64_t score;
    bool old; /* older than the session */
    bool taken;
    vls_part part;
} candidate;

typedef struct choosing {
    valise_view *view;
    const vls_request *request;
    vls_choice *out;
    valise_list role_topics;
    const valise_retriever *retriever; /* NULL: our own */
    vls_vec(candidate) all;
} choosing;

/* ---- candidates ---- */

static int64_t overlap(valise_list topics, const choosing *c)
{
    const valise_str *all = topics.items;
    int64_t sum = 0;

    for (size_t i = 0; i < topics.count; i++)
        sum += vls_topics_have(c->request->session.topics, all[i]) ||
               vls_topics_have(c->role_topics, all[i]);
    return sum;
}

/* Better ones first: topics, then the newest; keys at last. */
static int by_topics(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->overlap != y->overlap)
        return x->overlap > y->overlap ? -1 : 1;
    if (x->row.updated != y->row.updated)
        return x->row.updated > y->row.updated ? -1 : 1;
    return vls_str_compare(x->row.key, y->row.key);
}

/* Of a retriever of somebody else's: what it says counts first. */
static int by_score(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return by_topics(a, b);
}

static int by_rank(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->overlap != y->overlap)
        return x->overlap > y->overlap ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return by_topics(a, b);
}

/* What the question cannot change. */
static int by_overlap_and_key(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->overlap != y->overlap)
        return x->overlap > y->overlap ? -1 : 1;
    return vls_str_compare(x->row.key, y->row.key);
}

static int by_key(const void *a, const void *b)
{
    return vls_str_compare(((const candidate *)a)->row.key, ((const candidate *)b)->row.key);
}

/* Twice as many are held as are looked at, so that sorting them out is rare. */
static void drop_worst(choosing *c)
{
    if (c->all.len < 2 * (size_t)CANDIDATES_MAX)
        return;
    qsort(c->all.ptr, c->all.len, sizeof(*c->all.ptr), by_topics);
    c->all.len = CANDIDATES_MAX;
}

static int keep(choosing *c, vls_context_entry_row row, int64_t shared, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    int rc = vls_arena_dup(&row.key, arena, row.key, err);

    if (rc == 0)
        rc = vls_arena_dup(&row.actor, arena, row.actor, err);
    row.topics = (valise_list){NULL, 0};
    if (rc == 0 && !vls_vec_push_in(&c->all, arena,
                                    (candidate){.row = row,
                                                .overlap = shared,
                                                .old = row.updated < c->request->session.created}))
        rc = vls_arena_fail(arena, err);
    drop_worst(c);
    return rc;
}

static int find(choosing *c, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_context_entry_row row = {0};
    int rc = valise_view_scan(&scan, c->view, &vls_context_entries, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        int64_t shared = overlap(row.topics, c);

        rc = shared > 0 && !vls_entry_is_over(&row, c->request->time) ? keep(c, row, shared, err)
                                                                      : 0;
    }
    valise_scan_close(scan);
    if (rc == 0 && c->all.len > 1) {
        qsort(c->all.ptr, c->all.len, sizeof(*c->all.ptr), by_topics);
        c->all.len = VLS_MIN(c->all.len, (size_t)CANDIDATES_MAX);
    }
    return rc;
}

/* ---- parts ---- */

/* One whose content was erased says nothing, and has none. */
static int make_part(candidate *e, choosing *c, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    vls_buf words;
    int rc = vls_memory_text(&e->part.text, c->view, &e->row.content, err);

    e->part.kind = VLS_PART_ENTRY;
    e->part.kept = true;
    e->part.name = e->row.key;
    e->part.version = e->row.version;
    e->part.id = e->row.content;
    e->part.blob = e->row.blob;
    e->part.author = e->row.actor;
    vls_buf_init_in(&words, arena, (size_t)4 * VLS_MEMORY_KEY_MAX);
    vls_buf_add_text(&words, "Memory ");
    vls_buf_add(&words, e->row.key);
    vls_buf_add_text(&words, ":\n");
    if (rc == 0)
        rc = vls_buf_keep(&e->part.words, &words, err);
    if (rc < 0)
        return rc;
    e->part.tokens = vls_text_cost(e->part.words) + vls_text_cost(e->part.text);
    return vls_id_is_none(&e->row.blob) ? 0 : vls_entry_asset(&e->part, c->view, c->request, err);
}

static bool says_something(const candidate *e)
{
    return e->part.text.ptr || !vls_id_is_none(&e->row.blob);
}

/* Why it is not sent. */
static const char *reason_against(const candidate *e)
{
    if (!says_something(e))
        return "erased";
    return e->score < 0 ? "the retriever does not want it" : "does not fit";
}

int vls_retriever_find(const struct valise_retriever **out, valise_view *view, valise_str name,
                       valise_error *err)
{
    const valise *v = vls_view_bus(view);
    const valise_retriever *const *all =
        v && v->registry ? vls_registry_retrievers(v->registry) : NULL;

    *out = NULL;
    if (!name.ptr || vls_str_equal(name, VLS_STR(VLS_RETRIEVER_OWN)))
        return 0;
    for (; all && *all; all++) {
        if (vls_str_equal(valise_str_of((*all)->name), name)) {
            *out = *all;
            return 0;
        }
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no retriever '%s'", vls_text_short(name).s);
    vls_hint(err, "a retriever must be registered by the program or by an extension");
    return VALISE_E_NOT_FOUND;
}

/* What a retriever of somebody else's says; it sees what the actor may read, and nothing else. */
static int ask(int64_t *scores, choosing *c, const valise_retriever *retriever, valise_str question,
               valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    valise_candidate *seen = vls_arena_array(arena, c->all.len + 1, sizeof(*seen));

    if (!seen)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < c->all.len; i++)
        seen[i] = (valise_candidate){.key = c->all.ptr[i].row.key,
                                     .text = c->all.ptr[i].part.text,
                                     .overlap = c->all.ptr[i].overlap,
                                     .updated = c->all.ptr[i].row.updated};
    return retriever->rank(scores, retriever->self, question, seen, c->all.len, err);
}

static int score(choosing *c, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    valise_str question = c->request->query.ptr ? c->request->query : c->out->question;
    valise_str *texts = vls_arena_array(arena, c->all.len + 1, sizeof(*texts));
    int64_t *scores = vls_arena_array(arena, c->all.len + 1, sizeof(*scores));
    int rc;

    if (!texts || !scores)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < c->all.len; i++) {
        const vls_part *part = &c->all.ptr[i].part;

        texts[i] = part->text.ptr ? part->text : part->words;
        scores[i] = 0;
    }
    if (!question.ptr)
        question = VLS_STR("");
    rc = c->retriever ? ask(scores, c, c->retriever, question, err)
                      : vls_rank(scores, texts, c->all.len, question, arena, err);
    for (size_t i = 0; i < c->all.len; i++)
        c->all.ptr[i].score = scores[i];
    return rc;
}

/* As many of the first ones as fit; VALISE_NONE: all. */
static void take(choosing *c, bool old_only, vls_section section, int64_t room, const char *reason)
{
    for (size_t i = 0; i < c->all.len; i++) {
        candidate *e = &c->all.ptr[i];

        if (e->taken || (old_only && !e->old) || !says_something(e) || e->score < 0)
            continue;
        if (room != VALISE_NONE && e->part.tokens > room)
            continue;
        if (room != VALISE_NONE)
            room -= e->part.tokens;
        e->taken = true;
        e->part.section = (uint8_t)section;
        e->part.reason = valise_str_of(reason);
    }
}

static int put(choosing *c, vls_section section, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < c->all.len && rc == 0; i++) {
        candidate *e = &c->all.ptr[i];

        if (!e->taken || e->part.section != section)
            continue;
        rc = vls_used_by_row(&e->part.source, c->view, &vls_context_entries, &e->row, err);
        if (rc == 0)
            rc = vls_add_part(c->out, c->view, &e->part, err);
    }
    return rc;
}

static int leave_others(choosing *c, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < c->all.len && rc == 0; i++) {
        const candidate *e = &c->all.ptr[i];

        if (!e->taken)
            rc = vls_leave(c->out, c->view, VLS_PART_ENTRY, e->row.key, reason_against(e),
                           e->part.tokens, err);
    }
    return rc;
}

static void sort(choosing *c, int (*order)(const void *, const void *))
{
    if (c->all.len > 1)
        qsort(c->all.ptr, c->all.len, sizeof(*c->all.ptr), order);
}

int vls_choose_memory(vls_choice *out, valise_view *view, const vls_request *request,
                      int64_t context_room, int64_t tail_room, valise_error *err)
{
    choosing c = {.view = view, .request = request, .out = out};
    vls_role_version_row role = {0};
    int rc = vls_role_in_force(&role, view, request, err);

    if (rc > 0)
        c.role_topics = role.topics;
    if (rc < 0 || (c.role_topics.count == 0 && request->session.topics.count == 0))
        return rc < 0 ? rc : 0;
    rc = vls_may_choose(out, view, VLS_PART_ENTRY, err);
    if (rc <= 0)
        return rc;
    rc = vls_retriever_find(&c.retriever, view, request->retriever, err);
    if (rc == 0)
        rc = find(&c, err);
    for (size_t i = 0; i < c.all.len && rc == 0; i++)
        rc = make_part(&c.all.ptr[i], &c, err);
    if (rc == 0)
        rc = score(&c, err);
    if (rc < 0)
        return rc;
    sort(&c, by_overlap_and_key);
    take(&c, true, VLS_SECTION_CONTEXT, context_room,
         "its topics fit, and it is older than the session");
    sort(&c, c.retriever ? by_score : by_rank);
    take(&c, false, VLS_SECTION_TAIL, tail_room, "its topics fit");
    rc = put(&c, VLS_SECTION_TAIL, err);
    if (rc == 0)
        rc = leave_others(&c, err);
    sort(&c, by_key);
    return rc < 0 ? rc : put(&c, VLS_SECTION_CONTEXT, err);
}
