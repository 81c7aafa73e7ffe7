/* place.c -- see place.h. */
#include "store/place.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"

/* ---- writing ---- */

static bool is_plain(char c)
{
    return (uint8_t)c > 0x20 && c != '%' && c != '/' && c != 0x7f;
}

/* A path may be any bytes, and a place is a text: where it is no UTF-8, all but ASCII is escaped.
 */
static void write_text(vls_buf *out, valise_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    bool utf8 = vls_utf8_valid(text);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (is_plain(c) && (utf8 || (uint8_t)c < 0x80)) {
            vls_buf_add_byte(out, c);
        } else {
            vls_buf_add_byte(out, '%');
            vls_buf_add_byte(out, digits[(uint8_t)c >> 4]);
            vls_buf_add_byte(out, digits[(uint8_t)c & 15]);
        }
    }
}

static void write_part(vls_buf *out, const valise_field *field, const valise_cell *cell)
{
    if (cell->type == VALISE_CELL_INT)
        vls_buf_add_i64(out, cell->as.integer);
    else if (cell->type == VALISE_CELL_TEXT || field->type == VALISE_T_PATH)
        write_text(out, cell->as.bytes);
    else if (field->type == VALISE_T_UUID && cell->as.bytes.len == sizeof(valise_uuid))
        vls_buf_add_text(out, vls_uuid_text((const valise_uuid *)cell->as.bytes.ptr).s);
    else if (cell->type == VALISE_CELL_BLOB)
        vls_hex_encode(out, cell->as.bytes);
}

void vls_place_write(vls_buf *out, const vls_coll *coll, const valise_cell *key)
{
    vls_buf_add_text(out, coll->desc->name);
    for (uint16_t i = 0; i < coll->key_count; i++) {
        vls_buf_add_byte(out, '/');
        write_part(out, &coll->desc->fields[i], &key[i]);
    }
}

/* ---- candidates ---- */

/* What several things share their digits with; the error names some. */
typedef struct candidates {
    char text[VLS_PLACE_CANDIDATES * 80];
    size_t count;
    char id[65];    /* of the last one */
    char kind[64];  /* and what it is */
    bool different; /* not all have this id */
} candidates;

static void add_candidate(candidates *c, const char *kind, const char *id)
{
    size_t used = strlen(c->text);

    if (c->count > 0 && strcmp(c->id, id) != 0)
        c->different = true;
    if (c->count++ < VLS_PLACE_CANDIDATES)
        (void)snprintf(c->text + used, sizeof(c->text) - used, "%s%s%s%s", used ? ", " : "", kind,
                       *kind ? " " : "", id);
    (void)snprintf(c->id, sizeof(c->id), "%s", id);
    (void)snprintf(c->kind, sizeof(c->kind), "%s", kind);
}

static int fail_ambiguous(const candidates *c, valise_str text, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' is ambiguous: %s%s", VALISE_STR_ARG(text),
                   c->text, c->count > VLS_PLACE_CANDIDATES ? ", ..." : "");
    if (c->different)
        vls_hint(err, "give more digits");
    else /* rows of several collections about the same bytes */
        vls_hint(err, "give it as COLLECTION/ID, such as %s/%.8s", c->kind, c->id);
    return VALISE_E_CONFLICT;
}

/* ---- digits ---- */

/* Hex digits; UUIDs may have their dashes. Written without dashes, lower case, to out (64 and a
 * NUL); false when it is something else. */
static bool is_hex(char out[65], valise_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '-' && i > 0)
            continue;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || count == 64)
            return false;
        out[count++] = c;
    }
    out[count] = '\0';
    return true;
}

/* The same of 4 or more. */
static bool digits_of(char out[65], valise_str text)
{
    return is_hex(out, text) && strlen(out) >= VLS_PLACE_MIN_DIGITS;
}

static size_t id_size(const valise_field *field)
{
    return field->type == VALISE_T_UUID ? sizeof(valise_uuid) : sizeof(valise_id);
}

/* Do the bytes, written as digits, begin (ids) or end (UUIDs) like this? */
static bool has_digits(valise_str bytes, const char *digits, bool at_end)
{
    static const char hex[] = "0123456789abcdef";
    size_t count = strlen(digits), all = 2 * bytes.len;

    if (count > all)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = at_end ? all - count + i : i;
        uint8_t byte = (uint8_t)bytes.ptr[at / 2];
        if (hex[at % 2 ? byte & 15 : byte >> 4] != digits[i])
            return false;
    }
    return true;
}

/* ---- parts of a key ---- */

/* Undo %XX. */
static int read_text(valise_str *out, vls_arena *arena, valise_str part, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, arena->env, part.len);
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (c == '%') {
            char pair[3] = {0};
            VLS_AUTO(buf) vls_buf byte = {0};
            if (part.len - i < 3)
                return vls_fail(err, VALISE_E_INVALID, "a '%%' must be followed by two digits");
            for (int d = 0; d < 2; d++) {
                char digit = part.ptr[i + 1 + (size_t)d];
                pair[d] = (char)(digit >= 'A' && digit <= 'F' ? digit - 'A' + 'a' : digit);
            }
            vls_buf_init(&byte, arena->env, 1);
            if (vls_hex_decode(&byte, vls_str(pair, 2), err) < 0)
                return VALISE_E_INVALID;
            c = byte.ptr[0];
            i += 2;
        }
        vls_buf_add_byte(&text, c);
    }
    int rc = vls_buf_check(&text, err);
    return rc < 0 ? rc : vls_arena_dup(out, arena, vls_buf_str(&text), err);
}

/* The whole of an id or UUID; false when it is shortened or something else. */
static bool read_whole(uint8_t *bytes, const valise_field *field, valise_str part)
{
    if (field->type == VALISE_T_UUID)
        return vls_uuid_parse((valise_uuid *)bytes, part, NULL) == 0;
    return vls_id_parse((valise_id *)bytes, part, NULL) == 0;
}

/* The same of a cell that holds an id. Who wrote the store may have put anything there. */
static bool is_meant(valise_str bytes, const valise_field *field, const char *digits)
{
    return bytes.len == id_size(field) && has_digits(bytes, digits, field->type == VALISE_T_UUID);
}

/* Find the one row that has the parts before and whose next part is shortened to these digits. */
static int complete(valise_cell *key, uint16_t at, valise_view *view, const vls_coll *coll,
                    valise_str part, valise_error *err)
{
    const valise_field *field = &coll->desc->fields[at];
    valise_range range = {.index = -1, .equal = key, .equal_count = at};
    candidates found = {.count = 0};
    valise_scan *scan = NULL;
    const valise_cell *row;
    valise_str last = {NULL, 0};
    char digits[65];
    int rc;

    if (!digits_of(digits, part))
        return vls_fail(err, VALISE_E_INVALID,
                        "'%.*s' is neither an id nor %u or more digits of one",
                        VALISE_STR_ARG(part), VLS_PLACE_MIN_DIGITS);
    rc = vls_view_scan(&scan, view, coll, &range, err);
    while (rc >= 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        valise_str bytes = row[at].as.bytes;
        if (!is_meant(bytes, field, digits) || (last.ptr && vls_str_equal(bytes, last)))
            continue;
        rc = vls_arena_dup(&last, &view->arena, bytes, err);
        if (rc == 0)
            add_candidate(&found, "",
                          field->type == VALISE_T_UUID
                              ? vls_uuid_text((const valise_uuid *)last.ptr).s
                              : vls_id_hex((const valise_id *)last.ptr).s);
    }
    valise_scan_close(scan);
    if (rc < 0)
        return rc;
    if (found.count == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %s '%.*s'", coll->desc->name,
                        VALISE_STR_ARG(part));
    if (found.count > 1)
        return fail_ambiguous(&found, part, err);
    key[at] = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = last};
    return 0;
}

static int read_part(valise_cell *key, uint16_t at, valise_view *view, const vls_coll *coll,
                     valise_str part, valise_error *err)
{
    const valise_field *field = &coll->desc->fields[at];
    uint8_t bytes[sizeof(valise_id)];

    switch (vls_field_cell_type(field)) {
    case VALISE_CELL_INT:
        key[at].type = VALISE_CELL_INT;
        if (!vls_str_to_i64(&key[at].as.integer, part))
            return vls_fail(err, VALISE_E_INVALID, "'%.*s' is not a number", VALISE_STR_ARG(part));
        return 0;
    case VALISE_CELL_TEXT:
        key[at].type = VALISE_CELL_TEXT;
        return read_text(&key[at].as.bytes, &view->arena, part, err);
    default:
        if (field->type == VALISE_T_PATH) {
            key[at].type = VALISE_CELL_BLOB;
            return read_text(&key[at].as.bytes, &view->arena, part, err);
        }
        if (field->type != VALISE_T_UUID && field->type != VALISE_T_ID)
            return vls_fail(err, VALISE_E_UNSUPPORTED, "rows of %s cannot be named by text",
                            coll->desc->name);
        if (!read_whole(bytes, field, part))
            return complete(key, at, view, coll, part, err);
        key[at].type = VALISE_CELL_BLOB;
        return vls_arena_dup(&key[at].as.bytes, &view->arena, vls_str(bytes, id_size(field)), err);
    }
}

int vls_place_parse(const vls_coll **coll, valise_cell *key, valise_view *view, valise_str text,
                    valise_error *err)
{
    valise_str name, rest, part;
    const vls_coll *c;

    if (!vls_str_cut(&name, &rest, text, '/')) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not a place", vls_text_short(text).s);
        vls_hint(err, "a place has the form COLLECTION/KEY, such as pin/before-refactoring");
        return VALISE_E_INVALID;
    }
    c = vls_store_coll_named(view->txn->store, name);
    if (!c || c->own)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no collection '%.*s'",
                        VALISE_STR_ARG(name));
    for (uint16_t i = 0; i < c->key_count; i++) {
        bool more = vls_str_cut(&part, &rest, rest, '/');
        int rc;
        if (more != (i + 1 < c->key_count))
            return vls_fail(err, VALISE_E_INVALID, "a place of %s has %u parts after its name",
                            c->desc->name, (unsigned)c->key_count);
        rc = read_part(key, i, view, c, part, err);
        if (rc < 0)
            return rc;
    }
    *coll = c;
    return 0;
}

/* ---- anything ---- */

static int find_objects(vls_target *out, candidates *found, valise_view *view, const char *digits,
                        valise_error *err)
{
    vls_object_info infos[VLS_PLACE_CANDIDATES + 1];
    size_t count = 0;
    int rc =
        vls_object_find(infos, &count, VLS_COUNT(infos), view->txn, valise_str_of(digits), err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        out->kind = VLS_TARGET_OBJECT;
        out->object = infos[i];
        add_candidate(found, infos[i].kind, vls_id_hex(&infos[i].id).s);
    }
    return rc;
}

/* By the end of the command's id, or the beginning of the entry's hash. */
static int find_commands(vls_target *out, candidates *found, valise_view *view, const char *digits,
                         valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, view->txn, 0, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        bool by_id = has_digits(vls_str(&entry.id, sizeof(entry.id)), digits, true);
        bool by_hash = has_digits(vls_str(&entry.hash, sizeof(entry.hash)), digits, false);
        if (entry.seq <= view->at && (by_id || by_hash)) {
            out->kind = VLS_TARGET_ENTRY;
            out->seq = entry.seq;
            add_candidate(found, by_id ? "command" : "entry",
                          by_id ? vls_uuid_text(&entry.id).s : vls_id_hex(&entry.hash).s);
        }
        vls_arena_reset(&arena);
    }
    return rc;
}

/* Has a row with this key the id of the one object that was found? Then the row is meant. */
static bool is_of_object(const vls_target *out, const candidates *found, valise_str key)
{
    return found->count == 1 && out->kind == VLS_TARGET_OBJECT &&
           vls_str_equal(key, vls_str(&out->object.id, sizeof(out->object.id)));
}

/* Rows whose key is one id. */
static int find_rows(vls_target *out, candidates *found, valise_view *view, const vls_coll *coll,
                     const char *digits, valise_error *err)
{
    const valise_field *field = &coll->desc->fields[0];
    bool uuid = field->type == VALISE_T_UUID;
    valise_range range = {.index = -1};
    valise_scan *scan = NULL;
    const valise_cell *row;
    valise_str key;
    int rc;

    if (coll->own || coll->key_count != 1 || !(uuid || field->type == VALISE_T_ID) ||
        (coll->desc->flags & VALISE_COLL_WITNESS)) /* what it names is meant */
        return 0;
    rc = vls_view_scan(&scan, view, coll, &range, err);
    while (rc >= 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        if (!is_meant(row[0].as.bytes, field, digits))
            continue;
        rc = vls_arena_dup(&key, &view->arena, row[0].as.bytes, err);
        if (rc < 0)
            break;
        if (is_of_object(out, found, key))
            *found = (candidates){.count = 0};
        out->kind = VLS_TARGET_ROW;
        out->coll = coll;
        out->key[0] = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = key};
        add_candidate(found, coll->desc->name,
                      uuid ? vls_uuid_text((const valise_uuid *)key.ptr).s
                           : vls_id_hex((const valise_id *)key.ptr).s);
    }
    valise_scan_close(scan);
    return rc;
}

/* ---- rows whose id is not their key ---- */

typedef struct finding {
    vls_target *out;
    candidates *found;
    valise_view *view;
    const vls_coll *coll;
} finding;

static int take_named(void *arg, const void *row, const char *name, valise_error *err)
{
    const finding *f = arg;
    const valise_coll *desc = f->coll->desc;
    void *copy = vls_arena_alloc(&f->view->arena, desc->row_size);
    int rc;

    if (!copy)
        return vls_arena_fail(&f->view->arena, err);
    memcpy(copy, row, desc->row_size);
    rc = vls_row_to_cells(f->out->key, copy, desc->fields, &f->view->arena, err);
    if (rc < 0)
        return rc;
    f->out->kind = VLS_TARGET_ROW;
    f->out->coll = f->coll;
    f->out->by_name = true;
    if (f->found->count == 1 && strcmp(f->found->id, name) == 0)
        *f->found = (candidates){.count = 0}; /* a row that only keeps account of this one */
    add_candidate(f->found, desc->name, name);
    return 0;
}

static int take_found(void *arg, const void *row, const valise_uuid *id, valise_error *err)
{
    return take_named(arg, row, vls_uuid_text(id).s, err);
}

static int find_derived(vls_target *out, candidates *found, valise_view *view, const vls_coll *coll,
                        const char *digits, valise_error *err)
{
    finding f = {out, found, view, coll};
    const valise_coll *desc = coll->desc;
    bool has = !coll->foreign && desc->size >= offsetof(valise_coll, find) + sizeof(desc->find);

    return has && desc->find ? desc->find(view, valise_str_of(digits), take_found, &f, err) : 0;
}

/* Rows by the names that their collections give them. */
static int find_named(vls_target *out, candidates *found, valise_view *view, valise_str text,
                      bool widely, valise_error *err)
{
    const vls_store *store = view->txn->store;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++) {
        const vls_coll *coll = vls_store_coll_at(store, i);
        const valise_coll *desc = coll->desc;
        finding f = {out, found, view, coll};
        bool has =
            !coll->foreign && desc->size >= offsetof(valise_coll, named) + sizeof(desc->named);
        if (has && desc->named)
            rc = desc->named(view, text, widely, take_named, &f, err);
    }
    return rc;
}

static int find_digits(vls_target *out, candidates *found, valise_view *view, const char *digits,
                       valise_error *err)
{
    const vls_store *store = view->txn->store;
    int rc = find_objects(out, found, view, digits, err);

    if (rc == 0)
        rc = find_commands(out, found, view, digits, err);
    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++)
        rc = find_rows(out, found, view, vls_store_coll_at(store, i), digits, err);
    for (uint32_t i = 0; rc == 0 && i < vls_store_coll_count(store); i++)
        rc = find_derived(out, found, view, vls_store_coll_at(store, i), digits, err);
    return rc;
}

static int find_entry(vls_target *out, valise_view *view, int64_t seq, valise_error *err)
{
    const vls_tip *tip = &view->txn->tip;

    if (seq <= tip->base_seq || seq > view->at) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND,
                       "there is no log entry %lld: there are those from %lld to %lld",
                       (long long)seq, (long long)tip->base_seq + 1, (long long)view->at);
        vls_hint(err, "'valise log' lists them");
        return VALISE_E_NOT_FOUND;
    }
    *out = (vls_target){.kind = VLS_TARGET_ENTRY, .seq = seq};
    return 0;
}

bool vls_place_seq(int64_t *out, const valise_view *view, valise_str text)
{
    bool padded = text.len > 1 && text.ptr[0] == '0';
    int64_t seq;

    if (!vls_str_to_i64(&seq, text) || seq < 0)
        return false;
    if (text.len >= VLS_PLACE_MIN_DIGITS && (padded || seq > view->at))
        return false;
    *out = seq;
    return true;
}

static int fail_nothing(valise_str text, bool is_digits, valise_error *err)
{
    if (is_digits) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "nothing has the id '%s'", vls_text_short(text).s);
        vls_hint(
            err,
            "check that it is an id of this workspace; 'valise log' lists the ids of commands");
        return VALISE_E_NOT_FOUND;
    }
    (void)vls_fail(err, VALISE_E_INVALID, "'%.*s' is neither a seq, a place nor an id",
                   VALISE_STR_ARG(text));
    vls_hint(err, "give a seq, a place such as session/KEY, or %u or more digits of an id",
             VLS_PLACE_MIN_DIGITS);
    return VALISE_E_INVALID;
}

static int find_anything(vls_target *out, valise_view *view, valise_str text, valise_error *err)
{
    candidates found = {.count = 0};
    char digits[65];
    bool is_digits = digits_of(digits, text);
    valise_str name = is_digits ? valise_str_of(digits) : text;
    bool is_version = vls_str_find_byte(text, '@') < text.len;
    int rc = is_digits ? find_digits(out, &found, view, digits, err) : 0;

    if (rc == 0)
        rc = find_named(out, &found, view, name, false, err);
    if (rc == 0 && found.count == 0)
        rc = find_named(out, &found, view, name, true, err);
    if (rc < 0)
        return rc;
    if (found.count == 0)
        return fail_nothing(text, is_digits || is_version, err);
    return found.count > 1 ? fail_ambiguous(&found, text, err) : 0;
}

int vls_target_find(vls_target *out, valise_view *view, valise_str text, valise_error *err)
{
    int64_t seq;

    out->by_name = false;
    if (vls_str_find_byte(text, '/') < text.len) {
        out->kind = VLS_TARGET_ROW;
        return vls_place_parse(&out->coll, out->key, view, text, err);
    }
    if (vls_place_seq(&seq, view, text))
        return find_entry(out, view, seq, err);
    return find_anything(out, view, text, err);
}

/* ---- what begins so ---- */

#define OBJECTS_MOST 200u

static int begin_objects(valise_view *view, valise_str digits, vls_begin_fn *fn, void *arg,
                         valise_error *err)
{
    vls_object_info *infos = vls_arena_array(&view->arena, OBJECTS_MOST, sizeof(*infos));
    size_t count = 0;
    int rc;

    if (!infos)
        return vls_arena_fail(&view->arena, err);
    rc = vls_object_find(infos, &count, OBJECTS_MOST, view->txn, digits, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = fn(arg, &infos[i].id, infos[i].kind, err);
    return rc;
}

/* The smallest id that begins so. */
static void floor_of(uint8_t *out, const char *digits)
{
    memset(out, 0, sizeof(valise_id));
    for (size_t i = 0; digits[i]; i++) {
        unsigned value = (unsigned)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
        out[i / 2] |= (uint8_t)(i % 2 == 0 ? value << 4 : value);
    }
}

int vls_target_begin(valise_view *view, const vls_coll *coll, valise_str digits, vls_begin_fn *fn,
                     void *arg, valise_error *err)
{
    uint8_t low[sizeof(valise_id)] = {0};
    valise_cell from = {.type = VALISE_CELL_BLOB, .as.bytes = vls_str(low, sizeof(low))};
    valise_range range = {.index = -1, .from = &from, .from_count = 1};
    valise_scan *scan = NULL;
    const valise_cell *row;
    char text[65];
    valise_id id;
    int rc;

    if (!is_hex(text, digits))
        return 0;
    if (!coll)
        return digits.len > 0 ? begin_objects(view, valise_str_of(text), fn, arg, err) : 0;
    if (coll->own || coll->key_count != 1 || coll->desc->fields[0].type != VALISE_T_ID)
        return 0;
    floor_of(low, text);
    rc = vls_view_scan(&scan, view, coll, &range, err);
    while (rc == 0 && (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        valise_str key = row[0].as.bytes;
        if (key.len != sizeof(id) || !has_digits(key, text, false)) {
            rc = 0;
            break;
        }
        memcpy(&id, key.ptr, sizeof(id));
        rc = fn(arg, &id, coll->desc->name, err);
    }
    valise_scan_close(scan);
    return rc;
}
