/* op_merge.c -- backpack:merge, bring what another backpack changed into this one. */
#include "backpack/merging.h"

#define NAMED 5 /* keys that a message names */

typedef struct merging {
    vls_use *ours;
    vls_merge_result *result;
    valise_str key; /* that was merged last */
    vls_buf keys;
    int64_t count;
} merging;

static int note(void *arg, const vls_done *done, valise_error *err)
{
    merging *m = arg;
    valise_packed packed;

    /* A key may take two commits, one behind the other. */
    m->result->merged += !vls_str_equal(m->key, done->commit.key);
    m->key = done->commit.key;
    (void)err;
    return vls_use_done(&packed, m->ours, 0, done, done->commit.key, done->commit.action);
}

/* The first few keys, for the message. */
static int clash(void *arg, const valise_conflict *conflict, valise_error *err)
{
    merging *m = arg;

    (void)err;
    if (m->count++ < NAMED) {
        vls_buf_add_text(&m->keys, m->count > 1 ? ", " : "");
        vls_buf_add(&m->keys, conflict->key);
    }
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_merge_args *args = in;
    VLS_AUTO(merge_uses) vls_merge_uses uses = {0};
    merging m = {.ours = &uses.ours, .result = out};
    vls_merge_outcome outcome = {0};
    int rc = vls_merge_begin(&uses, view, args, err);
    const vls_scoped ours = vls_use_scoped(&uses.ours), base = vls_use_scoped(&uses.base),
                     theirs = vls_use_scoped(&uses.theirs);

    vls_buf_init(&m.keys, view->arena.env, (size_t)1 << 20);
    if (rc == 0)
        rc = vls_bag_merge(&outcome, &ours, &base, &theirs, uses.doubts, &uses.ours.call, note,
                           clash, &m, err);
    if (rc == 0 && outcome.whole)
        rc = vls_merge_remember(&uses, err);
    if (rc == VALISE_E_CONFLICT && outcome.conflicts > 0) {
        (void)vls_fail(err, VALISE_E_CONFLICT, "both changed %lld key%s: %.*s%s",
                       (long long)outcome.conflicts, outcome.conflicts == 1 ? "" : "s",
                       VALISE_STR_ARG(vls_buf_str(&m.keys)),
                       outcome.conflicts > NAMED ? ", ..." : "");
        vls_hint(err,
                 "'valise bp conflicts %.*s %.*s' shows both sides; make them equal (pack or rm), "
                 "then merge again",
                 VALISE_STR_ARG(args->who.backpack), VALISE_STR_ARG(args->theirs));
    }
    vls_buf_release(&m.keys);
    return rc;
}

static const valise_field merge_out[] = {
    VALISE_FIELD(vls_merge_result, merged, INT, 0, "How many keys were changed."),
    VALISE_FIELD_END,
};

const valise_op vls_op_backpack_merge = {
    .size = sizeof(valise_op),
    .name = "backpack:merge",
    .brief = "Merge the changes of a fork into its origin or another fork.",
    .help = "A three-way merge: applies what `theirs` changed since the newest state that both "
            "have in common (the fork, or the last merge), and keeps who did it. If both sides "
            "changed a key to different items, nothing is merged.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = vls_merge_in,
    .in_size = sizeof(vls_merge_args),
    .out = merge_out,
    .out_size = sizeof(vls_merge_result),
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"theirs\":\"run-1b\"}",
};
