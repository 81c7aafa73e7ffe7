/* counter.c -- an extension for tests: counter.h says what it has. */
#include "kit/counter.h"

#include <string.h>

#include <valise/workspace.h>

#include "base/base.h"
#include "base/str.h"

/* ---- rows ---- */

static const valise_field tag_item = {.type = VALISE_T_STR};

static const valise_field tally_fields[] = {
    VALISE_FIELD(tally_row, name, STR, VALISE_KEY, "Name of the counter."),
    VALISE_FIELD(tally_row, value, INT, 0, "What it stands at."),
    VALISE_FIELD_WITH(tally_row, note, ID, VALISE_NULLABLE | VALISE_CONTENT, "The last note.",
                      .ref = "object"),
    VALISE_FIELD_WITH(tally_row, tags, LIST, 0, "Tags.", .more = &tag_item),
    VALISE_FIELD(tally_row, actor, STR, 0, "Who changed it last."),
    VALISE_FIELD(tally_row, updated, TIME, 0, "When."),
    VALISE_FIELD_END,
};

static const char *const by_value[] = {"value", NULL};
static const valise_coll_index tally_indexes[] = {{"value", by_value}, {NULL, NULL}};

const valise_coll counter_tally = {
    .size = sizeof(valise_coll),
    .name = "counter.tally",
    .help = "A counter.",
    .fields = tally_fields,
    .row_size = sizeof(tally_row),
    .indexes = tally_indexes,
};

static const valise_field step_fields[] = {
    VALISE_FIELD(step_row, id, UUID, VALISE_KEY, "Id of the step."),
    VALISE_FIELD(step_row, name, STR, 0, "Name of the counter."),
    VALISE_FIELD(step_row, value, INT, 0, "What it stood at then."),
    VALISE_FIELD(step_row, seq, INT, 0, "The command."),
    VALISE_FIELD_END,
};

const valise_coll counter_step = {
    .size = sizeof(valise_coll),
    .name = "counter.step",
    .help = "One change of a counter.",
    .fields = step_fields,
    .row_size = sizeof(step_row),
    .flags = VALISE_COLL_IMMUTABLE,
};

/* ---- counter:add ---- */

static const valise_field part_fields[] = {
    VALISE_FIELD(part_args, label, STR, VALISE_REQUIRED, "Name of the part."),
    VALISE_FIELD(part_args, body, DATA, VALISE_REQUIRED, "Its bytes."),
    VALISE_FIELD_END,
};
static const valise_struct part_struct = {sizeof(part_args), part_fields};
static const valise_field part_item = {.type = VALISE_T_STRUCT, .more = &part_struct};

static const valise_field add_in[] = {
    VALISE_FIELD(add_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the counter."),
    VALISE_FIELD(add_args, by, INT, VALISE_POSITIONAL, "How much; 1 when not given."),
    VALISE_FIELD(add_args, note, TEXT, VALISE_NULLABLE, "Why."),
    VALISE_FIELD_WITH(add_args, tags, LIST, 0, "Tags.", .more = &tag_item),
    VALISE_FIELD_WITH(add_args, parts, LIST, 0, "Things to keep.", .more = &part_item),
    VALISE_FIELD(add_args, meta, VALUE, VALISE_NULLABLE, "Anything."),
    VALISE_FIELD_END,
};

static const valise_field add_out[] = {
    VALISE_FIELD(add_result, name, STR, 0, "Name of the counter."),
    VALISE_FIELD(add_result, value, INT, 0, "What it stands at now."),
    VALISE_FIELD(add_result, step, UUID, 0, "Id of the step."),
    VALISE_FIELD_END,
};

static int add_step(valise_uuid *out, valise_view *view, const tally_row *row, valise_error *err)
{
    step_row step = {.name = row->name, .value = row->value};
    int rc = valise_view_uuid(&step.id, view, err);

    if (rc < 0)
        return rc;
    step.seq = valise_view_stamp(view)->seq;
    *out = step.id;
    return valise_view_put(view, &counter_step, &step, err);
}

static int add_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const add_args *args = arguments;
    add_result *out = result;
    tally_row row = {.name = args->name};
    int rc = valise_view_get(&row, view, &counter_tally, err);

    if (rc < 0)
        return rc;
    row.value += args->by ? args->by : 1;
    row.actor = valise_view_stamp(view)->actor;
    row.updated = valise_view_stamp(view)->time;
    if (args->note.size > 0)
        row.note = args->note.id;
    if (args->tags.count > 0)
        row.tags = args->tags;
    rc = valise_view_put(view, &counter_tally, &row, err);
    if (rc == 0)
        rc = add_step(&out->step, view, &row, err);
    if (rc < 0)
        return rc;
    /* After the change was made, so that a refusal has something to take back. */
    if (row.value > COUNTER_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "counter %.*s would stand at %lld",
                        VALISE_STR_ARG(args->name), (long long)row.value);
    out->name = row.name;
    out->value = row.value;
    return 0;
}

static int add_current(valise_str *json, valise_view *view, const void *arguments,
                       valise_error *err)
{
    const add_args *args = arguments;
    tally_row row = {.name = args->name};
    char digits[24];
    void *text;
    int rc = valise_view_get(&row, view, &counter_tally, err);

    if (rc <= 0) {
        *json = VLS_STR("null");
        return rc;
    }
    snprintf(digits, sizeof(digits), "%lld", (long long)row.value);
    rc = valise_view_alloc(&text, view, sizeof(digits), err);
    if (rc < 0)
        return rc;
    memcpy(text, digits, sizeof(digits));
    *json = (valise_str){text, strlen(digits)};
    return 0;
}

const valise_op counter_add = {
    .size = sizeof(valise_op),
    .name = "counter:add",
    .brief = "Count.",
    .kind = VALISE_COMMAND,
    .needs = "counter:write",
    .in = add_in,
    .in_size = sizeof(add_args),
    .out = add_out,
    .out_size = sizeof(add_result),
    .current = add_current,
    .expect_help = "the value of the counter",
    .decide = add_decide,
    .example = "{\"name\":\"apples\",\"by\":2}",
};

/* ---- counter:remove, counter:reset, counter:ask ---- */

typedef struct name_args {
    valise_str name;
} name_args;

static const valise_field name_in[] = {
    VALISE_FIELD(name_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name."),
    VALISE_FIELD_END,
};

static int remove_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const name_args *args = arguments;
    tally_row row = {.name = args->name};
    int rc = valise_view_delete(view, &counter_tally, &row, err);

    (void)result;
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no counter %.*s",
                        VALISE_STR_ARG(args->name));
    return rc < 0 ? rc : 0;
}

static const valise_op counter_remove = {
    .size = sizeof(valise_op),
    .name = "counter:remove",
    .brief = "Forget a counter.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "counter:write",
    .in = name_in,
    .in_size = sizeof(name_args),
    .decide = remove_decide,
    .example = "{\"name\":\"apples\"}",
};

static int reset_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    valise_scan *scan = NULL;
    tally_row row = {0};
    int rc = valise_view_scan(&scan, view, &counter_tally, NULL, err);

    (void)args, (void)result;
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) == 1) {
        row.value = 0;
        rc = valise_view_put(view, &counter_tally, &row, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op counter_reset = {
    .size = sizeof(valise_op),
    .name = "counter:reset",
    .brief = "Set every counter to nothing.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .decide = reset_decide,
    .example = "{}",
};

static int ask_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const name_args *args = arguments;
    char capability[64];

    (void)result;
    snprintf(capability, sizeof(capability), "%.*s", VALISE_STR_ARG(args->name));
    return valise_view_allows(view, capability, NULL, err);
}

static const valise_op counter_ask = {
    .size = sizeof(valise_op),
    .name = "counter:ask",
    .brief = "Ask whether one may.",
    .kind = VALISE_COMMAND,
    .needs = "counter:write",
    .in = name_in,
    .in_size = sizeof(name_args),
    .decide = ask_decide,
    .example = "{\"name\":\"admin\"}",
};

/* ---- queries ---- */

static const valise_field get_out[] = {
    VALISE_FIELD(get_result, name, STR, 0, "Name of the counter."),
    VALISE_FIELD(get_result, value, INT, 0, "What it stands at."),
    VALISE_FIELD(get_result, version, INT, 0, "The command that made it so."),
    VALISE_FIELD(get_result, note, TEXT, VALISE_NULLABLE, "The last note."),
    VALISE_FIELD_END,
};

static bool has_note(const tally_row *row)
{
    static const valise_id none;

    return memcmp(&row->note, &none, sizeof(none)) != 0;
}

static int get_query(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const name_args *args = arguments;
    get_result *out = result;
    tally_row row = {.name = args->name};
    int rc = valise_view_get(&row, view, &counter_tally, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no counter %.*s",
                        VALISE_STR_ARG(args->name));
    if (rc > 0)
        rc = valise_view_version(&out->version, view, &counter_tally, &row, err);
    if (rc == 0 && has_note(&row)) {
        out->note.id = row.note;
        rc = valise_view_object(&out->note.bytes, view, &row.note, err);
        out->note.size = (int64_t)out->note.bytes.len;
    }
    out->name = row.name;
    out->value = row.value;
    return rc;
}

const valise_op counter_get = {
    .size = sizeof(valise_op),
    .name = "counter:get",
    .brief = "Look at a counter.",
    .kind = VALISE_QUERY,
    .needs = "counter:read",
    .in = name_in,
    .in_size = sizeof(name_args),
    .out = get_out,
    .out_size = sizeof(get_result),
    .query = get_query,
    .example = "{\"name\":\"apples\"}",
};

typedef struct list_args {
    int64_t above;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD(list_args, above, INT, VALISE_NULLABLE, "Only counters above this."),
    VALISE_FIELD_END,
};

static int list_query(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const list_args *args = arguments;
    valise_scan *scan = NULL;
    tally_row row = {0};
    int rc = valise_view_scan(&scan, view, &counter_tally, NULL, err);

    (void)result;
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) == 1) {
        get_result out = {.name = row.name, .value = row.value, .note = {.size = VALISE_NONE}};
        rc = valise_view_version(&out.version, view, &counter_tally, &row, err);
        if (rc == 0 && row.value > args->above)
            rc = valise_view_emit(view, &out, err);
    }
    valise_scan_close(scan);
    return rc;
}

const valise_op counter_list = {
    .size = sizeof(valise_op),
    .name = "counter:list",
    .brief = "All counters.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "counter:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = get_out,
    .out_size = sizeof(get_result),
    .query = list_query,
    .example = "{\"above\":3}",
};

static int hello_query(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const name_args *args = arguments;

    (void)view, (void)err;
    ((name_args *)result)->name = args->name;
    return 0;
}

static const valise_op counter_hello = {
    .size = sizeof(valise_op),
    .name = "counter:hello",
    .brief = "Say a name back.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = name_in,
    .in_size = sizeof(name_args),
    .out = name_in,
    .out_size = sizeof(name_args),
    .query = hello_query,
    .example = "{\"name\":\"world\"}",
};

/* A query that asks what its actor may; "emit" answers with a row where there is no list. */
static int may_query(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const name_args *args = arguments;
    char capability[64];

    ((name_args *)result)->name = args->name;
    if (vls_str_equal(args->name, VLS_STR("emit")))
        return valise_view_emit(view, result, err);
    snprintf(capability, sizeof(capability), "%.*s", VALISE_STR_ARG(args->name));
    return valise_view_allows(view, capability, NULL, err);
}

static const valise_op counter_may = {
    .size = sizeof(valise_op),
    .name = "counter:may",
    .brief = "Ask whether one may, without a trace.",
    .kind = VALISE_QUERY,
    .needs = "counter:read",
    .in = name_in,
    .in_size = sizeof(name_args),
    .out = name_in,
    .out_size = sizeof(name_args),
    .query = may_query,
    .example = "{\"name\":\"counter:write\"}",
};

/* ---- a job ---- */

static const valise_field many_in[] = {
    VALISE_FIELD(many_args, name, STR, VALISE_REQUIRED, "Name of the counter."),
    VALISE_FIELD(many_args, times, INT, 0, "How often."),
    VALISE_FIELD_END,
};

static int many_job(valise_job *job, const void *arguments, void *result, valise_error *err)
{
    const many_args *args = arguments;
    valise_call call = VALISE_CALL_INIT;
    char *payload;
    void *text;
    int rc = valise_job_alloc(&text, job, 256, err);

    (void)result;
    if (rc < 0)
        return rc;
    payload = text;
    snprintf(payload, 256, "{\"name\":\"%.*s\"}", VALISE_STR_ARG(args->name));
    call.actor = valise_job_actor(job);
    valise_job_stage(job, "count", "commands", (uint64_t)args->times);
    for (int64_t i = 0; i < args->times; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        get_result row = {.name = args->name, .value = i, .note = {.size = VALISE_NONE}};
        rc = valise_dispatch(&reply, valise_job_workspace(job), "counter:add", payload, &call, err);
        row.version = reply.seq;
        valise_reply_release(&reply);
        if (rc == 0)
            rc = valise_job_emit(job, &row, err);
        if (rc == 0)
            rc = valise_job_step(job, 1, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

const valise_op counter_many = {
    .size = sizeof(valise_op),
    .name = "counter:many",
    .brief = "Count often.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_LIST,
    .needs = "counter:write",
    .in = many_in,
    .in_size = sizeof(many_args),
    .out = get_out,
    .out_size = sizeof(get_result),
    .job = many_job,
    .example = "{\"name\":\"apples\",\"times\":3}",
};

/* ---- the package ---- */

static const valise_coll *const collections[] = {&counter_tally, &counter_step, NULL};
static const valise_op *const operations[] = {
    &counter_add,  &counter_remove, &counter_reset, &counter_ask,  &counter_get,
    &counter_list, &counter_hello,  &counter_may,   &counter_many, NULL};

const valise_extension counter_extension = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "counter",
    .version = "1",
    .collections = collections,
    .operations = operations,
};
