/* print.h -- answers, by the field table of the result.
 *
 *     --json          one answer    the canonical line that the engine gave
 *                     a list        one line a row (NDJSON), as the rows come
 *     for people      one answer    "key: value", nested structs indented
 *                     a list        aligned columns; on a terminal cut to its width
 *
 * With --quiet commands and jobs answer nothing, in either way, and lists have no headings.
 *
 * For people ids are short (K2), sizes have units, and what a terminal would obey is shown. The
 * few operations whose answers are shown in another way have a row in printers.c.
 *
 * Threads: single. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <valise/sys/operation.h>

#include "base/vec.h"
#include "cli/output.h"
#include "field/field.h"
#include "json/make.h"

/* ---- own ways of showing (printers.c) ---- */

typedef struct cli_printer {
    const char *op;
    const char *human_member; /* for people the answer is this member alone, or NULL */
    const char *json_member;  /* with --json too */
    /* The whole answer for people, or one row of a list; NULL: as usual. */
    int (*print)(cli *c, const valise_op *op, vls_json value, valise_error *err);
    /* What goes to standard error, also with --quiet; not with --json, which has it in the answer.
     */
    int (*warn)(cli *c, vls_json value, valise_error *err);
    /* One row of a list in one line, for --oneline; NULL: there is no such option. */
    int (*brief)(cli *c, const valise_op *op, vls_json value, valise_error *err);
    /* All of it as --graph draws it; NULL: there is no such option. */
    int (*draw)(cli *c, const valise_op *op, valise_str payload, valise_error *err);
    /* Bytes that go out as they are, in the place of the answer: 1 when they did, 0: as usual. */
    int (*pour)(cli *c, valise *v, valise_str payload, const valise_call *call, valise_error *err);
    /* The text of a cell of a list's table; false: as usual. */
    bool (*cell)(vls_buf *out, const cli *c, const char *field, vls_json row);
    /* Exit code of a success, or what a row makes of it; NULL: 0. */
    int (*status)(const cli *c, vls_json value);
    bool differs; /* takes --exit-code; a list differs when it has rows */
    bool follows; /* takes --follow: a list with `since`, a seq */
    bool text;    /* takes --text: human_member is a value */
    /* With --json: tables of lines that stand before the answer, NULL-ended. */
    const valise_field *const *lines;
    /* After a conflict: a list with the same arguments that says what is in the way; or NULL. */
    const char *obstacles;
    /* Columns of a list for people, in this order; NULL: all fields. The first one is what to give
     * back, and JSON is shown as `name=value`. "field=HEADING" where the name would be too long,
     * "field|other" for another where a row does not have the first, "field?" for one that a narrow
     * terminal does without, "field*" for one that goes before a path is cut, "meta.time" for one
     * of a struct. Paths of the tree ("field~") are shown from the current folder. */
    const char *columns[12]; /* NULL-ended */
} cli_printer;

const cli_printer *cli_printer_of(const valise_op *op); /* NULL: none */
bool cli_can_differ(const valise_op *op);
bool cli_can_follow(const valise_op *op);
bool cli_can_be_brief(const valise_op *op);
bool cli_can_draw(const valise_op *op);
bool cli_can_be_text(const valise_op *op);

/* The log as a timeline. (log_graph.c) */
int cli_draw_log(cli *c, const valise_op *op, valise_str payload, valise_error *err);

/* ---- answers (print.c) ---- */

/* Print one answer, which is JSON. *status: the exit code. */
int cli_print_answer(int *status, cli *c, const valise_op *op, valise_str json, valise_error *err);

typedef struct cli_rows cli_rows;

/* The rows of a list. end prints what was held back for alignment. */
int cli_rows_new(cli_rows **out, cli *c, const valise_op *op, valise_error *err);
int cli_rows_add(cli_rows *rows, valise_str json, valise_error *err);
int cli_rows_end(cli_rows *rows, valise_error *err);
int cli_rows_status(const cli_rows *rows);             /* the exit code */
int cli_rows_flush(cli_rows *rows, valise_error *err); /* now; more may come */
void cli_rows_free(cli_rows *rows);                    /* NULL is fine */

/* ---- members of rows (show.c); others: json/make.h ---- */

/* "", or 0, when it is not there. */
valise_str cli_text_of(vls_json row, const char *name);
int64_t cli_number_of(vls_json row, const char *name);

/* Parse a row or an answer, which lasts as long as the arena then. */
int cli_keep_json(vls_json *out, vls_arena *arena, valise_str json, valise_error *err);

void cli_add_count(vls_buf *out, int64_t count, const char *one, const char *many); /* 3 files */
void cli_add_some(vls_buf *out, int64_t count, const char *one, const char *many);  /* ", 3 files";
                                                                                     nothing for 0 */

/* ---- single values (show.c) ---- */

/* Append a value for people, in one line unless it is a text of several. */
void cli_show(vls_buf *out, const valise_field *field, vls_json value);

void cli_add_id(cli *c, vls_json row, const char *name); /* nothing where there is none */

/* Of the row of a commit or an item: is its value gone, or longer than what it has of it? */
bool cli_is_erased(vls_json row);
bool cli_is_cut(vls_json row);
#define CLI_ERASED "(erased)"
#define CLI_MORE "\xE2\x80\xA6" /* as vls_text_fit has it */

/* The members of an object as `name=value`, without those that the row has too. */
void cli_show_summary(vls_buf *out, vls_json value, vls_json row);

/* "key: value" lines of an object. */
int cli_show_object(cli *c, const valise_field *fields, vls_json value, size_t indent,
                    valise_error *err);

void cli_show_size(vls_buf *out, uint64_t bytes); /* 1.5 KiB */

/* ---- columns (table.c) ---- */

typedef struct cli_column {
    const valise_field *field;
    const valise_field *outer; /* the struct it is in, or NULL */
    const valise_field *other; /* where the row does not have it; or NULL */
    const char *heading;       /* NULL: by the name of the field */
    size_t width;
    bool right; /* numbers */
    bool whole; /* of no use when cut: numbers, ids, times */
    bool shown;
    bool main;    /* the one to give back */
    bool summary; /* JSON in few words */
    bool path;    /* of the tree */
    bool spare;   /* left out on a terminal that is too narrow */
    bool extra;   /* left out there before anything else is cut */
    bool value;   /* of an item: it may be the beginning only, or erased */
} cli_column;

typedef struct cli_table {
    const cli *c;
    bool (*cell)(vls_buf *out, const cli *c, const char *field, vls_json row); /* or NULL */
    cli_out *out;
    vls_arena arena; /* cells that are held back */
    cli_column columns[VLS_FIELDS_MAX];
    size_t column_count;
    vls_vec(valise_str) cells; /* column_count for each row that is held back */
    bool started;              /* widths are fixed, headings are out */
    bool headings;
    int64_t began_ns;
} cli_table;

/* names: the columns in their order, NULL-ended; without any, all fields. */
void cli_table_init(cli_table *table, cli *c, const valise_field *fields, const char *const *names);
void cli_table_release(cli_table *table);
int cli_table_add(cli_table *table, vls_json row, valise_error *err);
int cli_table_end(cli_table *table, valise_error *err);
int cli_table_flush(cli_table *table, valise_error *err); /* what is held back; more may come */

#endif
