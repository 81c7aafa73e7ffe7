/* point.c -- points in the history of a backpack: as people write them, and which commit they mean.
 *
 *     now                      the newest state
 *     42                       after commit 42; 0: before the first
 *     2026-01-02T03:04:05Z     after the last commit that is not later
 *     0197...-...              after the commit with this id
 *     c0ffee                   the same by the end of the id: four or more digits, lower case
 *     before:NODE, after:NODE  around the first run of a node; #2: the second, #-1: the last. The
 *                              end of its path will do (node_path.c)
 *     anything else            the checkpoint of that name
 *
 * An ending of digits alone is a number; if there is no such commit, it is an ending after all. */
#include "backpack/look.h"

#include "base/hex.h"
#include "base/time.h"
#include "base/uuid.h"

#define ENDING_MIN 4u
#define ENDING_MAX 32u
#define CANDIDATES 8 /* that an ambiguous ending is told about */

/* ---- texts ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool all_are(valise_str text, bool (*is)(char c))
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is(text.ptr[i]))
            return false;
    }
    return text.len > 0;
}

static bool is_ending(valise_str text)
{
    size_t digits = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (is_hex(text.ptr[i]))
            digits++;
        else if (text.ptr[i] != '-' || i == 0 || i + 1 == text.len)
            return false;
    }
    /* A dash stands only where an id has one, counted from the end. */
    for (size_t i = 0; i < text.len && digits <= ENDING_MAX; i++) {
        size_t behind = text.len - 1 - i;
        bool dash = behind == 12 || behind == 17 || behind == 22 || behind == 27;
        if (digits < text.len && dash != (text.ptr[i] == '-'))
            return false;
    }
    return digits >= ENDING_MIN && digits <= ENDING_MAX;
}

static bool looks_like_date(valise_str text)
{
    return text.len > 10 && all_are(vls_str_head(text, 4), is_digit) && text.ptr[4] == '-' &&
           text.ptr[7] == '-' && (text.ptr[10] == 'T' || text.ptr[10] == 't');
}

/* NODE or NODE#2. */
static int parse_run(vls_point *out, int kind, valise_str text, valise_error *err)
{
    valise_str node = text;
    int64_t number = 1;

    for (size_t i = text.len; i > 0; i--) {
        if (text.ptr[i - 1] != '#')
            continue;
        if (vls_str_to_i64(&number, vls_str_from(text, i)))
            node = vls_str_head(text, i - 1);
        break;
    }
    if (number == 0)
        return vls_fail(err, VALISE_E_INVALID, "runs are numbered from 1, or backwards from -1");
    *out = (vls_point){.kind = kind, .number = number, .text = node};
    return vls_bag_check_node(node, err);
}

int vls_point_parse(vls_point *out, valise_str text, valise_error *err)
{
    vls_point point = {.kind = VLS_POINT_NAME, .text = text};
    int rc;

    if (vls_str_starts(text, VLS_STR("before:")))
        rc = parse_run(&point, VLS_POINT_BEFORE, vls_str_from(text, 7), err);
    else if (vls_str_starts(text, VLS_STR("after:")))
        rc = parse_run(&point, VLS_POINT_AFTER, vls_str_from(text, 6), err);
    else
        rc = vls_bag_check_name(text, err);
    if (rc < 0)
        return rc;
    if (vls_str_equal(text, VLS_STR("now"))) {
        point.kind = VLS_POINT_NOW;
    } else if (all_are(text, is_digit) && vls_str_to_i64(&point.number, text)) {
        point.kind = VLS_POINT_SEQ;
    } else if (looks_like_date(text)) {
        point.kind = VLS_POINT_TIME;
        rc = vls_time_parse_ns(&point.number, text, err);
    } else if (text.len == 36 && vls_uuid_parse(&point.commit, text, NULL) == 0) {
        point.kind = VLS_POINT_COMMIT;
    } else if (is_ending(text)) {
        point.kind = VLS_POINT_ENDING;
    }
    if (rc == 0)
        *out = point;
    return rc;
}

/* ---- commits ---- */

/* What is before the edge is gone; the error names what is the oldest now. */
static int fail_gone(const vls_ledger *ledger, const vls_ledger_head *head, const char *what,
                     valise_error *err)
{
    valise_commit first;
    int rc = ledger->ops->commit(&first, ledger->self, &head->id, head->edge + 1, NULL);

    (void)vls_fail(err, VALISE_E_LIMIT,
                   "%s is before what is kept: the oldest state is that after commit %lld%s%s",
                   what, (long long)head->edge, rc == 1 ? ", before " : "",
                   rc == 1 ? vls_time_text_of(first.time).s : "");
    vls_hint(err, "a checkpoint keeps a state for longer");
    return VALISE_E_LIMIT;
}

static int hint_history(valise_error *err)
{
    vls_hint(err, "'valise bp history' lists the commits");
    return VALISE_E_NOT_FOUND;
}

static int resolve_commit(int64_t *seq, const vls_ledger *ledger, const vls_ledger_head *head,
                          const valise_uuid *id, valise_error *err)
{
    int64_t number = vls_commit_seq_of(&head->id, id);
    valise_commit commit;
    int rc = 0;

    if (number > 0 && number <= head->last)
        rc = ledger->ops->commit(&commit, ledger->self, &head->id, number, err);
    if (rc < 0)
        return rc;
    if (rc == 1 && vls_uuid_equal(&commit.id, id) && number >= head->edge) {
        *seq = number;
        return 0;
    }
    if (number > 0 && number <= head->edge)
        return fail_gone(ledger, head, "the commit", err);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no commit %s here", vls_uuid_text(id).s);
    return hint_history(err);
}

static int resolve_ending(int64_t *seq, const vls_ledger *ledger, const vls_ledger_head *head,
                          valise_str text, valise_error *err)
{
    const vls_commit_ending ending = vls_commit_ending_parse(text);
    char list[CANDIDATES * 40] = "";
    int64_t found = 0, number = VLS_MAX(head->edge - 1, 0);
    int count = 0, rc = 0;

    while (rc >= 0 && (number = vls_commit_ending_next(&ending, &head->id, number)) <= head->last) {
        valise_commit commit;
        rc = ledger->ops->commit(&commit, ledger->self, &head->id, number, err);
        if (rc != 1 || !vls_commit_ending_matches(&ending, &commit.id))
            continue;
        found = number;
        if (count++ < CANDIDATES)
            (void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                           count > 1 ? ", " : "", vls_uuid_text(&commit.id).s);
    }
    if (rc < 0)
        return rc;
    if (count == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "no commit's id ends in %.*s",
                       VALISE_STR_ARG(text));
        return hint_history(err);
    }
    if (count > 1)
        return vls_fail(err, VALISE_E_CONFLICT, "the ids of %d commits end in %.*s: %s", count,
                        VALISE_STR_ARG(text), list);
    *seq = found;
    return 0;
}

static int resolve_seq(int64_t *seq, const vls_ledger *ledger, const vls_ledger_head *head,
                       const vls_point *point, valise_error *err)
{
    if (point->number < 0)
        return vls_fail(err, VALISE_E_INVALID, "commits are numbered from 1");
    if (point->number > head->last) {
        if (point->text.len >= ENDING_MIN && point->text.len <= ENDING_MAX &&
            resolve_ending(seq, ledger, head, point->text, NULL) == 0)
            return 0;
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no commit %lld: the newest is %lld",
                       (long long)point->number, (long long)head->last);
        return hint_history(err);
    }
    if (point->number < head->edge)
        return fail_gone(ledger, head, "the state", err);
    *seq = point->number;
    return 0;
}

/* The last commit with a time that is not later: times never decrease. [B12] */
static int resolve_time(int64_t *seq, const vls_ledger *ledger, const vls_ledger_head *head,
                        int64_t time, valise_error *err)
{
    int64_t low = head->edge, high = head->last + 1;
    valise_commit commit;
    int rc;

    while (high - low > 1) { /* low: not later, or the edge; high: later, or behind the last */
        int64_t middle = low + (high - low) / 2;
        rc = ledger->ops->commit(&commit, ledger->self, &head->id, middle, err);
        if (rc < 0)
            return rc;
        if (rc == 1 && commit.time <= time)
            low = middle;
        else
            high = middle;
    }
    if (low == 0 && head->origin_time != 0 && time < head->origin_time) {
        (void)vls_fail(err, VALISE_E_LIMIT,
                       "%s is before the state of its origin that the fork starts with, of %s",
                       vls_time_text_of(time).s, vls_time_text_of(head->origin_time).s);
        vls_hint(err, "the oldest state here is 0; for older ones look at the origin");
        return VALISE_E_LIMIT;
    }
    /* Of the edge itself the time may be known. */
    if (low == head->edge && low > 0) {
        rc = ledger->ops->commit(&commit, ledger->self, &head->id, low, err);
        if (rc < 0)
            return rc;
        if (rc == 0 || commit.time > time)
            return fail_gone(ledger, head, vls_time_text_of(time).s, err);
    }
    *seq = low;
    return 0;
}

static int resolve_name(int64_t *seq, const vls_ledger *ledger, const vls_ledger_head *head,
                        valise_str name, valise_error *err)
{
    vls_bag_checkpoint_row row = {.backpack = head->id, .name = name};
    int rc = ledger->ops->row_get(&row, ledger->self, &vls_bag_checkpoints, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || row.seq > head->last) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no checkpoint '%.*s'",
                       VALISE_STR_ARG(name));
        vls_hint(err, "a point may also be a commit (42, or the end of its id), a time, "
                      "before:NODE, after:NODE#2 or now");
        return VALISE_E_NOT_FOUND;
    }
    *seq = row.seq;
    return 0;
}

/* ---- runs ---- */

typedef struct run_search {
    valise_str node;
    int64_t last;
    int64_t wanted;
    int64_t most;  /* the newest that has started by then; 0: none */
    int64_t later; /* the first that started later; 0: none */
    vls_run_row found;
} run_search;

static int look_at_run(void *arg, const void *row, valise_error *err)
{
    const vls_run_row *run = row;
    run_search *s = arg;

    (void)err;
    if (!vls_str_equal(run->node_id, s->node))
        return 0;
    if (run->start > s->last) {
        s->later = s->later ? VLS_MIN(s->later, run->nth) : run->nth;
        return 0;
    }
    s->most = VLS_MAX(s->most, run->nth);
    if (run->nth == s->wanted) {
        s->found = *run;
        s->found.node_id = s->node;
    }
    return 0;
}

/* The rows of old runs may be gone: how many there were the others tell. 1, or 0 when it is gone.
 */
static int find_run(run_search *s, const vls_ledger *ledger, int64_t number, valise_error *err)
{
    int64_t count;
    int rc;

    s->wanted = number;
    rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, look_at_run, s, err);
    count = s->later ? s->later - 1 : s->most;
    if (rc == 0 && number < 0) {
        s->wanted = number = count + 1 + number;
        rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, look_at_run, s, err);
    }
    if (rc < 0)
        return rc;
    if (number >= 1 && number <= count)
        return s->found.number > 0;
    if (count == 0)
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "node '%.*s' has not run here",
                       VALISE_STR_ARG(s->node));
    else
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "node '%.*s' has run %lld time%s here",
                       VALISE_STR_ARG(s->node), (long long)count, count == 1 ? "" : "s");
    vls_hint(err, "'valise bp points' lists the runs");
    return VALISE_E_NOT_FOUND;
}

typedef struct last_commit {
    int64_t run, seq;
    bool oldest_first;
} last_commit;

static int find_last(void *arg, const valise_commit *commit, valise_error *err)
{
    last_commit *l = arg;

    (void)err;
    if (commit->run != l->run)
        return l->oldest_first;
    l->seq = commit->seq;
    return !l->oldest_first;
}

/* The commits of a run that nobody started follow each other; those of one that somebody did, and
 * that goes on, can be anywhere. */
int vls_run_end(int64_t *seq, const vls_ledger *ledger, const vls_run_row *run, valise_error *err)
{
    last_commit l = {.run = run->number, .seq = run->start, .oldest_first = run->end == 0};
    vls_ledger_head head;
    int rc = vls_look_head(&head, ledger, err);

    if (rc == 0 && run->end <= 0)
        rc = ledger->ops->each_commit(ledger->self, run->start + 1, head.last, !l.oldest_first,
                                      find_last, &l, err);
    if (rc < 0)
        return rc;
    *seq = run->end > 0 ? VLS_MIN(run->end, head.last) : l.seq;
    return 0;
}

static int resolve_run(int64_t *seq, const vls_ledger *ledger, const vls_scope *scope,
                       const vls_ledger_head *head, const vls_point *point, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    run_search s = {.last = head->last};
    int64_t at;
    int rc;

    vls_arena_init(&arena, vls_scope_env(scope), (size_t)1 << 16);
    rc = vls_bag_find_node(&s.node, ledger, scope, point->text, true, &arena, err);
    if (rc == 0)
        rc = find_run(&s, ledger, point->number, err);
    if (rc < 0)
        return rc;
    at = rc > 0 ? s.found.start : -1;
    if (rc > 0 && point->kind == VLS_POINT_AFTER)
        rc = vls_run_end(&at, ledger, &s.found, err);
    if (rc < 0)
        return rc;
    if (at < head->edge) {
        ledger->ops->enter(ledger->self);
        rc = fail_gone(ledger, head, "the run", err);
        ledger->ops->leave(ledger->self);
        return rc;
    }
    *seq = at;
    return 0;
}

static int is_held(void *arg, const void *row, valise_error *err)
{
    (void)err;
    return ((const vls_bag_checkpoint_row *)row)->seq == *(const int64_t *)arg;
}

int vls_point_held(const vls_ledger *ledger, int64_t seq, valise_error *err)
{
    return ledger->ops->each_row(ledger->self, &vls_bag_checkpoints, is_held, &seq, err);
}

int vls_point_resolve(int64_t *seq, const vls_ledger *ledger, const vls_scope *scope,
                      const vls_point *point, valise_error *err)
{
    vls_ledger_head head;
    int rc = 0;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc < 0) {
        ledger->ops->leave(ledger->self);
        return rc;
    }
    switch (point->kind) {
    case VLS_POINT_NOW:
        *seq = head.last;
        break;
    case VLS_POINT_SEQ:
        rc = resolve_seq(seq, ledger, &head, point, err);
        break;
    case VLS_POINT_TIME:
        rc = resolve_time(seq, ledger, &head, point->number, err);
        break;
    case VLS_POINT_COMMIT:
        rc = resolve_commit(seq, ledger, &head, &point->commit, err);
        break;
    case VLS_POINT_ENDING:
        rc = resolve_ending(seq, ledger, &head, point->text, err);
        break;
    case VLS_POINT_NAME:
        rc = resolve_name(seq, ledger, &head, point->text, err);
        break;
    default:
        break;
    }
    ledger->ops->leave(ledger->self);
    if (point->kind == VLS_POINT_BEFORE || point->kind == VLS_POINT_AFTER)
        rc = resolve_run(seq, ledger, scope, &head, point, err);
    if (rc == VALISE_E_LIMIT && point->kind == VLS_POINT_SEQ &&
        vls_point_held(ledger, point->number, NULL) > 0) {
        *seq = point->number;
        rc = 0;
    }
    return rc;
}

/* ---- the first one that ... ---- */

int vls_bisect(int64_t *seq, int64_t from, int64_t to, vls_holds_fn *holds, void *arg,
               valise_error *err)
{
    int rc;

    if (from >= to)
        return vls_fail(err, VALISE_E_INVALID,
                        "the end (commit %lld) must come after the start (commit %lld)",
                        (long long)to, (long long)from);
    rc = holds(arg, to, err);
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND,
                       "the condition does not hold after commit %lld either", (long long)to);
        vls_hint(err, "if it held before, give a TO point where it did");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        rc = holds(arg, from, err);
    if (rc > 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "the condition already holds after commit %lld",
                       (long long)from);
        vls_hint(err, "give an older FROM point, where it does not hold");
        return VALISE_E_INVALID;
    }
    while (rc >= 0 && to - from > 1) { /* it holds at to, and not at from */
        int64_t middle = from + (to - from) / 2;
        rc = holds(arg, middle, err);
        if (rc > 0)
            to = middle;
        else
            from = middle;
    }
    if (rc < 0)
        return rc;
    *seq = to;
    return 0;
}
