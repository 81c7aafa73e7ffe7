/* cells.c -- lists of cells as bytes, as keys, and beside each other. See row.h for the formats. */
#include <math.h>

#include "field/row.h"

#include "base/order.h"
#include "base/utf8.h"

#define CELL_HEAD (1 + VLS_VARINT_MAX) /* the most bytes of a cell without its string */

_Static_assert(CELL_HEAD >= 1 + sizeof(double), "a REAL has room too");

static bool has_bytes(const valise_cell *cell)
{
    return cell->type == VALISE_CELL_TEXT || cell->type == VALISE_CELL_BLOB;
}

/* ---- bytes ---- */

/* In place and not through vls_bytes_add_varint: room for all was made before, and checksums of
 * rows are made for every row that is read. */
static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_real(uint8_t *at, double real)
{
    uint64_t bits;

    assert(!isnan(real));
    real = real == 0 ? 0 : real; /* one zero */
    memcpy(&bits, &real, sizeof(bits));
    vls_bytes_store_u64(at, bits);
    return at + sizeof(bits);
}

static inline uint8_t *put_cell(uint8_t *at, const valise_cell *cell)
{
    *at++ = cell->type;
    switch (cell->type) {
    case VALISE_CELL_NULL:
        return at;
    case VALISE_CELL_INT:
        return put_varint(at, vls_bytes_zigzag(cell->as.integer));
    case VALISE_CELL_REAL:
        return put_real(at, cell->as.real);
    default:
        assert(has_bytes(cell));
        at = put_varint(at, cell->as.bytes.len);
        if (cell->as.bytes.len)
            memcpy(at, cell->as.bytes.ptr, cell->as.bytes.len);
        return at + cell->as.bytes.len;
    }
}

/* Near the maximum of a buffer it matters what is taken really. */
static __attribute__((noinline)) void write_near_maximum(vls_buf *out, const valise_cell *cells,
                                                         size_t count)
{
    uint8_t head[CELL_HEAD];

    for (size_t i = 0; i < count; i++) {
        if (!has_bytes(&cells[i])) {
            const uint8_t *end = put_cell(head, &cells[i]);
            vls_buf_add(out, vls_str(head, (size_t)(end - head)));
            continue;
        }
        vls_buf_add_byte(out, (char)cells[i].type);
        vls_bytes_add_string(out, cells[i].as.bytes);
    }
}

void vls_cells_write(vls_buf *out, const valise_cell *cells, size_t count)
{
    size_t most = count * CELL_HEAD;
    char *start;

    for (size_t i = 0; i < count; i++)
        most += has_bytes(&cells[i]) ? cells[i].as.bytes.len : 0;
    if (VLS_UNLIKELY(most > out->max - out->len)) {
        write_near_maximum(out, cells, count);
        return;
    }
    start = vls_buf_reserve(out, most);
    if (!start)
        return;
    uint8_t *at = (uint8_t *)start;
    for (size_t i = 0; i < count; i++)
        at = put_cell(at, &cells[i]);
    vls_buf_advance(out, (size_t)(at - (uint8_t *)start));
}

static bool read_real(double *out, vls_reader *in)
{
    uint64_t bits = vls_reader_u64(in);

    memcpy(out, &bits, sizeof(bits));
    return !isnan(*out) && !(*out == 0 && bits != 0);
}

/* Everything that writing never makes is refused: equal bytes, equal cells. */
static bool read_cell(valise_cell *cell, vls_reader *in)
{
    *cell = (valise_cell){.type = vls_reader_u8(in)};
    switch (cell->type) {
    case VALISE_CELL_NULL:
        return true;
    case VALISE_CELL_INT:
        cell->as.integer = vls_bytes_unzigzag(vls_reader_varint(in));
        return true;
    case VALISE_CELL_REAL:
        return read_real(&cell->as.real, in);
    case VALISE_CELL_TEXT:
        cell->as.bytes = vls_reader_string(in);
        return vls_utf8_valid(cell->as.bytes);
    case VALISE_CELL_BLOB:
        cell->as.bytes = vls_reader_string(in);
        return true;
    default:
        return false;
    }
}

int vls_cells_read(valise_cell *cells, size_t *count, size_t max, valise_str bytes,
                   valise_error *err)
{
    vls_reader in = vls_reader_of(bytes);
    size_t n = 0;

    while (vls_reader_left(&in) > 0) {
        size_t at = bytes.len - vls_reader_left(&in);
        if (n == max)
            return vls_fail_at(err, VALISE_E_CORRUPT, at, "a row of more than %zu cells", max);
        if (!read_cell(&cells[n], &in) || in.failed)
            return vls_fail_at(err, VALISE_E_CORRUPT, at, "cell %zu of a row is malformed", n);
        n++;
    }
    *count = n;
    return 0;
}

int vls_cells_sum(int64_t *out, const valise_cell *cells, size_t count, vls_buf *scratch,
                  valise_error *err)
{
    uint64_t sum;
    int rc;

    vls_buf_clear(scratch);
    vls_cells_write(scratch, cells, count);
    rc = vls_buf_check(scratch, err);
    if (rc < 0)
        return rc;
    sum = vls_str_hash(vls_buf_str(scratch), 0);
    memcpy(out, &sum, sizeof(sum));
    return 0;
}

/* ---- order ---- */

static int compare_cells(const valise_cell *a, const valise_cell *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    switch (a->type) {
    case VALISE_CELL_NULL:
        return 0;
    case VALISE_CELL_INT:
        return a->as.integer < b->as.integer ? -1 : a->as.integer > b->as.integer;
    case VALISE_CELL_REAL:
        return a->as.real < b->as.real ? -1 : a->as.real > b->as.real;
    default:
        return vls_str_compare(a->as.bytes, b->as.bytes);
    }
}

int vls_cells_compare(const valise_cell *a, const valise_cell *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int order = compare_cells(&a[i], &b[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

bool vls_cells_equal(const valise_cell *a, const valise_cell *b, size_t count)
{
    return vls_cells_compare(a, b, count) == 0;
}

/* ---- copies ---- */

/* One block: the cells, then their bytes. */
int vls_cells_copy(valise_cell **out, const valise_cell *cells, size_t count, vls_arena *arena,
                   valise_error *err)
{
    size_t size = count * sizeof(*cells);
    valise_cell *copy;
    char *at;

    for (size_t i = 0; i < count; i++)
        size += has_bytes(&cells[i]) ? cells[i].as.bytes.len : 0;
    copy = vls_arena_alloc(arena, size);
    if (!copy)
        return vls_arena_fail(arena, err);
    at = (char *)(copy + count);
    if (count > 0)
        memcpy(copy, cells, count * sizeof(*cells));
    for (size_t i = 0; i < count; i++) {
        if (!has_bytes(&cells[i]) || cells[i].as.bytes.len == 0)
            continue;
        memcpy(at, cells[i].as.bytes.ptr, cells[i].as.bytes.len);
        copy[i].as.bytes.ptr = at;
        at += cells[i].as.bytes.len;
    }
    *out = copy;
    return 0;
}

/* ---- keys ---- */

void vls_key_write(vls_buf *out, const valise_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        switch (cells[i].type) {
        case VALISE_CELL_NULL:
            vls_order_add_null(out);
            break;
        case VALISE_CELL_INT:
            vls_order_add_int(out, cells[i].as.integer);
            break;
        case VALISE_CELL_REAL:
            vls_order_add_real(out, cells[i].as.real);
            break;
        case VALISE_CELL_TEXT:
            vls_order_add_text(out, cells[i].as.bytes);
            break;
        default:
            vls_order_add_blob(out, cells[i].as.bytes);
        }
    }
}

static bool cell_of_part(valise_cell *cell, const vls_order_part *part)
{
    switch (part->kind) {
    case VLS_ORDER_NULL:
        *cell = (valise_cell){.type = VALISE_CELL_NULL};
        return true;
    case VLS_ORDER_INT:
        *cell = (valise_cell){.type = VALISE_CELL_INT, .as.integer = part->integer};
        return true;
    case VLS_ORDER_REAL:
        *cell = (valise_cell){.type = VALISE_CELL_REAL, .as.real = part->real};
        return true;
    case VLS_ORDER_TEXT:
        *cell = (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = part->bytes};
        return vls_utf8_valid(part->bytes);
    case VLS_ORDER_BLOB:
        *cell = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = part->bytes};
        return true;
    }
    return false;
}

int vls_key_read(valise_cell *cells, size_t count, valise_str key, vls_arena *arena,
                 valise_error *err)
{
    vls_reader in = vls_reader_of(key);
    vls_order_part part;

    for (size_t i = 0; i < count; i++) {
        int rc = vls_order_next(&part, &in, arena, err);
        if (rc < 0)
            return rc;
        if (!cell_of_part(&cells[i], &part))
            return vls_fail(err, VALISE_E_CORRUPT, "part %zu of a key is not UTF-8", i);
    }
    if (!vls_reader_is_done(&in))
        return vls_fail_at(err, VALISE_E_CORRUPT, key.len - vls_reader_left(&in),
                           "a key of more than %zu parts", count);
    return 0;
}
