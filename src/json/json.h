/* json.h -- JSON values: immutable, canonical, 16 bytes each.
 *
 * A value is passed by value. A container points at its children, which lie side by side:
 *
 *     vls_json          {ARRAY,  len 3, items ---> [v0][v1][v2]}
 *                       {OBJECT, len 2, members -> [key0][v0] [key1][v1]}   sorted by key
 *                       {STRING, len 5, text ----> hello}
 *
 * Children never change once they are made, so values share them freely: a patched document has new
 * nodes on the way to the change, and the old nodes everywhere else. Everything lives in the arena
 * that it was built in, except for strings without escapes, which are in the parsed text; both must
 * outlive the value.
 *
 * Canonical (RFC 8785, except that integers with more digits than a double holds keep them):
 * members are in the order of their keys' UTF-16 code units, without duplicates. A number whose
 * canonical text consists of digits is an INT if it fits int64, and otherwise a BIG; every other
 * number is a REAL. So two values are equal exactly if their canonical texts are equal.
 *
 * Threads: immutable (values); the arena they are built in is single. */
#ifndef VLS_JSON_H
#define VLS_JSON_H

#include "base/arena.h"
#include "base/blob.h"
#include "base/buf.h"
#include "base/str.h"

#define VLS_JSON_MAX_BYTES ((size_t)64 << 20)
#define VLS_JSON_MAX_DEPTH 256u /* of a value */
#define VLS_JSON_MAX_AROUND 64u /* containers around values: payloads, answers, cells */

typedef enum vls_json_type {
    VLS_JSON_NULL,
    VLS_JSON_BOOL,
    VLS_JSON_INT,    /* integer */
    VLS_JSON_BIG,    /* text: optional '-', digits without leading zeros */
    VLS_JSON_REAL,   /* real */
    VLS_JSON_STRING, /* text: UTF-8 without escapes; may contain NUL */
    VLS_JSON_ARRAY,  /* items */
    VLS_JSON_OBJECT, /* members */
} vls_json_type;

typedef struct vls_json {
    uint8_t type;  /* vls_json_type */
    uint8_t truth; /* BOOL: 0 or 1 */
    uint16_t unused;
    uint32_t len; /* bytes of text, items, or members */
    union {
        int64_t integer;
        double real;
        const char *text;
        const struct vls_json *items;
        const struct vls_member *members;
    };
} vls_json;

typedef struct vls_member {
    vls_json key; /* always a STRING */
    vls_json value;
} vls_member;

/* ---- making ---- */

static inline vls_json vls_json_null(void)
{
    return (vls_json){.type = VLS_JSON_NULL};
}

static inline vls_json vls_json_bool(bool truth)
{
    return (vls_json){.type = VLS_JSON_BOOL, .truth = truth};
}

static inline vls_json vls_json_int(int64_t integer)
{
    return (vls_json){.type = VLS_JSON_INT, .integer = integer};
}

/* An INT where the number is one; real must be finite. */
vls_json vls_json_real(double real);

/* Borrows the text, which must be UTF-8 and under 4 GiB. */
static inline vls_json vls_json_string(valise_str s)
{
    assert(s.len <= UINT32_MAX);
    return (vls_json){.type = VLS_JSON_STRING, .len = (uint32_t)s.len, .text = s.ptr};
}

/* Borrows the items. */
static inline vls_json vls_json_array(const vls_json *items, size_t count)
{
    assert(count <= UINT32_MAX);
    return (vls_json){.type = VLS_JSON_ARRAY, .len = (uint32_t)count, .items = items};
}

/* Borrows the members, sorting them in place. VALISE_E_INVALID names a key that stands twice. */
int vls_json_object(vls_json *out, vls_member *members, size_t count, valise_error *err);

/* ---- reading ---- */

/* The text of a STRING or BIG. */
static inline valise_str vls_json_str(vls_json v)
{
    return (valise_str){v.text, v.len};
}

static inline bool vls_json_is_number(vls_json v)
{
    return v.type == VLS_JSON_INT || v.type == VLS_JSON_REAL || v.type == VLS_JSON_BIG;
}

/* The number as a double, rounded to nearest where it has more digits. */
double vls_json_to_double(vls_json v);

/* "null", "boolean", "integer" (INT and BIG), "number", "string", "array", "object". */
const char *vls_json_type_name(vls_json v);

/* The member's value, or NULL when v is no object or has no such member. O(log n). */
const vls_json *vls_json_get(vls_json v, valise_str key);

/* Where the key is among the members, or where it would be inserted; *found says which. */
size_t vls_json_find(bool *found, vls_json object, valise_str key);

/* The order of keys: by UTF-16 code units, as RFC 8785 wants. */
int vls_json_key_compare(valise_str a, valise_str b);

/* Equal as values: same canonical text. */
bool vls_json_equal(vls_json a, vls_json b);

/* Equal as JSON Schema wants it: numbers are equal by value, whatever they are written like.
 * (For vls_json_equal 1e22 and its twenty-three digits are two.) */
bool vls_json_equal_by_value(vls_json a, vls_json b);

/* Order of two numbers by value, exact for integers of any size: -1, 0, 1. (1 and 1.0 are the
 * same value; 9007199254740993 and 9007199254740992 are not.) In decimal.c. */
int vls_json_number_compare(vls_json a, vls_json b);

/* ---- text to value (read.c) ---- */

enum {
    VLS_JSON_LAST_KEY_WINS = 1, /* a duplicate key replaces the earlier one instead of failing */
};

typedef struct vls_json_limits {
    size_t max_bytes;   /* 0: VLS_JSON_MAX_BYTES; never over 4 GiB - 1 */
    uint32_t max_depth; /* 0: VLS_JSON_MAX_DEPTH, which is also the most */
    uint32_t around;    /* containers around the values that this is about: it may be deeper by so
                           many, VLS_JSON_MAX_AROUND at most */
    uint32_t flags;
} vls_json_limits;

/* Parse one JSON text (RFC 8259). The value borrows from text. Every refusal says why and at
 * which byte: VALISE_E_INVALID, VALISE_E_TOO_LARGE (bytes, arena), VALISE_E_LIMIT (depth),
 * VALISE_E_NO_MEMORY. limits may be NULL. */
int vls_json_parse(vls_json *out, vls_arena *arena, valise_str text, const vls_json_limits *limits,
                   valise_error *err);

/* Whether the text is known to be valid and its own canonical form. Where that takes more than a
 * look the answer is false, also for one that is. Far cheaper than parsing. In canonical.c. */
bool vls_json_is_canonical(valise_str text);

/* One JSON text as canonical JSON, which it mostly is already, or but for the order of its keys. In
 * canonical.c. */
int vls_json_canonical(valise_blob **out, const valise_env *env, valise_str text,
                       valise_error *err);

/* ---- value to text (write.c) ---- */

/* Append the canonical text. VALISE_E_LIMIT when v is deeper than VLS_JSON_MAX_DEPTH;
 * otherwise what vls_buf_check says. */
int vls_json_write(vls_buf *out, vls_json v, valise_error *err);

/* The same for what holds values: VLS_JSON_MAX_AROUND deeper. */
int vls_json_write_around(vls_buf *out, vls_json v, valise_error *err);

/* As vls_json_write_around, but over several lines, two spaces deep, for people. No newline at the
 * end. */
int vls_json_write_pretty(vls_buf *out, vls_json v, valise_error *err);

/* Append s as a JSON string with its quotes. */
void vls_json_write_string(vls_buf *out, valise_str s);

/* ---- building (build.c) ---- */

/* Builds a value from the outside in, for writers that do not know sizes beforehand:
 *
 *     vls_json_builder b;
 *     vls_json_builder_init(&b, arena);
 *     vls_json_open(&b, VLS_JSON_OBJECT);
 *     vls_json_add_text(&b, VLS_STR("op"), VLS_STR("add"));
 *     vls_json_close(&b);
 *     rc = vls_json_builder_finish(&out, &b, err);
 *
 * Like a buffer it remembers its first failure and does nothing after it. finish (or release)
 * must be called. Strings are borrowed. */
typedef struct vls_json_builder {
    vls_arena *arena;
    vls_json *stack;
    size_t len, cap;
    uint32_t open[VLS_JSON_MAX_DEPTH + VLS_JSON_MAX_AROUND]; /* where each starts on the stack */
    uint32_t depth;
    valise_error error;
} vls_json_builder;

void vls_json_builder_init(vls_json_builder *b, vls_arena *arena);
void vls_json_builder_release(vls_json_builder *b);
void vls_json_open(vls_json_builder *b, vls_json_type type);
void vls_json_close(vls_json_builder *b);
void vls_json_add(vls_json_builder *b, vls_json v);
void vls_json_add_key(vls_json_builder *b, valise_str key);
void vls_json_add_member(vls_json_builder *b, valise_str key, vls_json v);
void vls_json_add_text(vls_json_builder *b, valise_str key, valise_str text);
int vls_json_builder_finish(vls_json *out, vls_json_builder *b, valise_error *err);

static inline void vls_auto_json_builder(vls_json_builder *b)
{
    vls_json_builder_release(b);
}

/* Copy v and all it borrows into arena. */
int vls_json_copy(vls_json *out, vls_arena *arena, vls_json v, valise_error *err);

#endif
