/* vault.c -- see vault.h. */
#include "kit/vault.h"

#include "base/base.h"

typedef struct entry {
    valise_str name;
    valise_str label; /* NULLABLE, as the rest */
    valise_id body;
    valise_str meta;
} entry;

static const valise_field entry_fields[] = {
    VALISE_FIELD(entry, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD(entry, label, STR, VALISE_NULLABLE | VALISE_CONTENT, "What is written on it."),
    VALISE_FIELD_WITH(entry, body, ID, VALISE_NULLABLE | VALISE_CONTENT, "What is in it.",
                      .ref = "object"),
    VALISE_FIELD(entry, meta, JSON, VALISE_NULLABLE | VALISE_CONTENT, "What else there is."),
    VALISE_FIELD_END,
};

static const valise_coll entries = {.size = sizeof(valise_coll),
                                    .name = "vault.entry",
                                    .help = "Something kept.",
                                    .fields = entry_fields,
                                    .row_size = sizeof(entry)};

typedef struct put_args {
    valise_str name, label, meta;
    valise_content body;
} put_args;

static const valise_field put_in[] = {
    VALISE_FIELD(put_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name."),
    VALISE_FIELD(put_args, label, STR, VALISE_NULLABLE, "What is written on it."),
    VALISE_FIELD(put_args, body, TEXT, VALISE_NULLABLE, "What is in it."),
    VALISE_FIELD(put_args, meta, JSON, VALISE_NULLABLE, "What else there is."),
    VALISE_FIELD_END,
};

/* A text that its author says is no content, and that goes with an erasure all the same. */
typedef struct tell_result {
    valise_str echo;
} tell_result;

static const valise_field tell_out[] = {
    VALISE_FIELD(tell_result, echo, STR, VALISE_NULLABLE, "What is written on it."),
    VALISE_FIELD_END,
};

static int put(valise_view *view, const void *in, void *out, valise_error *err)
{
    const put_args *args = in;
    entry row = {
        .name = args->name, .label = args->label, .body = args->body.id, .meta = args->meta};

    (void)out;
    return valise_view_put(view, &entries, &row, err);
}

static const valise_op put_op = {.size = sizeof(valise_op),
                                 .name = "vault:put",
                                 .brief = "Keep something.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "vault:write",
                                 .in = put_in,
                                 .in_size = sizeof(put_args),
                                 .decide = put,
                                 .example = "{\"name\":\"a\"}"};

static int tell(valise_view *view, const void *in, void *out, valise_error *err)
{
    ((tell_result *)out)->echo = ((const put_args *)in)->label;
    return put(view, in, NULL, err);
}

static const valise_op tell_op = {.size = sizeof(valise_op),
                                  .name = "vault:tell",
                                  .brief = "Keep something, and say what is written on it.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "vault:write",
                                  .in = put_in,
                                  .in_size = sizeof(put_args),
                                  .out = tell_out,
                                  .out_size = sizeof(tell_result),
                                  .decide = tell,
                                  .example = "{\"name\":\"a\"}"};

/* What is in it is looked at, and not kept. */
static int judge(valise_view *view, const void *in, void *out, valise_error *err)
{
    const put_args *args = in;
    entry row = {.name = args->name, .label = args->label};

    (void)out;
    return valise_view_put(view, &entries, &row, err);
}

static const valise_op judge_op = {.size = sizeof(valise_op),
                                   .name = "vault:judge",
                                   .brief = "Look at something, and keep what is written on it.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "vault:write",
                                   .in = put_in,
                                   .in_size = sizeof(put_args),
                                   .decide = judge,
                                   .example = "{\"name\":\"a\"}"};

typedef struct name_args {
    valise_str name;
} name_args;

static const valise_field name_in[] = {
    VALISE_FIELD(name_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name."),
    VALISE_FIELD_END,
};

static int drop(valise_view *view, const void *in, void *out, valise_error *err)
{
    const name_args *args = in;
    entry row = {.name = args->name};
    int rc = valise_view_delete(view, &entries, &row, err);

    (void)out;
    return rc < 0 ? rc : 0;
}

static const valise_op drop_op = {.size = sizeof(valise_op),
                                  .name = "vault:remove",
                                  .brief = "Keep it no longer.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "vault:write",
                                  .in = name_in,
                                  .in_size = sizeof(name_args),
                                  .decide = drop,
                                  .example = "{\"name\":\"a\"}"};

typedef struct get_result {
    bool there, readable;
    valise_str label, meta;
} get_result;

static const valise_field get_out[] = {
    VALISE_FIELD(get_result, there, BOOL, 0, "There is one."),
    VALISE_FIELD(get_result, readable, BOOL, 0, "Its body can be read."),
    VALISE_FIELD(get_result, label, STR, VALISE_NULLABLE, "What is written on it."),
    VALISE_FIELD(get_result, meta, JSON, VALISE_NULLABLE, "What else there is."),
    VALISE_FIELD_END,
};

static int get(valise_view *view, const void *in, void *out, valise_error *err)
{
    static const valise_id none = {{0}};
    const name_args *args = in;
    get_result *result = out;
    entry row = {.name = args->name};
    valise_str body;
    int rc = valise_view_get(&row, view, &entries, err);

    if (rc <= 0)
        return rc;
    result->there = true;
    result->label = row.label;
    result->meta = row.meta;
    result->readable = memcmp(&row.body, &none, sizeof(none)) != 0 &&
                       valise_view_object(&body, view, &row.body, NULL) == 0;
    return 0;
}

static const valise_op get_op = {.size = sizeof(valise_op),
                                 .name = "vault:get",
                                 .brief = "What is kept.",
                                 .kind = VALISE_QUERY,
                                 .needs = "vault:read",
                                 .in = name_in,
                                 .in_size = sizeof(name_args),
                                 .out = get_out,
                                 .out_size = sizeof(get_result),
                                 .query = get,
                                 .example = "{\"name\":\"a\"}"};

static const valise_coll *const colls[] = {&entries, NULL};
static const valise_op *const ops[] = {&put_op, &tell_op, &judge_op, &drop_op, &get_op, NULL};

const valise_extension vault_extension = {.size = sizeof(valise_extension),
                                          .abi = VALISE_EXTENSION_ABI,
                                          .name = "vault",
                                          .version = "1",
                                          .collections = colls,
                                          .operations = ops};
