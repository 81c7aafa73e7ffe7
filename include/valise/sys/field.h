/* valise/sys/field.h -- field tables: one description for everything that crosses a boundary.
 *
 * A table describes a C struct member by member: arguments and results of operations, or rows of
 * collections. Loops over the table decode and encode JSON, make the columns and statements of the
 * store, JSON Schemas, command line flags, help and completion, and find references (what does this
 * row keep alive?) and contents (what must an erasure remove?).
 *
 *     typedef struct { valise_str name, target; int64_t since; } pin_args;
 *
 *     static const valise_field pin_in[] = {
 *         VALISE_FIELD(pin_args, name, STR, VALISE_REQUIRED, "Name of the pin."),
 *         VALISE_FIELD(pin_args, target, STR, VALISE_REQUIRED, "What it holds."),
 *         VALISE_FIELD(pin_args, since, TIME, VALISE_NULLABLE, "When it was needed first."),
 *         VALISE_FIELD_END,
 *     };
 *
 * A member that is not given is zero: "", 0, false, no items. If this must differ from "not given",
 * make the field NULLABLE; then it has a value of its own for none:
 *
 *     type            C type            JSON                        none
 *     BOOL            bool              true, false                 (cannot be NULLABLE)
 *     INT             int64_t           integer                     VALISE_NONE
 *     REAL            double            number                      NaN
 *     STR             valise_str        string                      ptr NULL
 *     BYTES           valise_str        base64 string               ptr NULL
 *     PATH            valise_str        string, or {"base64": ...}  ptr NULL
 *                                       if it is not UTF-8
 *     TIME            int64_t, ns       "2026-01-02T03:04:05.000Z"  VALISE_NONE
 *     DURATION        int64_t, ns       "90s", "30d"                VALISE_NONE
 *     UUID            valise_uuid       8-4-4-4-12 digits           all zero
 *     ID              valise_id         64 digits                   all zero
 *     ENUM            int64_t           one of its names            VALISE_NONE
 *     JSON            valise_str        any JSON (canonical text)   ptr NULL
 *     VALUE           valise_content    any JSON                    size VALISE_NONE
 *     TEXT            valise_content    string                      size VALISE_NONE
 *     DATA            valise_content    base64 string               size VALISE_NONE
 *     LIST            valise_list       array                       items NULL
 *     STRUCT          pointer           object                      NULL
 *     UNION           valise_variant    object with a tag           which VALISE_NONE
 *
 * VALUE, TEXT and DATA are *contents*: the engine stores them as objects of their own, and only
 * their ids are in the log and in rows. For each, the row has an ID field with `ref` "object". JSON
 * is for small values that are part of a row, such as metadata.
 *
 * Threads: immutable. The layout of these structs is part of the ABI. */
#ifndef VALISE_SYS_FIELD_H
#define VALISE_SYS_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <valise/api.h>
#include <valise/id.h>
#include <valise/str.h>

VALISE_BEGIN

enum {
    VALISE_T_END, /* ends a table */
    VALISE_T_BOOL,
    VALISE_T_INT,
    VALISE_T_REAL,
    VALISE_T_STR,
    VALISE_T_BYTES,
    VALISE_T_PATH,
    VALISE_T_TIME,
    VALISE_T_DURATION,
    VALISE_T_UUID,
    VALISE_T_ID,
    VALISE_T_ENUM,
    VALISE_T_JSON,
    VALISE_T_VALUE,
    VALISE_T_TEXT,
    VALISE_T_DATA,
    VALISE_T_LIST,
    VALISE_T_STRUCT,
    VALISE_T_UNION,
};

enum {
    VALISE_REQUIRED = 1,   /* must be given */
    VALISE_NULLABLE = 2,   /* may be none, see above; JSON null means the same as absent */
    VALISE_POSITIONAL = 4, /* command line: an operand, in the order of the table */
    VALISE_KEY = 8, /* rows: part of the key (VALISE_MAX_KEY_BYTES); these fields come first */
    /* rows: something that somebody said, which an erasure of the place removes. NULLABLE */
    VALISE_CONTENT = 16,
    VALISE_SECRET = 32, /* arguments: never in a log, event or message; never on a command line */
    VALISE_HIDDEN = 64, /* not in help */
    /* VALUE: often a text; the command line takes --text as well, which needs no JSON quotes. */
    VALISE_PLAIN = 128,
    VALISE_FILE = 256,     /* TEXT, DATA: the command line takes the name of a file, or - */
    VALISE_LOOSE = 512,    /* rows: what `ref` names need not exist */
    VALISE_PASSING = 1024, /* answers of commands: returned to the caller, and in no log */
    VALISE_BARE = 2048,    /* INT: on a command line without a value it is its largest, `max` */
};

typedef struct valise_field {
    /* In JSON: camelCase. `sessionId` becomes the column session_id and the flag --session-id. */
    const char *name;
    const char *help; /* one sentence */
    uint16_t type;    /* VALISE_T_... */
    uint16_t flags;
    uint32_t offset; /* of the member in its struct */
    /* ENUM: names, NULL-ended. LIST: the const valise_field * of an item (offset 0). STRUCT: const
     * valise_struct *. UNION: const valise_union *. */
    const void *more;
    /* Rows: the collection that this is a key of, "object", "blob", "log", or NULL. Arguments also,
     * for completion: "session:list.id", a member of the rows of a list; "tree.path", "tree.node"
     * or "tree.here" for paths that the command line takes from the current folder. */
    const char *ref;
    int64_t min, max; /* of the value, its bytes or its items; both 0: the type's own limits */
} valise_field;

/* The content of a VALUE, TEXT or DATA field. Whoever passes one fills bytes (an empty text has a
 * ptr that is not NULL); the engine fills the rest. A content with neither bytes nor id was not
 * given. */
typedef struct valise_content {
    valise_id id;
    int64_t size;     /* in bytes; VALISE_SIZE_UNKNOWN if only the id is known; VALISE_NONE */
    valise_str bytes; /* VALUE: canonical JSON, once decoded. ptr NULL: not loaded */
} valise_content;

#define VALISE_SIZE_UNKNOWN (-1)

typedef struct valise_struct {
    size_t size;
    const valise_field *fields;
} valise_struct;

/* One case of a union. The member `tag` of the object says which case it is. */
typedef struct valise_case {
    const char *name; /* NULL ends the list */
    const valise_struct *type;
} valise_case;

typedef struct valise_union {
    const char *tag;
    const valise_case *cases;
    int open; /* objects with unknown tags are kept as they are */
} valise_union;

typedef struct valise_variant {
    int64_t which;     /* number of the case; -1: unknown tag in an open union; VALISE_NONE */
    const void *value; /* the struct of that case */
    valise_str json;   /* which == -1: the canonical text of the object */
} valise_variant;

/* A member that has the same name in JSON and in C. */
#define VALISE_FIELD(struct_type, member, field_type, field_flags, text)                           \
    VALISE_FIELD_AS(struct_type, member, #member, field_type, field_flags, text)

/* A member with further members of valise_field: .more, .ref, .min, .max. */
#define VALISE_FIELD_WITH(struct_type, member, field_type, field_flags, text, ...)                 \
    VALISE_FIELD_AS_WITH(struct_type, member, #member, field_type, field_flags, text, __VA_ARGS__)

/* The same two for a member with another name in JSON: session_id as "sessionId". */
#define VALISE_FIELD_AS(struct_type, member, json_name, field_type, field_flags, text)             \
    {                                                                                              \
        .name = (json_name), .help = (text), .type = VALISE_T_##field_type,                        \
        .flags = (field_flags), .offset = (uint32_t)offsetof(struct_type, member)                  \
    }

#define VALISE_FIELD_AS_WITH(struct_type, member, json_name, field_type, field_flags, text, ...)   \
    {                                                                                              \
        .name = (json_name), .help = (text), .type = VALISE_T_##field_type,                        \
        .flags = (field_flags), .offset = (uint32_t)offsetof(struct_type, member), __VA_ARGS__     \
    }

#define VALISE_FIELD_END                                                                           \
    {                                                                                              \
        .name = NULL                                                                               \
    }

VALISE_END

#endif
