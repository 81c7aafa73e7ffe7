/* notes.c -- a whole extension: notes, with a collection, a command, a query, a middleware and an
 * index.
 *
 *     cc -shared -fPIC $(pkg-config --cflags valise) notes.c -o notes.so
 *     valise trust "$PWD/notes.so"
 *     valise config set --user extension.notes.path "$PWD/notes.so"
 *     valise note add milk "Two litres."
 *     valise note list
 *
 * It is linked with nothing: whoever loads it has the functions that begin with valise_. */
#include <stdio.h>
#include <string.h>

#include <valise/sys/extension.h>

/* ---- the collection: one row for each note ---- */

typedef struct note {
    valise_str name, text, author;
    int64_t time;
} note;

static const valise_field note_fields[] = {
    VALISE_FIELD_WITH(note, name, STR, VALISE_KEY, "Its name.", .min = 1, .max = 100),
    /* CONTENT: what somebody said. `valise erase notes.note/milk` removes it from everywhere. */
    VALISE_FIELD_WITH(note, text, STR, VALISE_NULLABLE | VALISE_CONTENT, "What it says.",
                      .max = 1000),
    VALISE_FIELD(note, author, STR, 0, "Who wrote it."),
    VALISE_FIELD(note, time, TIME, 0, "When it was written."),
    VALISE_FIELD_END,
};

static const valise_coll notes = {
    .size = sizeof(valise_coll),
    .name = "notes.note",
    .help = "A note.",
    .fields = note_fields,
    .row_size = sizeof(note),
};

/* ---- the command: note:add ---- */

typedef struct add_args {
    valise_str name, text;
} add_args;

static const valise_field add_in[] = {
    VALISE_FIELD_WITH(add_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name.",
                      .min = 1, .max = 100),
    VALISE_FIELD_WITH(add_args, text, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "What it says.",
                      .max = 1000),
    VALISE_FIELD_END,
};

/* No contents: the log keeps answers, and events tell them. */
typedef struct add_result {
    valise_str name, author;
    int64_t time;
} add_result;

static const valise_field add_out[] = {
    VALISE_FIELD(add_result, name, STR, 0, "Its name."),
    VALISE_FIELD(add_result, author, STR, 0, "Who wrote it."),
    VALISE_FIELD(add_result, time, TIME, 0, "When it was written."),
    VALISE_FIELD_END,
};

static int add_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const add_args *a = args;
    const valise_stamp *stamp = valise_view_stamp(view); /* who and when: never a clock */
    note row = {a->name, a->text, stamp->actor, stamp->time};

    *(add_result *)result = (add_result){row.name, row.author, row.time};
    return valise_view_put(view, &notes, &row, err);
}

static const valise_op add = {
    .size = sizeof(valise_op),
    .name = "note:add",
    .brief = "Write a note, over one of the same name if there is one.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "note:write",
    .in = add_in,
    .in_size = sizeof(add_args),
    .out = add_out,
    .out_size = sizeof(add_result),
    .decide = add_decide,
    .example = "{\"name\":\"milk\",\"text\":\"Two litres.\"}",
};

/* ---- the query: note:list ---- */

static int list_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    note row;
    int rc = valise_view_scan(&scan, view, &notes, NULL, err);

    (void)args, (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = valise_view_emit(view, &row, err);
    valise_scan_close(scan);
    return rc;
}

static const valise_op list = {
    .size = sizeof(valise_op),
    .name = "note:list",
    .brief = "List the notes.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "note:read",
    .out = note_fields,
    .out_size = sizeof(note),
    .query = list_query,
};

/* ---- the middleware: no note may say "password" ---- */

static int guard_before(void *self, valise_pass *pass, valise_error *err)
{
    static const char word[] = "password";
    valise_str json;
    int rc;

    (void)self;
    if (valise_pass_op(pass) != &add)
        return 0;
    rc = valise_pass_payload(&json, pass, err);
    for (size_t i = 0; rc == 0 && i + sizeof(word) - 1 <= json.len; i++) {
        if (memcmp(json.ptr + i, word, sizeof(word) - 1) != 0)
            continue;
        rc = valise_error_set(err, VALISE_E_INVALID, "notes are no place for a %s", word);
    }
    return rc;
}

static const valise_middleware guard = {sizeof(valise_middleware), "notes-guard", NULL,
                                        guard_before, NULL};

/* ---- the index: which notes somebody wrote ---- */

static int by_author_map(valise_index_out *out, const void *row, valise_error *err)
{
    const note *n = row;
    char key[300];
    /* Ids of actors have no blank, so no two rows make the same key. */
    int len =
        snprintf(key, sizeof(key), "%.*s %.*s", VALISE_STR_ARG(n->author), VALISE_STR_ARG(n->name));

    return valise_index_add(out, (valise_str){key, (size_t)len}, valise_str_of("true"), err);
}

static const valise_index_source by_author_sources[] = {{&notes, by_author_map}, {NULL, NULL}};

static const valise_indexer by_author = {sizeof(valise_indexer), "notes-by-author",
                                         "Notes by who wrote them.", by_author_sources};

/* ---- the package ---- */

static const valise_coll *const collections[] = {&notes, NULL};
static const valise_op *const operations[] = {&add, &list, NULL};
static const valise_middleware *const middleware[] = {&guard, NULL};
static const valise_indexer *const indexers[] = {&by_author, NULL};

static const valise_extension package = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "notes",
    .version = "1.0",
    .collections = collections,
    .operations = operations,
    .middleware = middleware,
    .indexers = indexers,
};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
