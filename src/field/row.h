/* row.h -- rows as cells and as bytes.
 *
 * One field of a table is one cell:
 *
 *     BOOL, INT, TIME, DURATION          INT
 *     REAL                               REAL
 *     STR, ENUM (its name)               TEXT
 *     BYTES, UUID (16), ID (32)          BLOB
 *     VALUE, TEXT, DATA (its id, 32)     BLOB
 *     JSON, LIST, STRUCT, UNION          TEXT, canonical JSON in LOGGED form
 *     none, SECRET                       NULL
 *
 * A JSON, STRUCT, UNION or content field that was not given is NULL as well, NULLABLE or not, and
 * columns that were added later are NULL in old rows. Only key columns are never NULL.
 *
 * The encoding of a list of cells, for before-images, checksums and the state hash: each cell is
 *
 *     00                          NULL
 *     01 varint(zigzag(number))   INT
 *     02 8 bytes, big endian      REAL (the bits of the double; -0 is written as 0)
 *     03 varint(length) bytes     TEXT
 *     04 varint(length) bytes     BLOB
 *
 * and the list has no count: its reader knows how many cells there are, or reads to the end. Keys
 * are encoded as in base/order.h instead, so that their bytes compare like the keys.
 *
 * Threads: pure functions; arenas and buffers are single. */
#ifndef VLS_ROW_H
#define VLS_ROW_H

#include <valise/sys/store.h>

#include "field/field.h"

/* The type of the cell a field becomes: VALISE_CELL_... */
uint8_t vls_field_cell_type(const valise_field *field);

/* One cell per field, in order. Texts are borrowed from the struct or made in arena. Contents must
 * have their ids. VALISE_E_INVALID names the field of what a row cannot hold. */
int vls_row_to_cells(valise_cell *cells, const void *row, const valise_field *fields,
                     vls_arena *arena, valise_error *err);

/* The cell of one field. */
int vls_field_to_cell(valise_cell *cell, const void *row, const valise_field *field,
                      vls_arena *arena, valise_error *err);

/* Back; bytes are copied into arena. The cells must not borrow from row itself. Cells that are
 * missing at the end (a row of an older version of the table) or NULL are none or zero.
 * VALISE_E_CORRUPT for a cell that does not fit its field: of another type, not UTF-8, not JSON, a
 * name nobody knows, no key. Limits and REQUIRED are not asked for again: the table may have been
 * another when the row was written. */
int vls_row_from_cells(void *row, const valise_field *fields, size_t struct_size,
                       const valise_cell *cells, size_t count, vls_arena *arena, valise_error *err);

/* Append the encoding of the cells. A REAL must not be NaN. The buffer remembers a failure. */
void vls_cells_write(vls_buf *out, const valise_cell *cells, size_t count);

/* Read cells up to the end of bytes, at most max; bytes are borrowed. VALISE_E_CORRUPT for all that
 * vls_cells_write never makes; *count is then untouched. */
int vls_cells_read(valise_cell *cells, size_t *count, size_t max, valise_str bytes,
                   valise_error *err);

/* XXH3 of the encoding, as the store keeps it beside a row. */
int vls_cells_sum(int64_t *out, const valise_cell *cells, size_t count, vls_buf *scratch,
                  valise_error *err);

/* Cells of one column have one type. Where they do not: NULL, INT, REAL, TEXT, BLOB. */
bool vls_cells_equal(const valise_cell *a, const valise_cell *b, size_t count);
int vls_cells_compare(const valise_cell *a, const valise_cell *b, size_t count);

/* Copy cells and the bytes they borrow into arena. */
int vls_cells_copy(valise_cell **out, const valise_cell *cells, size_t count, vls_arena *arena,
                   valise_error *err);

/* The ordered encoding of key cells (base/order.h), and back: exactly count cells, their bytes
 * borrowed from key or, where they contain a zero byte, in arena. */
void vls_key_write(vls_buf *out, const valise_cell *cells, size_t count);
int vls_key_read(valise_cell *cells, size_t count, valise_str key, vls_arena *arena,
                 valise_error *err);

#endif
