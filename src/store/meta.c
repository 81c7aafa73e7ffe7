/* meta.c -- the table `meta`: names and JSON values.
 *
 * Every change moves the row `generation` on, once in a transaction. Who has read everything at one
 * generation need not read it again while that row stays the same (txn.c). */
#include "base/hex.h"
#include "store/impl.h"

#define TEXT_MAX 65536u /* of a value */

static valise_cell text_cell(valise_str s)
{
    return (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = s};
}

static const vls_coll *meta_of(const vls_txn *txn)
{
    return vls_store_coll_at(txn->store, VLS_TABLE_META);
}

static int fail_value(valise_str name, const char *what, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_CORRUPT, "meta %.*s is no %s", VALISE_STR_ARG(name), what);

    vls_hint(err, "'valise validate' looks for further damage");
    return rc;
}

/* 1 and the JSON text, valid until the next call with txn; or 0. */
static int get_text(valise_str *out, vls_txn *txn, valise_str name, valise_error *err)
{
    valise_cell key = text_cell(name), row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_get(row, txn, meta_of(txn), &key, err);

    if (rc != 1)
        return rc;
    if (row[1].type != VALISE_CELL_TEXT)
        return fail_value(name, "text", err);
    *out = row[1].as.bytes;
    return 1;
}

static int put_text(vls_txn *txn, valise_str name, valise_str json, valise_error *err)
{
    const valise_cell row[] = {text_cell(name), text_cell(json)};

    return vls_txn_put(txn, meta_of(txn), row, 0, err);
}

static int put_number(vls_txn *txn, valise_str name, int64_t value, valise_error *err)
{
    char room[VLS_U64_DIGITS + 2] = "";
    vls_buf text = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};

    vls_buf_add_i64(&text, value);
    return put_text(txn, name, vls_buf_str(&text), err);
}

int vls_meta_generation(int64_t *out, vls_txn *txn, valise_error *err)
{
    int64_t generation = 0;
    int rc = vls_meta_get_int(&generation, txn, "generation", err);

    if (rc < 0)
        return rc;
    *out = generation;
    return 0;
}

/* Something is about to change. */
static int move_on(vls_txn *txn, valise_error *err)
{
    int64_t generation;
    int rc;

    if (txn->meta_changed)
        return 0;
    rc = vls_meta_generation(&generation, txn, err);
    if (rc == 0)
        rc = put_number(txn, VLS_STR("generation"), generation + 1, err);
    txn->meta_changed = rc == 0;
    return rc;
}

/* ---- numbers ---- */

int vls_meta_get_int(int64_t *out, vls_txn *txn, const char *name, valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = get_text(&text, txn, valise_str_of(name), err);

    if (rc == 1 && !vls_str_to_i64(out, text))
        return fail_value(valise_str_of(name), "number", err);
    return rc;
}

int vls_meta_put_int(vls_txn *txn, const char *name, int64_t value, valise_error *err)
{
    int rc = move_on(txn, err);

    return rc < 0 ? rc : put_number(txn, valise_str_of(name), value, err);
}

/* ---- texts ---- */

int vls_meta_put_str(vls_txn *txn, const char *name, valise_str value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    vls_buf_init(&text, vls_store_env(txn->store), TEXT_MAX);
    vls_json_write_string(&text, value);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = move_on(txn, err);
    return rc < 0 ? rc : put_text(txn, valise_str_of(name), vls_buf_str(&text), err);
}

int vls_meta_delete(vls_txn *txn, const char *name, valise_error *err)
{
    valise_cell key = text_cell(valise_str_of(name));
    int rc = move_on(txn, err);

    if (rc == 0)
        rc = vls_txn_del(txn, meta_of(txn), &key, err);
    return rc < 0 ? rc : 0;
}

/* ---- all at once ---- */

/* The text of a JSON string without escapes. */
static valise_str unquote(valise_str text)
{
    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return VLS_STR("");
    return (valise_str){text.ptr + 1, text.len - 2};
}

static int take(vls_meta_state *state, valise_str name, valise_str text, valise_error *err)
{
    const struct {
        valise_str name;
        int64_t *number;
    } numbers[] = {
        {VLS_STR("generation"), &state->generation},
        {VLS_STR("format"), &state->format},
        {VLS_STR("schema"), &state->schema},
        {VLS_STR("collections"), &state->coll_count},
        {VLS_STR("base_seq"), &state->base_seq},
        {VLS_STR("base_time"), &state->base_time},
        {VLS_STR("gc_epoch"), &state->gc_epoch},
        {VLS_STR("object_floor"), &state->object_floor},
        {VLS_STR("chunk_floor"), &state->chunk_floor},
        {VLS_STR(VLS_META_ERASED_SEQ), &state->erased_seq},
    };

    for (size_t i = 0; i < VLS_COUNT(numbers); i++) {
        if (vls_str_equal(name, numbers[i].name))
            return vls_str_to_i64(numbers[i].number, text) ? 0 : fail_value(name, "number", err);
    }
    if (vls_str_equal(name, VLS_STR("base_hash")) &&
        vls_id_parse(&state->base_hash, unquote(text), NULL) < 0)
        return fail_value(name, "hash", err);
    if (vls_str_equal(name, VLS_STR("workspace")) &&
        vls_uuid_parse(&state->workspace, unquote(text), NULL) < 0)
        return fail_value(name, "UUID", err);
    return 0;
}

bool vls_meta_salvage(vls_meta_state *out, vls_txn *txn)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    bool whole = true;
    int rc = vls_txn_scan_open(&scan, txn, meta_of(txn), (valise_range){.index = -1}, NULL);

    *out = (vls_meta_state){.format = 0};
    if (rc < 0)
        return false;
    /* A row that cannot be read is passed over; after any other failure the scan is at its end. */
    while ((rc = vls_txn_scan_next(row, &scan, NULL)) != 0) {
        bool text = rc > 0 && row[0].type == VALISE_CELL_TEXT && row[1].type == VALISE_CELL_TEXT;
        whole &= text && take(out, row[0].as.bytes, row[1].as.bytes, NULL) == 0;
    }
    return whole;
}

int vls_meta_read_state(vls_meta_state *out, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    vls_meta_state state = {.format = 0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, meta_of(txn), (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(row, &scan, err)) == 1) {
        if (row[0].type != VALISE_CELL_TEXT || row[1].type != VALISE_CELL_TEXT)
            return fail_value(VLS_STR("?"), "text", err);
        rc = take(&state, row[0].as.bytes, row[1].as.bytes, err);
    }
    if (rc == 0)
        *out = state;
    return rc;
}
