/* score.c -- see score.h. */
#include "kit/score.h"

#include "base/base.h"
#include "base/text.h"

typedef struct score {
    valise_str name;
    int64_t points;
    valise_str word;  /* content */
    valise_str rival; /* NULLABLE */
    int64_t met;      /* points of the rival, when it met another */
} score;

typedef struct mark {
    valise_str name;
} mark;

static const valise_coll scores, marks;

/* ---- what the table calls ---- */

static int meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const score *ours = here, *theirs = there;
    score held = theirs->points > ours->points ? *theirs : *ours, rival = {.name = held.rival};
    int rc = held.rival.ptr ? valise_view_get(&rival, view, &scores, err) : 0;

    if (rc < 0)
        return rc;
    if (theirs->points < 0)
        return vls_fail(err, VALISE_E_CONFLICT, "%s would go below", vls_text_short(held.name).s);
    held.met = rc > 0 ? rival.points : -1;
    return valise_view_put(view, &scores, &held, err);
}

static int arrive(valise_view *view, const void *const *rows, size_t count, valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const score *row = rows[i];
        score rival = {.name = row->rival};
        int rc = row->rival.ptr ? valise_view_get(&rival, view, &scores, err) : 1;
        if (rc == 0)
            return vls_fail(err, VALISE_E_INVALID, "%s has no rival, of %zu that came",
                            vls_text_short(row->name).s, count);
        if (rc < 0)
            return rc;
    }
    return 0;
}

#define NOBODY_HAS (-999)

static int check(valise_check *c, valise_view *view, const void *row, valise_error *err)
{
    (void)view;
    return ((const score *)row)->points == NOBODY_HAS
               ? valise_check_problem(c, err, "ask again", "nobody has %d points", NOBODY_HAS)
               : 0;
}

static int erased(valise_view *view, const void *row, valise_error *err)
{
    const score *before = row;
    score now = {.name = before->name};
    const mark gone = {.name = before->name};
    int rc = valise_view_get(&now, view, &scores, err);

    if (rc <= 0 || now.word.ptr || !before->word.ptr)
        return rc < 0 ? rc : vls_fail(err, VALISE_E_CORRUPT, "it is not what it was");
    rc = valise_view_delete(view, &marks, &gone, err);
    return rc < 0 ? rc : 0;
}

static const valise_field score_fields[] = {
    VALISE_FIELD(score, name, STR, VALISE_REQUIRED | VALISE_KEY, "Whose."),
    VALISE_FIELD(score, points, INT, 0, "How many."),
    VALISE_FIELD(score, word, STR, VALISE_NULLABLE | VALISE_CONTENT, "What was said."),
    VALISE_FIELD(score, rival, STR, VALISE_NULLABLE, "Who else."),
    VALISE_FIELD(score, met, INT, 0, "What the rival had."),
    VALISE_FIELD_END,
};

static const valise_coll scores = {.size = sizeof(valise_coll),
                                   .name = "score.score",
                                   .help = "Points of somebody.",
                                   .fields = score_fields,
                                   .row_size = sizeof(score),
                                   .check = check,
                                   .erased = erased,
                                   .meet = meet,
                                   .arrive = arrive};

static const valise_field mark_fields[] = {
    VALISE_FIELD_WITH(mark, name, STR, VALISE_REQUIRED | VALISE_KEY, "Whose.",
                      .ref = "score.score"),
    VALISE_FIELD_END,
};

static const valise_coll marks = {.size = sizeof(valise_coll),
                                  .name = "score.mark",
                                  .help = "Somebody has points.",
                                  .fields = mark_fields,
                                  .row_size = sizeof(mark)};

/* ---- operations ---- */

static const valise_field put_in[] = {
    VALISE_FIELD(score, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Whose."),
    VALISE_FIELD_WITH(score, points, INT, 0, "How many.", .min = -1000, .max = 1000),
    VALISE_FIELD(score, word, STR, VALISE_NULLABLE, "What was said."),
    VALISE_FIELD(score, rival, STR, VALISE_NULLABLE, "Who else."),
    VALISE_FIELD_END,
};

static int put(valise_view *view, const void *in, void *out, valise_error *err)
{
    const mark there = {.name = ((const score *)in)->name};
    int rc = valise_view_put(view, &scores, in, err);

    (void)out;
    return rc < 0 ? rc : valise_view_put(view, &marks, &there, err);
}

static const valise_op put_op = {.size = sizeof(valise_op),
                                 .name = "score:put",
                                 .brief = "Note points.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "score:write",
                                 .in = put_in,
                                 .in_size = sizeof(score),
                                 .decide = put,
                                 .example = "{\"name\":\"a\"}"};

static int list(valise_view *view, const void *in, void *out, valise_error *err)
{
    valise_scan *scan = NULL;
    score row;
    int rc = valise_view_scan(&scan, view, &scores, NULL, err);

    (void)in, (void)out;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = valise_view_emit(view, &row, err);
    valise_scan_close(scan);
    return rc;
}

static const valise_op list_op = {.size = sizeof(valise_op),
                                  .name = "score:list",
                                  .brief = "List points.",
                                  .kind = VALISE_QUERY,
                                  .flags = VALISE_OP_LIST,
                                  .needs = "score:read",
                                  .out = score_fields,
                                  .out_size = sizeof(score),
                                  .query = list,
                                  .example = "{}"};

static const valise_coll *const colls[] = {&scores, &marks, NULL};
static const valise_op *const ops[] = {&put_op, &list_op, NULL};

const valise_extension score_extension = {.size = sizeof(valise_extension),
                                          .abi = VALISE_EXTENSION_ABI,
                                          .name = "score",
                                          .version = "1",
                                          .collections = colls,
                                          .operations = ops};
