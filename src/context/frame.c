/* frame.c -- frames: bases, ids, rows. */
#include "context/frame.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/actor.h"
#include "context/doubt.h"
#include "context/slot_impl.h"
#include "store/object.h"
#include "store/validate.h"
#include "store/view.h"
#include "tree/node.h"
#include "tree/rows.h"

_Static_assert(VLS_FRAME_AGENT_MAX == VLS_ACTOR_MAX, "agents are actors");

const char *const vls_frame_kinds[] = {"authored", "derived", "external", NULL};

static const valise_field frame_fields[] = {
    VALISE_FIELD(vls_frame_row, id, ID, VALISE_REQUIRED | VALISE_KEY, "Its id."),
    VALISE_FIELD_WITH(vls_frame_row, type, STR, VALISE_REQUIRED, "What it is, such as summary.",
                      .min = 1, .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD_WITH(vls_frame_row, agent, STR, VALISE_REQUIRED, "Who wrote it.", .min = 1,
                      .max = VLS_FRAME_AGENT_MAX),
    VALISE_FIELD_WITH(vls_frame_row, kind, ENUM, 0, "How it came about.", .more = vls_frame_kinds),
    VALISE_FIELD_WITH(vls_frame_row, basis, ID, VALISE_REQUIRED, "What it was made of.",
                      .ref = "object"),
    VALISE_FIELD_WITH(vls_frame_row, recipe, ID, VALISE_NULLABLE, "How to make it again.",
                      .ref = "object"),
    VALISE_FIELD_WITH(vls_frame_row, content, ID, VALISE_NULLABLE | VALISE_CONTENT, "What it says.",
                      .ref = "object"),
    VALISE_FIELD(vls_frame_row, size, INT, 0, "Bytes of the content."),
    VALISE_FIELD_END,
};

static const char *const by_basis[] = {"basis", "type", "agent", NULL};
static const valise_coll_index indexes[] = {{"basis", by_basis}, {NULL, NULL}};

static int check_row(valise_check *check, valise_view *view, const void *arg, valise_error *err);

const valise_coll vls_frames = {.size = sizeof(valise_coll),
                                .name = "frame",
                                .help = "What somebody knows about a node.",
                                .fields = frame_fields,
                                .row_size = sizeof(vls_frame_row),
                                .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
                                .indexes = indexes,
                                .check = check_row,
                                .event = vls_frame_event,
                                .needs = "context:read"};

/* ---- names ---- */

int vls_frame_type_check(valise_str type, valise_error *err)
{
    bool good = type.len > 0 && type.len <= VLS_FRAME_TYPE_MAX;

    for (size_t i = 0; good && i < type.len; i++) {
        char c = type.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    }
    if (good)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "'%s' is not a type of frame: use a to z, digits and . _ -, at most %u",
                   vls_text_short(type).s, VLS_FRAME_TYPE_MAX);
    vls_hint(err, "give one such as summary or notes.api");
    return VALISE_E_INVALID;
}

/* ---- bases ---- */

void vls_basis_add(vls_buf *out, const vls_dependency *dependency)
{
    vls_buf_add_byte(out, (char)dependency->kind);
    if (dependency->kind == VLS_DEP_SAID) {
        vls_buf_add_byte(out, dependency->dir ? 1 : 0);
        vls_bytes_add_string(out, dependency->name);
        vls_bytes_add_string(out, dependency->type);
        vls_bytes_add_string(out, dependency->agent);
    }
    vls_buf_add(out, vls_str(dependency->id.bytes, sizeof(dependency->id.bytes)));
}

static int fail_basis(valise_error *err, const char *why)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the basis of a frame is damaged: %s", why);
}

int vls_basis_next(vls_dependency *out, vls_reader *in, valise_error *err)
{
    vls_dependency dep = {0};
    valise_str id;

    if (vls_reader_is_done(in))
        return 0;
    dep.kind = vls_reader_u8(in);
    if (dep.kind < VLS_DEP_NODE || dep.kind > VLS_DEP_RECIPE)
        return fail_basis(err, "it depends on something of an unknown kind");
    if (dep.kind == VLS_DEP_SAID) {
        int dir = vls_reader_u8(in);
        dep.dir = dir == 1;
        dep.name = vls_reader_string(in);
        dep.type = vls_reader_string(in);
        dep.agent = vls_reader_string(in);
        if (in->failed || dir > 1 || dep.name.len == 0 || dep.name.len > VLS_NODE_NAME_MAX ||
            vls_frame_type_check(dep.type, NULL) < 0 || !vls_actor_id_is_valid(dep.agent))
            return fail_basis(err, "it has an impossible name");
    }
    id = vls_reader_slice(in, sizeof(dep.id.bytes));
    if (in->failed)
        return fail_basis(err, "it ends too early");
    memcpy(dep.id.bytes, id.ptr, id.len);
    *out = dep;
    return 1;
}

int vls_basis_recipe(valise_id *out, valise_str basis, valise_error *err)
{
    vls_reader in = vls_reader_of(basis);
    vls_dependency dep;
    int rc, found = 0;

    for (size_t i = 0; (rc = vls_basis_next(&dep, &in, err)) > 0; i++) {
        if (dep.kind != VLS_DEP_RECIPE)
            continue;
        if (i > 0)
            return fail_basis(err, "its recipe is not the first thing in it");
        *out = dep.id;
        found = 1;
    }
    return rc < 0 ? rc : found;
}

/* What kind of frame the recipe makes. */
static int kind_of_recipe(valise_str recipe, valise_error *err)
{
    if (vls_str_starts(recipe, VLS_STR(VLS_RECIPE_DERIVED)))
        return VLS_FRAME_DERIVED;
    if (vls_str_starts(recipe, VLS_STR(VLS_RECIPE_PROGRAM)) ||
        vls_str_starts(recipe, VLS_STR(VLS_RECIPE_EXTERNAL)))
        return VLS_FRAME_EXTERNAL;
    return vls_fail(err, VALISE_E_INVALID, "the recipe does not say what made the frame");
}

/* ---- ids ---- */

void vls_frame_id(valise_id *out, const valise_id *basis, valise_str type, valise_str agent,
                  const valise_id *content)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.frame.1");
    vls_hash_field_id(&hasher, basis);
    vls_hash_field(&hasher, type);
    vls_hash_field(&hasher, agent);
    vls_hash_field_id(&hasher, content);
    vls_hash_end(out, &hasher);
}

/* ---- rows ---- */

/* The kind of frame that a basis makes, and the recipe in it (else zero). */
static int kind_of_basis(int64_t *kind, valise_id *recipe, valise_view *view, valise_str basis,
                         valise_error *err)
{
    valise_str bytes;
    int rc = vls_basis_recipe(recipe, basis, err);

    if (rc <= 0) {
        *recipe = (valise_id){{0}};
        *kind = VLS_FRAME_AUTHORED;
        return rc;
    }
    rc = valise_view_object(&bytes, view, recipe, err);
    if (rc == 0)
        rc = kind_of_recipe(bytes, err);
    if (rc < 0)
        return rc;
    *kind = rc;
    return 0;
}

/* The bytes of the content: at hand, or those of its object. */
static int content_of(valise_str *out, valise_view *view, const valise_content *content,
                      valise_error *err)
{
    if (!content->bytes.ptr)
        return valise_view_object(out, view, &content->id, err);
    *out = content->bytes;
    return 0;
}

static int hash_frame(vls_frame_row *row, valise_str basis, valise_str content, valise_error *err)
{
    valise_id plain;
    int rc = vls_object_id(&row->basis, "basis", basis, err);

    if (rc < 0)
        return rc;
    vls_hash_bytes(&plain, content);
    vls_frame_id(&row->id, &row->basis, row->type, row->agent, &plain);
    return 0;
}

int vls_frame_compute(vls_frame_row *out, const vls_frame_new *frame, int64_t kind,
                      const valise_id *recipe, valise_error *err)
{
    vls_frame_row row = {.type = frame->type,
                         .agent = frame->agent,
                         .kind = kind,
                         .recipe = *recipe,
                         .size = (int64_t)frame->content.bytes.len};
    int rc = vls_object_id(&row.content, "data", frame->content.bytes, err);

    if (rc == 0)
        rc = hash_frame(&row, frame->basis, frame->content.bytes, err);
    if (rc == 0)
        *out = row;
    return rc;
}

int vls_frame_make(vls_frame_row *out, valise_view *view, const vls_frame_new *frame,
                   valise_error *err)
{
    vls_frame_row row = {.type = frame->type, .agent = frame->agent, .content = frame->content.id};
    valise_str content = {NULL, 0};
    int rc = vls_frame_type_check(frame->type, err);

    if (rc == 0 && !vls_actor_id_is_valid(frame->agent))
        rc = vls_fail(err, VALISE_E_INVALID, "'%s' cannot be the agent of a frame",
                      vls_text_short(frame->agent).s);
    if (rc == 0)
        rc = kind_of_basis(&row.kind, &row.recipe, view, frame->basis, err);
    if (rc == 0)
        rc = content_of(&content, view, &frame->content, err);
    if (rc < 0)
        return rc;
    row.size = (int64_t)content.len;
    rc = hash_frame(&row, frame->basis, content, err);
    if (rc == 0)
        *out = row;
    return rc;
}

/* What is said to be there already is read, and so checked: the bytes that came now are not stored
 * in place of others, and whoever hands them over may not keep them. Where there are none, these
 * are stored. [C8] */
static int check_stored(valise_view *view, const vls_frame_row *frame, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    int rc = vls_object_get(&blob, view->txn, &frame->content, err);

    if (rc != VALISE_E_NOT_FOUND)
        return rc;
    vls_error_clear(err);
    return 0;
}

/* What was erased is there again when somebody says it again, as everywhere. The row is the same
 * but for that. */
int vls_frame_put(valise_view *view, const vls_frame_row *frame, const vls_frame_new *from,
                  valise_error *err)
{
    vls_frame_row old = {.id = frame->id};
    vls_tree_row tree;
    valise_id basis;
    int rc = valise_view_get(&old, view, &vls_frames, err);

    if (rc < 0)
        return rc;
    if (rc > 0 && (vls_id_is_none(&old.content) || vls_id_equal(&old.content, &frame->content)) &&
        vls_id_equal(&old.basis, &frame->basis) && vls_str_equal(old.type, frame->type) &&
        vls_str_equal(old.agent, frame->agent)) {
        if (!vls_id_is_none(&old.content))
            return check_stored(view, frame, err);
        rc = vls_view_refill(view, &vls_frames, frame, err);
        if (rc == 0)
            rc = vls_tree_head(&tree, view, err);
        if (rc > 0)
            rc = vls_doubt_lose(view, &tree.id, err);
        return rc < 0 ? rc : 1;
    }
    if (rc > 0)
        return vls_fail(err, VALISE_E_CONFLICT, "frame %s exists and says something else",
                        vls_id_hex(&frame->id).s);
    rc = valise_view_add(&basis, view, "basis", from->basis, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_frames, frame, err);
    return rc < 0 ? rc : 1;
}

int vls_frame_get(vls_frame_row *out, valise_view *view, const valise_id *id, valise_error *err)
{
    vls_frame_row row = {.id = *id};
    int rc = valise_view_get(&row, view, &vls_frames, err);

    if (rc > 0)
        *out = row;
    return rc;
}

/* ---- by its first digits ---- */

enum { DIGITS_MIN = 4, DIGITS = 64, CANDIDATES_MAX = 5 };

/* The digits, and zeros behind them. */
static int pad(valise_id *out, valise_str given, valise_error *err)
{
    char digits[DIGITS];

    memset(digits, '0', sizeof(digits));
    if (given.len >= DIGITS_MIN && given.len <= DIGITS) {
        memcpy(digits, given.ptr, given.len);
        if (vls_id_parse(out, vls_str(digits, sizeof(digits)), NULL) == 0 &&
            (given.len < DIGITS || !vls_id_is_none(out)))
            return 0;
    }
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not an id of a frame", vls_text_short(given).s);
    vls_hint(err, "an id has %d hexadecimal digits; the first %d or more will do", DIGITS,
             DIGITS_MIN);
    return VALISE_E_INVALID;
}

static bool begins(const valise_id *id, const valise_id *with, size_t digits)
{
    size_t bytes = digits / 2;

    return memcmp(id->bytes, with->bytes, bytes) == 0 &&
           (digits % 2 == 0 || id->bytes[bytes] >> 4 == with->bytes[bytes] >> 4);
}

static int fail_ambiguous(const valise_id *ids, size_t count, valise_str given, valise_error *err)
{
    char list[CANDIDATES_MAX * 18 + 8] = "";
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.16s", i ? ", " : "",
                                vls_id_hex(&ids[i]).s);
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' is ambiguous: %s", VALISE_STR_ARG(given), list);
    vls_hint(err, "give more digits");
    return VALISE_E_CONFLICT;
}

/* Digits are looked for among all frames: who may not read all of them could spell out the ids of
 * the others, one digit after the other. */
static int check_actor(valise_view *view, valise_error *err)
{
    int rc = valise_view_allows(view, "context:read", NULL, err);

    if (rc == VALISE_E_DENIED)
        vls_hint(err, "with only a narrowed right to read, give all %d digits of the id", DIGITS);
    return rc;
}

int vls_frame_id_of(valise_id *out, valise_view *view, valise_str given, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    valise_id found[CANDIDATES_MAX];
    vls_frame_row row, probe = {.agent = {NULL, 0}};
    const valise_select from = {.row = &probe, .from = 1};
    size_t count = 0;
    int rc = pad(&probe.id, given, err);

    if (rc < 0)
        return rc;
    if (given.len == DIGITS) {
        *out = probe.id;
        return 0;
    }
    rc = check_actor(view, err);
    if (rc == 0)
        rc = valise_view_scan(&scan, view, &vls_frames, &from, err);
    while (rc == 0 && count < CANDIDATES_MAX && (rc = valise_scan_next(&row, scan, err)) > 0 &&
           begins(&row.id, &probe.id, given.len)) {
        found[count++] = row.id;
        rc = 0;
    }
    if (rc < 0)
        return rc;
    if (count == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "no frame begins with %.*s", VALISE_STR_ARG(given));
        vls_hint(err, "'valise list-frames NODE' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (count > 1)
        return fail_ambiguous(found, count, given, err);
    *out = found[0];
    return 0;
}

int vls_frame_of_basis(vls_frame_row *out, valise_view *view, const valise_id *basis,
                       valise_str type, valise_str agent, valise_error *err)
{
    const vls_frame_row probe = {.basis = *basis, .type = type, .agent = agent};
    const valise_select select = {.index = "basis", .row = &probe, .equal = 3};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_frame_row row = {0};
    int rc = valise_view_scan(&scan, view, &vls_frames, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    return rc <= 0 ? rc : vls_frame_get(out, view, &row.id, err); /* strings that stay */
}

/* ---- validating ---- */

/* A basis or recipe that cannot be read is a problem of the object; here is asked what is made of
 * them. */
static int check_id(valise_check *check, const vls_frame_row *row, valise_str basis,
                    valise_str content, valise_error *err)
{
    vls_frame_row computed = {.type = row->type, .agent = row->agent};
    int rc = hash_frame(&computed, basis, content, err);

    if (rc < 0)
        return rc;
    if (vls_id_equal(&computed.id, &row->id) && content.len == (size_t)row->size)
        return 0;
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                "its id does not match its contents");
}

static int check_row(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_frame_row *row = arg;
    valise_error why = VALISE_ERROR_INIT;
    valise_str basis, content;
    valise_id recipe = {{0}};
    int64_t kind = VLS_FRAME_AUTHORED;
    int rc;

    if (vls_frame_type_check(row->type, &why) < 0)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s", why.message);
    rc = valise_view_object(&basis, view, &row->basis, &why);
    if (rc == 0)
        rc = kind_of_basis(&kind, &recipe, view, basis, &why);
    if (rc == 0 && (kind != row->kind || !vls_id_equal(&recipe, &row->recipe)))
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "its recipe does not match its basis");
    if (rc == 0 && !vls_id_is_none(&row->content)) {
        rc = valise_view_object(&content, view, &row->content, &why);
        if (rc == 0)
            return check_id(check, row, basis, content, err);
    }
    if (rc == VALISE_E_CORRUPT || rc == VALISE_E_INVALID)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s", why.message);
    if (rc < 0 && rc != VALISE_E_NOT_FOUND) { /* erased, or missing: told elsewhere */
        if (err)
            *err = why;
        return rc;
    }
    return 0;
}
