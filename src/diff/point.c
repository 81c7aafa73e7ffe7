/* point.c -- see point.h. */
#include "diff/point.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "base/uuid.h"
#include "bus/read.h"
#include "store/place.h"
#include "store/view.h"

vls_diff_point vls_diff_point_now(const valise_view *view, const vls_tree_row *tree)
{
    return (vls_diff_point){.version = tree->version, .seq = view->at};
}

/* ---- versions ---- */

/* A version that came with a bundle has the seq of another log. */
static int of_version(vls_diff_point *out, valise_view *view, const vls_tree_version_row *row,
                      valise_error *err)
{
    int64_t here = 0;
    int rc = valise_view_version(&here, view, &vls_tree_versions, row, err);

    if (rc < 0)
        return rc;
    *out = (vls_diff_point){.version = row->version, .seq = here, .elsewhere = here != row->seq};
    return 1;
}

static bool is_version(valise_str given)
{
    int64_t number;

    return given.len > 1 && given.ptr[0] == 'v' && vls_str_to_i64(&number, vls_str_from(given, 1));
}

static int of_root(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                   valise_str given, valise_error *err)
{
    vls_tree_version_row row;
    int rc = is_version(given) || vls_tree_is_digits(given)
                 ? vls_tree_version_of(&row, view, tree, given, err)
                 : 0;

    return rc <= 0 ? rc : of_version(out, view, &row, err);
}

/* ---- seqs ---- */

static int of_seq(vls_diff_point *out, valise_view *view, int64_t seq, valise_error *err)
{
    VLS_AUTO(view) valise_view then = {0};
    vls_tree_row tree;
    int rc;

    vls_view_init(&then, view->txn, view->arena.env);
    rc = vls_view_go_to(&then, seq, err);
    if (rc == 0)
        rc = vls_tree_head(&tree, &then, err);
    if (rc < 0)
        return rc;
    *out = (vls_diff_point){.version = tree.version, .seq = seq};
    return 1;
}

static int of_place(vls_diff_point *out, valise_view *view, valise_str given, valise_error *err)
{
    int64_t seq = 0;
    int rc = vls_reading_seq(&seq, vls_reading_of(view), given, err);

    if (rc == VALISE_E_INVALID) {
        vls_error_clear(err);
        return 0;
    }
    return rc < 0 ? rc : of_seq(out, view, seq, err);
}

/* ---- checkpoints ---- */

typedef struct looking {
    const vls_tree_row *tree;
    valise_str name;            /* "": the newest before */
    const vls_diff_point *than; /* that */
    bool found;
    vls_checkpoint_row row; /* strings are not kept */
} looking;

static bool suits(const looking *l, const vls_checkpoint_row *row)
{
    if (l->name.len > 0)
        return vls_str_equal(row->name, l->name);
    return l->than && !row->partial && row->seq <= l->than->seq &&
           row->version <= l->than->version && (!l->found || row->seq > l->row.seq);
}

static int find_checkpoint(looking *l, valise_view *view, valise_error *err)
{
    vls_checkpoint_row probe = {.tree = l->tree->id}, row;
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_checkpoints, &of_tree, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (!suits(l, &row))
            continue;
        l->found = true;
        l->row = row;
        l->row.name = l->row.agent = VLS_STR("");
    }
    return rc;
}

/* Of its version; what was known when it was made. */
static int of_found(vls_diff_point *out, valise_view *view, const looking *l, valise_error *err)
{
    char text[32];
    int rc;

    (void)snprintf(text, sizeof(text), "v%lld", (long long)l->row.version);
    rc = of_root(out, view, l->tree, valise_str_of(text), err);
    if (rc > 0 && !out->elsewhere)
        out->seq = l->row.seq;
    return rc;
}

static int of_checkpoint(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                         valise_str given, valise_error *err)
{
    looking l = {.tree = tree, .name = given};
    int rc;

    if (valise_view_allows(view, "tree:read", NULL, NULL) < 0)
        return 0;
    rc = find_checkpoint(&l, view, err);
    return rc < 0 || !l.found ? rc : of_found(out, view, &l, err);
}

int vls_diff_point_before(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                          const vls_diff_point *than, valise_error *err)
{
    looking l = {.tree = tree, .name = VLS_STR(""), .than = than};
    vls_tree_version_row row = {.tree = tree->id, .version = than->version - 1};
    int rc = find_checkpoint(&l, view, err);

    if (rc == 0 && l.found)
        rc = of_found(out, view, &l, err);
    if (rc != 0)
        return vls_settle(rc);
    if (row.version > 0)
        rc = vls_tree_sees(tree, row.version, err);
    if (rc == 0 && row.version > 0)
        rc = valise_view_get(&row, view, &vls_tree_versions, err);
    if (rc > 0)
        rc = of_version(out, view, &row, err);
    else if (rc == 0)
        *out = (vls_diff_point){.version = 0};
    return vls_settle(rc);
}

/* ---- roots of the context ---- */

typedef struct tracing {
    valise_str digits;
    vls_context_row row;
    valise_id root; /* the newest one that fits */
    int64_t seq;    /* that made it; 0: none */
    bool ambiguous;
} tracing;

static int trace(void *arg, int64_t from_seq, valise_error *err)
{
    tracing *t = arg;

    (void)err;
    if (!vls_tree_has_digits(&t->row.root, t->digits))
        return 0;
    if (t->seq == 0) {
        t->seq = from_seq;
        t->root = t->row.root;
    }
    t->ambiguous = t->ambiguous || !vls_id_equal(&t->root, &t->row.root);
    return t->ambiguous || t->digits.len == 2 * sizeof(t->root.bytes);
}

static int refuse_ambiguous(valise_str given, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%s' matches more than one state",
                   vls_text_short(given).s);
    vls_hint(err, "give more digits of the root; a seq is written seq:42");
    return VALISE_E_CONFLICT;
}

static int of_context(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                      valise_str given, valise_error *err)
{
    tracing t = {.digits = given, .row = {.tree = tree->id}};
    int rc;

    if (!vls_tree_is_digits(given))
        return 0;
    rc = vls_view_each_version(&t.row, view, &vls_contexts, trace, &t, err);
    if (rc < 0 || t.seq == 0)
        return vls_settle(rc);
    return t.ambiguous ? refuse_ambiguous(given, err) : of_seq(out, view, t.seq, err);
}

/* ---- all of them ---- */

static bool is_seq(int64_t *seq, const valise_view *view, valise_str given)
{
    if (vls_str_starts(given, VLS_STR("seq:")))
        return vls_str_to_i64(seq, vls_str_from(given, 4)) && *seq >= 0;
    return vls_place_seq(seq, view, given);
}

static int find(vls_diff_point *out, valise_view *view, const vls_tree_row *tree, valise_str given,
                valise_error *err)
{
    bool prefixed = vls_str_starts(given, VLS_STR("seq:"));
    int64_t seq = 0;
    bool numbered = is_seq(&seq, view, given);
    int rc = 0;

    if (!prefixed)
        rc = of_checkpoint(out, view, tree, given, err);
    if (rc == 0 && !prefixed)
        rc = of_root(out, view, tree, given, err);
    if (rc == 0 && !prefixed)
        rc = of_context(out, view, tree, given, err);
    if (rc > 0 && numbered && vls_tree_is_digits(given))
        return refuse_ambiguous(given, err);
    if (rc == 0 && numbered)
        rc = of_seq(out, view, seq, err);
    if (rc == 0 && !prefixed)
        rc = of_place(out, view, given, err);
    return rc;
}

int vls_diff_point_find(vls_diff_point *out, valise_view *view, const vls_tree_row *tree,
                        valise_str given, valise_error *err)
{
    int rc;

    if (vls_str_equal(given, VLS_STR("now"))) {
        *out = vls_diff_point_now(view, tree);
        return 0;
    }
    rc = find(out, view, tree, given, err);
    if (rc != 0)
        return vls_settle(rc);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there was no state '%s'", vls_text_short(given).s);
    vls_hint(err, "give a root of the tree or of the context or its first digits, v and a number, "
                  "a checkpoint, a seq or a time; paths follow --");
    return VALISE_E_NOT_FOUND;
}
