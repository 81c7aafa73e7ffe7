/* folder.c -- an extension for tests: rows with a list of contents, and with a blob (vault.h). It
 * is one of its own, since the store of tests/replay holds the vault as it was. */
#include "base/base.h"
#include "kit/vault.h"

typedef struct sheet {
    valise_str name;
    valise_list pages; /* of valise_id; NULLABLE, as the next */
    valise_id scan;
} sheet;

static const valise_field page_item = {.type = VALISE_T_ID, .ref = "object"};

static const valise_field sheet_fields[] = {
    VALISE_FIELD(sheet, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD_WITH(sheet, pages, LIST, VALISE_NULLABLE | VALISE_CONTENT, "What is on it.",
                      .more = &page_item),
    VALISE_FIELD_WITH(sheet, scan, ID, VALISE_NULLABLE | VALISE_CONTENT, "A file of it.",
                      .ref = "blob"),
    VALISE_FIELD_END,
};

static const valise_coll sheets = {.size = sizeof(valise_coll),
                                   .name = "folder.sheet",
                                   .help = "A sheet of paper.",
                                   .fields = sheet_fields,
                                   .row_size = sizeof(sheet)};

typedef struct put_args {
    valise_str name;
    valise_list pages; /* of valise_content */
    valise_id scan;
} put_args;

static const valise_field text_item = {.type = VALISE_T_TEXT};

static const valise_field put_in[] = {
    VALISE_FIELD(put_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name."),
    VALISE_FIELD_WITH(put_args, pages, LIST, VALISE_NULLABLE, "What is on it.", .more = &text_item),
    VALISE_FIELD(put_args, scan, ID, VALISE_NULLABLE, "A file of it."),
    VALISE_FIELD_END,
};

static int put_pages(valise_list *out, valise_view *view, valise_list texts, valise_error *err)
{
    const valise_content *pages = texts.items;
    valise_id *ids = NULL;
    int rc;

    if (!texts.items || texts.count == 0)
        return 0;
    rc = valise_view_alloc((void **)&ids, view, texts.count * sizeof(*ids), err);
    for (size_t i = 0; rc == 0 && i < texts.count; i++)
        ids[i] = pages[i].id;
    if (rc == 0)
        *out = (valise_list){ids, texts.count};
    return rc;
}

static int put(valise_view *view, const void *in, void *out, valise_error *err)
{
    const put_args *args = in;
    sheet row = {.name = args->name, .scan = args->scan};
    int rc = put_pages(&row.pages, view, args->pages, err);

    (void)out;
    return rc < 0 ? rc : valise_view_put(view, &sheets, &row, err);
}

static const valise_op put_op = {.size = sizeof(valise_op),
                                 .name = "folder:put",
                                 .brief = "Put a sheet into the folder.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "folder:write",
                                 .in = put_in,
                                 .in_size = sizeof(put_args),
                                 .decide = put,
                                 .example = "{\"name\":\"a\"}"};

static const valise_coll *const colls[] = {&sheets, NULL};
static const valise_op *const ops[] = {&put_op, NULL};

const valise_extension folder_extension = {.size = sizeof(valise_extension),
                                           .abi = VALISE_EXTENSION_ABI,
                                           .name = "folder",
                                           .version = "1",
                                           .collections = colls,
                                           .operations = ops};
