/* coll.c -- from a collection to its table, and to its description in the store and back.
 *
 * Names: the field sessionId is the column session_id; the collection notes.page is the table
 * notes_page. Indexes are numbered as the descriptor lists them. */
#include "store/coll.h"

#include "base/hex.h"
#include "base/text.h"

#define NAME_MAX_BYTES 56u /* of a collection; backends put the names of indexes behind it */

static const char seq_name[] = "from_seq";
static const char sum_name[] = "sum";

/* ---- checks ---- */

static size_t word_length(const char *name)
{
    size_t n = 0;

    if (name[0] < 'a' || name[0] > 'z')
        return 0;
    while ((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9') ||
           name[n] == '_')
        n++;
    return n;
}

/* word, or word.word */
static bool is_coll_name(const char *name)
{
    size_t n = word_length(name);

    if (n > 0 && name[n] == '.') {
        size_t second = word_length(name + n + 1);
        n = second ? n + 1 + second : 0;
    }
    return n > 0 && name[n] == '\0' && n <= NAME_MAX_BYTES;
}

static int check_desc(const valise_coll *desc, valise_error *err)
{
    int rc;

    if (desc->size < offsetof(valise_coll, check) || !desc->name || !desc->fields)
        return vls_fail(err, VALISE_E_INVALID, "a collection without size, name or fields");
    if (!is_coll_name(desc->name))
        return vls_fail(err, VALISE_E_INVALID,
                        "'%s' cannot be the name of a collection: use one or two words of a to z, "
                        "0 to 9 and _, with a dot between, at most %u bytes",
                        vls_text_short(valise_str_of(desc->name)).s, NAME_MAX_BYTES);
    rc = vls_fields_check(desc->fields, desc->row_size, err);
    if (rc < 0) {
        vls_error_prepend(err, "%s", desc->name);
        return rc;
    }
    if (!(desc->fields[0].flags & VALISE_KEY))
        return vls_fail(err, VALISE_E_INVALID, "collection %s has no key", desc->name);
    return 0;
}

/* ---- columns ---- */

static int table_name(const char **out, const char *name, vls_arena *arena, valise_error *err)
{
    size_t len = strlen(name);
    char *copy = vls_arena_alloc(arena, len + 1);

    if (!copy)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i <= len; i++)
        copy[i] = name[i] == '.' ? '_' : name[i];
    *out = copy;
    return 0;
}

/* Columns of the store itself: from_seq (not in own tables) and sum. */
static uint16_t extra_count(const vls_coll *coll)
{
    return coll->own ? 1 : 2;
}

/* Where a field stands in the table. */
static uint16_t column_of(const vls_coll *coll, size_t field)
{
    return (uint16_t)(field < coll->first_count ? field : field + extra_count(coll));
}

static int build_columns(vls_coll *coll, vls_arena *arena, valise_error *err)
{
    uint16_t count = (uint16_t)(coll->field_count + extra_count(coll));
    valise_column *columns = vls_arena_array(arena, count, sizeof(*columns));

    if (!columns)
        return vls_arena_fail(arena, err);
    for (uint16_t i = 0; i < coll->field_count; i++) {
        const valise_field *f = &coll->desc->fields[i];
        vls_field_name words = vls_field_words(f->name, '_');
        valise_str name;
        if (strcmp(words.s, seq_name) == 0 || strcmp(words.s, sum_name) == 0)
            return vls_fail(err, VALISE_E_INVALID,
                            "collection %s: no field may be called %s, the store has a column of "
                            "that name",
                            coll->desc->name, f->name);
        int rc = vls_arena_dup(&name, arena, valise_str_of(words.s), err);
        if (rc < 0)
            return rc;
        columns[column_of(coll, i)] = (valise_column){.name = name.ptr,
                                                      .type = vls_field_cell_type(f),
                                                      .nullable = (f->flags & VALISE_KEY) == 0};
    }
    uint16_t at = coll->first_count;
    if (!coll->own)
        columns[at++] = (valise_column){.name = seq_name, .type = VALISE_CELL_INT};
    columns[at] = (valise_column){.name = sum_name, .type = VALISE_CELL_INT};
    coll->table.columns = columns;
    coll->table.column_count = count;
    return 0;
}

/* ---- indexes ---- */

static int build_index(valise_table_index *out, const vls_coll *coll,
                       const valise_coll_index *index, vls_arena *arena, valise_error *err)
{
    uint16_t *columns;
    uint16_t count = 0;

    while (index->fields && index->fields[count] && count <= VLS_FIELDS_MAX)
        count++;
    if (count == 0 || count > VLS_FIELDS_MAX)
        return vls_fail(err, VALISE_E_INVALID, "collection %s: index %s has no fields",
                        coll->desc->name, index->name);
    columns = vls_arena_array(arena, count, sizeof(*columns));
    if (!columns)
        return vls_arena_fail(arena, err);
    for (uint16_t i = 0; i < count; i++) {
        const valise_field *f =
            vls_fields_find(coll->desc->fields, valise_str_of(index->fields[i]));
        if (!f)
            return vls_fail(err, VALISE_E_INVALID, "collection %s: index %s has no field %s",
                            coll->desc->name, index->name, index->fields[i]);
        columns[i] = column_of(coll, (size_t)(f - coll->desc->fields));
    }
    *out = (valise_table_index){.name = index->name, .columns = columns, .count = count};
    return 0;
}

static uint16_t count_indexes(const valise_coll *desc)
{
    uint16_t count = 0;

    while (desc->indexes && desc->indexes[count].name && count < UINT16_MAX)
        count++;
    return count;
}

static int build_indexes(vls_coll *coll, vls_arena *arena, valise_error *err)
{
    uint16_t count = count_indexes(coll->desc);
    valise_table_index *indexes = vls_arena_array(arena, count, sizeof(*indexes));

    if (!indexes)
        return vls_arena_fail(arena, err);
    for (uint16_t i = 0; i < count; i++) {
        int rc = build_index(&indexes[i], coll, &coll->desc->indexes[i], arena, err);
        if (rc < 0)
            return rc;
    }
    coll->table.indexes = indexes;
    coll->table.index_count = count;
    return 0;
}

/* ---- building ---- */

static int build(vls_coll *out, const valise_coll *desc, bool own, size_t first_count,
                 vls_arena *arena, valise_error *err)
{
    vls_coll coll = {.desc = desc, .own = own};
    int rc;

    coll.field_count = (uint16_t)vls_fields_count(desc->fields);
    coll.first_count = (uint16_t)first_count;
    while (desc->fields[coll.key_count].flags & VALISE_KEY)
        coll.key_count++;
    for (uint16_t i = 0; i < coll.field_count; i++)
        coll.refs_inside |=
            vls_field_has_parts(&desc->fields[i]) && vls_field_refers(&desc->fields[i]);
    coll.table.key_count = coll.key_count;
    if (coll.key_count == 1 && desc->fields[0].type == VALISE_T_INT)
        coll.table.flags = VALISE_TABLE_NUMBERED;

    rc = table_name(&coll.table.name, desc->name, arena, err);
    if (rc == 0)
        rc = build_columns(&coll, arena, err);
    if (rc == 0)
        rc = build_indexes(&coll, arena, err);
    if (rc == 0)
        *out = coll;
    return rc;
}

int vls_coll_build_grown(vls_coll *out, const valise_coll *desc, size_t first_count,
                         vls_arena *arena, valise_error *err)
{
    int rc = check_desc(desc, err);

    if (rc < 0)
        return rc;
    assert(first_count <= vls_fields_count(desc->fields));
    return build(out, desc, false, first_count, arena, err);
}

int vls_coll_build(vls_coll *out, const valise_coll *desc, bool own, vls_arena *arena,
                   valise_error *err)
{
    int rc = check_desc(desc, err);

    return rc < 0 ? rc : build(out, desc, own, vls_fields_count(desc->fields), arena, err);
}

/* ---- keys ---- */

int vls_coll_check_key(const vls_coll *coll, const valise_cell *key, valise_error *err)
{
    bool names_another = strcmp(coll->desc->name, "erasure") == 0;
    size_t max = names_another ? VLS_PLACE_MAX_BYTES : VALISE_MAX_KEY_BYTES, bytes = 0;

    for (uint16_t i = 0; i < coll->key_count; i++) {
        if (key[i].type == VALISE_CELL_TEXT || key[i].type == VALISE_CELL_BLOB)
            bytes += key[i].as.bytes.len;
    }
    if (bytes <= max)
        return 0;
    (void)vls_fail(err, VALISE_E_TOO_LARGE, "the key of %s has %zu bytes: at most %zu are allowed",
                   vls_coll_place(coll, key).s, bytes, max);
    vls_hint(err, "a key must be short: keep long texts in another field");
    return VALISE_E_TOO_LARGE;
}

int32_t vls_coll_index(const vls_coll *coll, const char *name)
{
    if (!name)
        return -1;
    for (uint16_t i = 0; i < coll->table.index_count; i++) {
        if (strcmp(coll->table.indexes[i].name, name) == 0)
            return i;
    }
    return -2;
}

uint16_t vls_coll_order(uint16_t columns[2 * VALISE_MAX_COLUMNS], const vls_coll *coll,
                        int32_t index)
{
    uint16_t count = 0;

    if (index >= 0) {
        const valise_table_index *i = &coll->table.indexes[index];
        for (uint16_t c = 0; c < i->count; c++)
            columns[count++] = vls_coll_field_of(coll, i->columns[c]);
    }
    for (uint16_t c = 0; c < coll->key_count; c++)
        columns[count++] = c;
    return count;
}

/* ---- rows ---- */

int vls_row_of_cells(void **out, const vls_coll *coll, const valise_cell *cells, vls_arena *arena,
                     valise_error *err)
{
    const valise_coll *desc = coll->desc;
    void *row = vls_arena_zalloc(arena, desc->row_size);
    int rc;

    if (!row)
        return vls_arena_fail(arena, err);
    rc =
        vls_row_from_cells(row, desc->fields, desc->row_size, cells, coll->field_count, arena, err);
    if (rc == 0)
        *out = row;
    return rc;
}

/* ---- places ---- */

static void add_bytes(vls_buf *out, valise_str bytes)
{
    valise_uuid uuid;

    if (bytes.len == sizeof(uuid)) {
        memcpy(&uuid, bytes.ptr, sizeof(uuid));
        vls_buf_add_text(out, vls_uuid_text(&uuid).s);
        return;
    }
    vls_hex_encode(out, vls_str_head(bytes, 16));
    if (bytes.len > 16)
        vls_buf_add_text(out, "...");
}

static void add_key_cell(vls_buf *out, const valise_field *field, const valise_cell *cell)
{
    bool path = field->type == VALISE_T_PATH && cell->type == VALISE_CELL_BLOB;

    switch (path ? VALISE_CELL_TEXT : cell->type) {
    case VALISE_CELL_INT:
        vls_buf_add_i64(out, cell->as.integer);
        break;
    case VALISE_CELL_TEXT:
        vls_buf_add_text(out, vls_text_short(cell->as.bytes).s);
        break;
    case VALISE_CELL_BLOB:
        add_bytes(out, cell->as.bytes);
        break;
    default:
        vls_buf_add_byte(out, '?');
    }
}

/* What does not fit is left out: it is for messages only. */
vls_place_text vls_coll_place(const vls_coll *coll, const valise_cell *key)
{
    vls_place_text place = {""};
    vls_buf out = {.ptr = place.s, .cap = sizeof(place.s), .max = sizeof(place.s) - 1};

    vls_buf_add_text(&out, coll->desc->name);
    for (uint16_t i = 0; i < coll->key_count; i++) {
        vls_buf_add_byte(&out, ' ');
        add_key_cell(&out, &coll->desc->fields[i], &key[i]);
    }
    return place;
}
