/* rows.c -- see rows.h. */
#include "checkpoint/rows.h"

#include <valise/sys/store.h>

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/event.h"
#include "checkpoint/manifest.h"
#include "field/row.h"
#include "store/validate.h"
#include "store/view.h"

/* ---- tables ---- */

static const valise_field checkpoint_fields[] = {
    VALISE_FIELD(vls_checkpoint_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree."),
    VALISE_FIELD_WITH(vls_checkpoint_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name.",
                      .min = 1, .max = VLS_CHECKPOINT_NAME_MAX),
    VALISE_FIELD_WITH(vls_checkpoint_row, manifest, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "What it lists.", .ref = "object"),
    VALISE_FIELD(vls_checkpoint_row, partial, BOOL, 0,
                 "It has only what a restore was about to change."),
    VALISE_FIELD(vls_checkpoint_row, version, INT, 0, "Version of the tree."),
    VALISE_FIELD(vls_checkpoint_row, root, ID, VALISE_NULLABLE, "Root of that version."),
    VALISE_FIELD(vls_checkpoint_row, time, TIME, 0, "When it was made."),
    VALISE_FIELD_WITH(vls_checkpoint_row, seq, INT, 0, "The command that made it.", .ref = "log"),
    VALISE_FIELD(vls_checkpoint_row, agent, STR, 0, "Who made it."),
    VLS_CHECKPOINT_COUNT_FIELDS(vls_checkpoint_row),
    VALISE_FIELD_END,
};

static const valise_field content_fields[] = {
    VALISE_FIELD(vls_tree_content_row, hash, ID, VALISE_REQUIRED | VALISE_KEY,
                 "SHA-256 of the bytes."),
    VALISE_FIELD_WITH(vls_tree_content_row, object, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "The bytes, up to 16 MiB.", .ref = "object"),
    VALISE_FIELD_WITH(vls_tree_content_row, blob, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "The bytes of a larger file.", .ref = "blob"),
    VALISE_FIELD(vls_tree_content_row, size, INT, 0, "Its size in bytes."),
    VALISE_FIELD_END,
};

/* ---- events ---- */

/* One that a bundle brought was not made here: its seq is that of another log. */
static int tell(valise_event *out, valise_view *view, const void *before, const void *after,
                valise_error *err)
{
    const vls_checkpoint_row *row = after ? after : before;
    vls_checkpoint_row told;

    if (!row || (before && after) || (after && row->seq != valise_view_stamp(view)->seq))
        return 0;
    told = *row;
    told.manifest = (valise_id){{0}};
    return vls_event_tell(out, view, after ? "checkpoint.made" : "checkpoint.removed", &told,
                          checkpoint_fields, err);
}

/* ---- validating ---- */

static int check_contents(valise_check *check, valise_view *view, vls_manifest_reader *reader,
                          valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_tree_content_row content;
    vls_manifest_entry e;
    int rc;

    while ((rc = vls_manifest_next(&e, reader, &why)) > 0) {
        if (e.kind != VLS_MANIFEST_FILE)
            continue;
        rc = vls_tree_content_get(&content, view, &e.content, err);
        if (rc == 0)
            rc = valise_check_problem(check, err,
                                      "make a checkpoint of the same files again, or restore the "
                                      "workspace from a bundle or a backup",
                                      "the content of '%s' is missing (%s)",
                                      vls_text_short(e.path).s, vls_id_hex(&e.content).s);
        if (rc < 0)
            return rc;
    }
    return rc == 0 ? 0 : valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s", why.message);
}

static int check_checkpoint(valise_check *check, valise_view *view, const void *arg,
                            valise_error *err)
{
    const vls_checkpoint_row *row = arg;
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    valise_error why = VALISE_ERROR_INIT;
    valise_str bytes;
    int rc;

    if (vls_id_is_none(&row->manifest) ||
        valise_view_object(&bytes, view, &row->manifest, &why) < 0)
        return 0; /* erased; missing or damaged objects are told elsewhere */
    rc = vls_manifest_open(&reader, view->arena.env, bytes, &why);
    if (rc < 0)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s", why.message);
    if (reader.partial != row->partial)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "its manifest and its row differ on whether it is partial");
    return check_contents(check, view, &reader, err);
}

static int check_content(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_tree_content_row *row = arg;
    valise_error why = VALISE_ERROR_INIT;
    valise_str bytes;
    valise_id hash;

    if (!vls_id_is_none(&row->blob) && !vls_id_equal(&row->blob, &row->hash))
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "its blob does not match its hash");
    if (vls_id_is_none(&row->object) || valise_view_object(&bytes, view, &row->object, &why) < 0)
        return 0;
    vls_hash_bytes(&hash, bytes);
    if (!vls_id_equal(&hash, &row->hash) || (int64_t)bytes.len != row->size)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "its object does not match its hash and size");
    return 0;
}

/* ---- a part of a workspace ---- */

/* A manifest names contents: who takes a checkpoint along needs their rows. */
static int lead(valise_view *view, const void *arg, valise_lead_fn *fn, void *fn_arg,
                valise_error *err)
{
    const vls_checkpoint_row *row = arg;
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    VLS_AUTO(blob) valise_blob *manifest = NULL;
    vls_manifest_entry e;
    int rc;

    if (vls_id_is_none(&row->manifest))
        return 0; /* erased */
    rc = vls_checkpoint_open(&manifest, view, row, err);
    if (rc == 0)
        rc = vls_manifest_open(&reader, view->arena.env, valise_blob_bytes(manifest), err);
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, err)) > 0) {
        const vls_tree_content_row content = {.hash = e.content};
        rc = e.kind == VLS_MANIFEST_FILE ? fn(fn_arg, &vls_tree_contents, &content, err) : 0;
    }
    return rc;
}

const valise_coll vls_checkpoints = {.size = sizeof(valise_coll),
                                     .name = "checkpoint",
                                     .help = "The files of the tree at one time, with their bytes.",
                                     .fields = checkpoint_fields,
                                     .row_size = sizeof(vls_checkpoint_row),
                                     .check = check_checkpoint,
                                     .event = tell,
                                     .needs = "tree:read",
                                     .leads = lead};

/* For whoever lets go of a blob, and asks who else names it. */
static const char *const by_blob[] = {"blob", NULL};
static const valise_coll_index content_indexes[] = {{"blob", by_blob}, {NULL, NULL}};

const valise_coll vls_tree_contents = {.size = sizeof(valise_coll),
                                       .name = "tree_content",
                                       .help = "The bytes of a file that some checkpoint lists.",
                                       .fields = content_fields,
                                       .row_size = sizeof(vls_tree_content_row),
                                       .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
                                       .indexes = content_indexes,
                                       .check = check_content,
                                       .needs = "tree:read"};

/* ---- contents ---- */

int vls_tree_content_get(vls_tree_content_row *out, valise_view *view, const valise_id *hash,
                         valise_error *err)
{
    vls_tree_content_row row = {.hash = *hash};
    int rc = valise_view_get(&row, view, &vls_tree_contents, err);

    if (rc <= 0)
        return rc;
    *out = row;
    return vls_id_is_none(&row.object) && vls_id_is_none(&row.blob) ? 2 : 1;
}

/* What was erased is there again when somebody keeps it again. */
int vls_tree_content_put(valise_view *view, const vls_tree_content_row *row, valise_error *err)
{
    vls_tree_content_row old;
    int rc = vls_tree_content_get(&old, view, &row->hash, err);

    if (rc < 0 || rc == 1)
        return vls_settle(rc);
    return rc == 2 ? vls_view_refill(view, &vls_tree_contents, row, err)
                   : valise_view_put(view, &vls_tree_contents, row, err);
}

/* ---- names ---- */

int vls_checkpoint_name_check(valise_str name, valise_error *err)
{
    static const char *const verbs[] = {"diff", "list", "show", "remove"};
    bool good = name.len > 0 && name.len <= VLS_CHECKPOINT_NAME_MAX && name.ptr[0] != '-';

    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.ptr[i];
        good = vls_is_alnum(c) || c == '.' || c == '_' || c == '-';
    }
    for (size_t i = 0; good && i < VLS_COUNT(verbs); i++)
        good = !vls_str_equal(name, valise_str_of(verbs[i]));
    if (good)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "'%s' cannot be the name of a checkpoint: use letters, digits and . _ -, at "
                   "most %u, and no verb such as list",
                   vls_text_short(name).s, VLS_CHECKPOINT_NAME_MAX);
    vls_hint(err, "give one such as before-refactoring");
    return VALISE_E_INVALID;
}

/* ---- finding ---- */

typedef struct finding {
    valise_str given;
    valise_uuid own; /* tree; zero: none */
    bool has_own;
    int64_t version; /* "v12"; -1: it is none */
    vls_checkpoint_row named, other, newest;
    int named_count, other_count;
    bool any, ambiguous; /* newest; and another root fits the digits as well */
} finding;

static bool starts_with(const valise_id *id, valise_str digits)
{
    return digits.len >= 4 && !vls_id_is_none(id) &&
           vls_str_starts(valise_str_of(vls_id_hex(id).s), digits);
}

static void consider(finding *f, const vls_checkpoint_row *row)
{
    bool own = f->has_own && memcmp(&row->tree, &f->own, sizeof(f->own)) == 0;

    if (vls_str_equal(row->name, f->given)) {
        if (own) {
            f->named = *row;
            f->named_count = 1;
        } else {
            f->other = *row;
            f->other_count++;
        }
    }
    if (row->partial ||
        !((own && row->version == f->version) || starts_with(&row->root, f->given) ||
          starts_with(&row->manifest, f->given)))
        return;
    f->ambiguous = f->ambiguous || (f->any && !vls_id_equal(&f->newest.root, &row->root));
    if (!f->any || f->newest.seq < row->seq)
        f->newest = *row;
    f->any = true;
}

static int keep_strings(vls_checkpoint_row *row, valise_view *view, valise_error *err)
{
    int rc = vls_arena_dup(&row->name, &view->arena, row->name, err);

    return rc < 0 ? rc : vls_arena_dup(&row->agent, &view->arena, row->agent, err);
}

static int choose(vls_checkpoint_row *out, const finding *f, valise_error *err)
{
    if (f->named_count == 0 && f->other_count > 1)
        return vls_fail(err, VALISE_E_CONFLICT,
                        "%d checkpoints of other trees are called '%s': give digits of its root",
                        f->other_count, vls_text_short(f->given).s);
    if (f->named_count == 0 && f->other_count == 0 && !f->any) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no checkpoint '%s'",
                       vls_text_short(f->given).s);
        vls_hint(err, "'valise checkpoint list' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (f->named_count == 0 && f->other_count == 0 && f->ambiguous)
        return vls_fail(err, VALISE_E_CONFLICT,
                        "'%s' matches more than one checkpoint: give more of it",
                        vls_text_short(f->given).s);
    *out = f->named_count ? f->named : f->other_count ? f->other : f->newest;
    return 0;
}

int vls_checkpoint_find(vls_checkpoint_row *out, valise_view *view, valise_str given,
                        valise_error *err)
{
    finding f = {.given = given, .version = -1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_checkpoint_row row = {0};
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc < 0)
        return rc;
    f.has_own = rc > 0;
    f.own = tree.id;
    if (given.len > 1 && given.ptr[0] == 'v' && !vls_str_to_i64(&f.version, vls_str_from(given, 1)))
        f.version = -1;
    rc = valise_view_scan(&scan, view, &vls_checkpoints, NULL, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = keep_strings(&row, view, err);
        if (rc == 0)
            consider(&f, &row);
    }
    return rc < 0 ? rc : choose(out, &f, err);
}

static int check_listed(const vls_checkpoint_row *row, valise_error *err)
{
    return vls_id_is_none(&row->manifest)
               ? vls_fail(err, VALISE_E_NOT_FOUND, "what checkpoint '%.*s' listed was erased",
                          VALISE_STR_ARG(row->name))
               : 0;
}

int vls_checkpoint_manifest(valise_str *out, valise_view *view, const vls_checkpoint_row *row,
                            valise_error *err)
{
    int rc = check_listed(row, err);

    return rc < 0 ? rc : valise_view_object(out, view, &row->manifest, err);
}

int vls_checkpoint_open(valise_blob **out, valise_view *view, const vls_checkpoint_row *row,
                        valise_error *err)
{
    int rc = check_listed(row, err);

    return rc < 0 ? rc : vls_view_blob(out, view, &row->manifest, err);
}

int vls_checkpoint_state(valise_id *out, valise_view *view, valise_error *err)
{
    vls_hasher hasher;
    vls_checkpoint_row row = {0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc;

    vls_hash_begin_tagged(&hasher, "valise.checkpoints.1");
    rc = valise_view_scan(&scan, view, &vls_checkpoints, NULL, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        vls_hash_field(&hasher, vls_str(row.tree.bytes, sizeof(row.tree.bytes)));
        vls_hash_field(&hasher, row.name);
        vls_hash_field_id(&hasher, &row.manifest);
        rc = 0;
    }
    if (rc == 0)
        vls_hash_end(out, &hasher);
    return rc;
}
