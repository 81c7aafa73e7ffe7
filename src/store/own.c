/* own.c -- the store's own tables.
 *
 * They are described like collections, so that backends, sums and structs work the same way, but
 * nothing of them is state: no row has a from_seq, and no entry of the log mentions one.
 *
 * `meta` and `collection` never change their columns: a program of another format reads them to
 * find out that it must not read the rest. */
#include "store/own.h"

#include "store/log.h"

#define COLL(table_name, text, struct_type, table, index_list)                                     \
    {                                                                                              \
        .size = sizeof(valise_coll), .name = (table_name), .help = (text), .fields = (table),      \
        .row_size = sizeof(struct_type), .flags = VALISE_COLL_EXEMPT, .indexes = (index_list)      \
    }

static const valise_field meta_fields[] = {
    VALISE_FIELD(vls_meta_row, name, STR, VALISE_KEY, "Name."),
    VALISE_FIELD(vls_meta_row, value, JSON, 0, "Value."),
    VALISE_FIELD_END,
};

static const valise_field coll_fields[] = {
    VALISE_FIELD(vls_coll_row, number, INT, VALISE_KEY, "Number of the table."),
    VALISE_FIELD(vls_coll_row, name, STR, 0, "Name of the collection."),
    VALISE_FIELD(vls_coll_row, description, JSON, 0, "Fields, flags and indexes."),
    VALISE_FIELD_END,
};

static const valise_field log_fields[] = {
    VALISE_FIELD(vls_entry, seq, INT, VALISE_KEY, "Place in the order."),
    VALISE_FIELD(vls_entry, id8, INT, 0, "The first 8 bytes of id."),
    VALISE_FIELD(vls_entry, id, UUID, 0, "Id of the command."),
    VALISE_FIELD(vls_entry, time, TIME, 0, "When it was accepted."),
    VALISE_FIELD(vls_entry, actor, STR, 0, "Who did it."),
    VALISE_FIELD(vls_entry, cause, UUID, VALISE_NULLABLE, "The command that made it necessary."),
    VALISE_FIELD(vls_entry, type, STR, 0, "Name of the operation."),
    VALISE_FIELD(vls_entry, commitment, ID, 0, "Hash of nonce and payload."),
    VALISE_FIELD(vls_entry, hash, ID, 0, "Hash of the entry and the one before."),
    VALISE_FIELD(vls_entry, nonce, BYTES, VALISE_NULLABLE, "Goes when the payload is erased."),
    VALISE_FIELD(vls_entry, payload, JSON, VALISE_NULLABLE, "What was asked for, ids only."),
    VALISE_FIELD(vls_entry, sent, ID, VALISE_NULLABLE, "Hash of nonce and payload as sent."),
    VALISE_FIELD(vls_entry, result, JSON, VALISE_NULLABLE, "The answer, for a retry."),
    VALISE_FIELD(vls_entry, changes, BYTES, VALISE_NULLABLE, "The rows as they were before."),
    VALISE_FIELD_END,
};

static const valise_field object_fields[] = {
    VALISE_FIELD(vls_object_row, number, INT, VALISE_KEY, "Number of the row."),
    VALISE_FIELD(vls_object_row, h8, INT, 0, "The first 8 bytes of hash."),
    VALISE_FIELD(vls_object_row, hash, ID, 0, "Id of the object."),
    VALISE_FIELD(vls_object_row, kind, STR, 0, "What it is; part of the id."),
    VALISE_FIELD(vls_object_row, size, INT, 0, "Bytes of the contents."),
    VALISE_FIELD(vls_object_row, time, TIME, 0, "When it was last put or referred to."),
    VALISE_FIELD(vls_object_row, recipe, BYTES, VALISE_NULLABLE, "The chunks it is made of."),
    VALISE_FIELD(vls_object_row, body, BYTES, VALISE_NULLABLE, "The contents of a small one."),
    VALISE_FIELD_END,
};

static const valise_field chunk_fields[] = {
    VALISE_FIELD(vls_chunk_row, number, INT, VALISE_KEY, "Number of the row."),
    VALISE_FIELD(vls_chunk_row, h8, INT, 0, "XXH3 of body."),
    VALISE_FIELD(vls_chunk_row, body, BYTES, 0, "The bytes."),
    VALISE_FIELD_END,
};

static const valise_field gone_fields[] = {
    VALISE_FIELD_AS(vls_gone, coll, "collection", INT, VALISE_KEY, "Number of the collection."),
    VALISE_FIELD(vls_gone, key, BYTES, VALISE_KEY, "Key of the row."),
    VALISE_FIELD(vls_gone, seq, INT, 0, "The entry that deleted it."),
    VALISE_FIELD_END,
};

static const valise_field read_fields[] = {
    VALISE_FIELD(vls_read_row, number, INT, VALISE_KEY, "Number of the row."),
    VALISE_FIELD(vls_read_row, time, TIME, 0, "When."),
    VALISE_FIELD(vls_read_row, actor, STR, 0, "Who."),
    VALISE_FIELD(vls_read_row, type, STR, 0, "Name of the operation."),
    VALISE_FIELD(vls_read_row, place, STR, 0, "What was read."),
    VALISE_FIELD(vls_read_row, outcome, INT, 0, "0, or the code of the refusal."),
    VALISE_FIELD_END,
};

static const valise_field cursor_fields[] = {
    VALISE_FIELD(vls_cursor_row, name, STR, VALISE_KEY, "Name of the follower."),
    VALISE_FIELD(vls_cursor_row, seq, INT, 0, "The next entry it wants."),
    VALISE_FIELD(vls_cursor_row, item, INT, 0, "The next event of that entry."),
    VALISE_FIELD_END,
};

static const char *const id8_names[] = {"id8", NULL};
static const char *const h8_names[] = {"h8", NULL};
static const valise_coll_index log_indexes[] = {{"id8", id8_names}, {NULL, NULL}};
static const valise_coll_index h8_indexes[] = {{"h8", h8_names}, {NULL, NULL}};

static const valise_coll meta_coll =
    COLL("meta", "What the store is.", vls_meta_row, meta_fields, NULL);
static const valise_coll coll_coll =
    COLL("collection", "A collection in the store.", vls_coll_row, coll_fields, NULL);
static const valise_coll log_coll =
    COLL("log", "A command that was done.", vls_entry, log_fields, log_indexes);
static const valise_coll object_coll =
    COLL("object", "Immutable bytes.", vls_object_row, object_fields, h8_indexes);
static const valise_coll chunk_coll =
    COLL("chunk", "A part of large objects.", vls_chunk_row, chunk_fields, h8_indexes);
static const valise_coll gone_coll =
    COLL("gone", "A row that was deleted.", vls_gone, gone_fields, NULL);
static const valise_coll read_coll =
    COLL("read_log", "A read, or a refusal.", vls_read_row, read_fields, NULL);
static const valise_coll cursor_coll =
    COLL("cursor", "How far a follower has come.", vls_cursor_row, cursor_fields, NULL);

const valise_coll *const vls_own_colls[VLS_TABLE_OWN_COUNT] = {
    [VLS_TABLE_META] = &meta_coll,     [VLS_TABLE_COLLECTION] = &coll_coll,
    [VLS_TABLE_LOG] = &log_coll,       [VLS_TABLE_OBJECT] = &object_coll,
    [VLS_TABLE_CHUNK] = &chunk_coll,   [VLS_TABLE_GONE] = &gone_coll,
    [VLS_TABLE_READ_LOG] = &read_coll, [VLS_TABLE_CURSOR] = &cursor_coll,
};

/* ---- rows ---- */

#define OWN_ARENA_MAX ((size_t)1 << 20) /* none of these fields makes a text of its own */

static int row_cells(valise_cell *cells, const vls_coll *coll, const void *row, vls_arena *arena,
                     valise_error *err)
{
    return vls_row_to_cells(cells, row, coll->desc->fields, arena, err);
}

int vls_own_get(void *row, vls_txn *txn, uint32_t table, vls_arena *arena, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS], cells[VALISE_MAX_COLUMNS];
    const vls_coll *coll = vls_store_coll_at(txn->store, table);
    int rc;

    assert(table < VLS_TABLE_OWN_COUNT);
    rc = row_cells(key, coll, row, arena, err);
    if (rc == 0)
        rc = vls_txn_get(cells, txn, coll, key, err);
    if (rc <= 0)
        return rc;
    rc = vls_row_from_cells(row, coll->desc->fields, coll->desc->row_size, cells, coll->field_count,
                            arena, err);
    return rc < 0 ? rc : 1;
}

int vls_own_put(vls_txn *txn, uint32_t table, const void *row, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    const vls_coll *coll = vls_store_coll_at(txn->store, table);
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc;

    assert(table < VLS_TABLE_OWN_COUNT);
    vls_arena_init(&arena, vls_store_env(txn->store), OWN_ARENA_MAX);
    rc = row_cells(cells, coll, row, &arena, err);
    return rc < 0 ? rc : vls_txn_put(txn, coll, cells, 0, err);
}

int vls_own_del(vls_txn *txn, uint32_t table, const void *row, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    const vls_coll *coll = vls_store_coll_at(txn->store, table);
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc;

    assert(table < VLS_TABLE_OWN_COUNT);
    vls_arena_init(&arena, vls_store_env(txn->store), OWN_ARENA_MAX);
    rc = row_cells(cells, coll, row, &arena, err);
    return rc < 0 ? rc : vls_txn_del(txn, coll, cells, err);
}
