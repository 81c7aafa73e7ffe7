/* op_erase.c -- backpack:erase, remove every version of an item's value from every file. */
#include <valise/sys/operation.h>

#include "backpack/rows.h"
#include "base/hex.h"
#include "base/text.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "kernel/erase.h"

typedef struct erase_args {
    valise_str backpack, key, reason;
} erase_args;

static const valise_field erase_in[] = {
    VALISE_FIELD_WITH(erase_args, backpack, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the backpack.", .min = 1, .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(erase_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Key of the item.",
                      .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VALISE_FIELD_WITH(erase_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

typedef struct finding {
    const erase_args *args;
    vls_arena arena;
    vls_vec(valise_str) places;
    valise_id source;
    size_t empty; /* commits that hold nothing, or were erased before */
} finding;

static int has_contents(bool *out, finding *f, const valise_commit *commit, valise_error *err)
{
    const valise_field *fields = vls_bag_commits.fields;
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_arena_mark mark = vls_arena_here(&f->arena);
    int rc = vls_row_to_cells(cells, commit, fields, &f->arena, err);

    *out = false;
    for (size_t i = 0; rc == 0 && fields[i].type != VALISE_T_END; i++)
        *out |= (fields[i].flags & VALISE_CONTENT) && cells[i].type != VALISE_CELL_NULL;
    vls_arena_rewind(&f->arena, mark);
    return rc;
}

/* backpack_commit/ID/SEQ */
static int add_place(finding *f, const valise_commit *commit, valise_error *err)
{
    char text[96];
    valise_str place;
    bool some = false;
    int len = snprintf(text, sizeof(text), "%s/%s/%lld", vls_bag_commits.name,
                       vls_uuid_text(&commit->backpack).s, (long long)commit->seq);
    int rc = has_contents(&some, f, commit, err);

    f->empty += rc == 0 && !some;
    if (rc < 0 || !some)
        return rc;
    rc = vls_arena_dup(&place, &f->arena, vls_str(text, (size_t)len), err);
    if (rc == 0 && !vls_vec_push(&f->places, f->arena.env, place))
        rc = vls_fail_memory(err);
    return rc;
}

static int refuse(const finding *f, valise_error *err)
{
    vls_text_brief key = vls_text_short(f->args->key), bag = vls_text_short(f->args->backpack);

    if (f->empty == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "backpack '%s' has no commit of '%s'", bag.s,
                       key.s);
        vls_hint(err, "'valise bp history' lists what was packed");
        return VALISE_E_NOT_FOUND;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND,
                   "'%s' in backpack '%s' has no contents that could be erased", key.s, bag.s);
    vls_hint(err, "'valise erasure list' shows what was erased before");
    return VALISE_E_NOT_FOUND;
}

/* Every commit of the key that holds something, also what only checkpoints and forks still need. */
static int find(void *arg, valise_view *view, valise_error *err)
{
    finding *f = arg;
    VLS_AUTO(rows) vls_rows rows = {0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    valise_commit commit = {.key = f->args->key};
    const valise_select select = {.index = "key", .row = &commit, .equal = 2};
    int rc = vls_rows_open(&rows, view, f->args->backpack, err);

    if (rc < 0)
        return rc;
    commit.backpack = rows.bag.id;
    rc = vls_bag_used(&f->source, view, &rows.bag.id, f->args->key, err);
    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_bag_commits, &select, err);
    while (rc == 0 && (rc = valise_scan_next(&commit, scan, err)) > 0)
        rc = add_place(f, &commit, err);
    return rc == 0 && f->places.len == 0 ? refuse(f, err) : rc;
}

static int erase(vls_erase_answer *out, valise_job *j, const finding *f, valise_error *err)
{
    const valise_str source = vls_str((const char *)f->source.bytes, sizeof(f->source.bytes));
    vls_erase_args args = {.reason = f->args->reason,
                           .places = {f->places.ptr, f->places.len},
                           .sources = {&source, 1}};

    if (f->places.len > VLS_ERASE_MAX_PLACES) {
        (void)vls_fail(err, VALISE_E_LIMIT, "'%s' has %zu versions: %d can be erased at once",
                       vls_text_short(f->args->key).s, f->places.len, VLS_ERASE_MAX_PLACES);
        vls_hint(err, "let the older ones expire first: valise retention set backpack");
        return VALISE_E_LIMIT;
    }
    return vls_erase_places(out, j, &args, err);
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    finding f = {.args = in, .places = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&f.arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = vls_with_view(v, NULL, find, &f, err);
    if (rc == 0)
        rc = erase(out, j, &f, err);
    vls_vec_release(&f.places, v->env);
    vls_arena_release(&f.arena);
    return rc;
}

const valise_op vls_op_backpack_erase = {
    .size = sizeof(valise_op),
    .name = "backpack:erase",
    .brief = "Erase the values of an item from every file.",
    .help =
        "All versions of the item in this backpack lose their contents, and the reasons for their "
        "quarantine go, too. The commits stay, with who made them and when. Other places that hold "
        "the same contents are listed, such as other items, forks and other backpacks.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = erase_in,
    .in_size = sizeof(erase_args),
    .out = vls_erase_answer_fields,
    .out_size = sizeof(vls_erase_answer),
    .job = job,
    .example = "{\"backpack\":\"run-1\",\"key\":\"user.email\",\"reason\":\"asked for\"}",
};
