/* toy.c -- an extension for the tests of the command line: work that takes long, long lists, a
 * secret, and an answer that would steer a terminal. */
#include <string.h>
#include <time.h>

#include <valise/sys/extension.h>

VALISE_API const valise_extension *valise_extension_v1(void);

/* ---- toy:work: a job that reports how far it is ---- */

typedef struct work_args {
    int64_t steps, pause;
} work_args;

static const valise_field work_in[] = {
    VALISE_FIELD(work_args, steps, INT, VALISE_REQUIRED | VALISE_POSITIONAL, "How many."),
    VALISE_FIELD(work_args, pause, INT, 0, "Milliseconds between two."),
    VALISE_FIELD_END,
};

typedef struct work_result {
    int64_t done;
} work_result;

static const valise_field work_out[] = {
    VALISE_FIELD(work_result, done, INT, 0, "How many are done."),
    VALISE_FIELD_END,
};

static int work(valise_job *job, const void *args, void *result, valise_error *err)
{
    const work_args *a = args;
    struct timespec pause = {a->pause / 1000, a->pause % 1000 * 1000000};

    valise_job_stage(job, "toil", "steps", (uint64_t)a->steps);
    for (int64_t i = 0; i < a->steps; i++) {
        int rc = valise_job_step(job, 1, err);
        if (rc < 0)
            return rc;
        ((work_result *)result)->done++;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static const valise_op work_op = {
    .size = sizeof(valise_op),
    .name = "toy:work",
    .brief = "Work for a while.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY,
    .needs = "toy:read",
    .in = work_in,
    .in_size = sizeof(work_args),
    .out = work_out,
    .out_size = sizeof(work_result),
    .job = work,
    .example = "{\"steps\":10}",
};

/* ---- toy:rows: a long list ---- */

typedef struct rows_args {
    int64_t count;
    valise_str text;
} rows_args;

static const valise_field rows_in[] = {
    VALISE_FIELD(rows_args, count, INT, VALISE_REQUIRED | VALISE_POSITIONAL, "How many."),
    VALISE_FIELD(rows_args, text, STR, VALISE_POSITIONAL, "What stands in them."),
    VALISE_FIELD_END,
};

typedef struct rows_row {
    int64_t number;
    valise_str text;
} rows_row;

static const valise_field rows_out[] = {
    VALISE_FIELD(rows_row, number, INT, 0, "From 1 on."),
    VALISE_FIELD(rows_row, text, STR, 0, "The text."),
    VALISE_FIELD_END,
};

static int rows(valise_view *view, const void *args, void *result, valise_error *err)
{
    const rows_args *a = args;

    (void)result;
    for (int64_t i = 1; i <= a->count; i++) {
        rows_row row = {i, a->text};
        int rc = valise_view_emit(view, &row, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static const valise_op rows_op = {
    .size = sizeof(valise_op),
    .name = "toy:rows",
    .brief = "Make rows.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST | VALISE_OP_NO_WORKSPACE,
    .in = rows_in,
    .in_size = sizeof(rows_args),
    .out = rows_out,
    .out_size = sizeof(rows_row),
    .query = rows,
    .example = "{\"count\":3,\"text\":\"hello\"}",
};

/* ---- toy:whisper: takes a secret, and says how long it is ---- */

typedef struct whisper_args {
    valise_str api_key;
} whisper_args;

static const valise_field whisper_in[] = {
    VALISE_FIELD_AS(whisper_args, api_key, "apiKey", STR, VALISE_REQUIRED | VALISE_SECRET,
                    "The key."),
    VALISE_FIELD_END,
};

typedef struct whisper_result {
    int64_t length;
} whisper_result;

static const valise_field whisper_out[] = {
    VALISE_FIELD(whisper_result, length, INT, 0, "Bytes of the key."),
    VALISE_FIELD_END,
};

static int whisper(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)err;
    ((whisper_result *)result)->length = (int64_t)((const whisper_args *)args)->api_key.len;
    return 0;
}

static const valise_op whisper_op = {
    .size = sizeof(valise_op),
    .name = "toy:whisper",
    .brief = "Take a secret.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = whisper_in,
    .in_size = sizeof(whisper_args),
    .out = whisper_out,
    .out_size = sizeof(whisper_result),
    .query = whisper,
    .example = "{\"apiKey\":\"k\"}",
};

/* ---- toy:echo: takes ids, and says which ---- */

typedef struct echo_args {
    valise_uuid command;
    valise_list commands;
    valise_id object;
} echo_args;

static const valise_field command_item = {.type = VALISE_T_UUID};

static const valise_field echo_fields[] = {
    VALISE_FIELD(echo_args, command, UUID, VALISE_NULLABLE | VALISE_POSITIONAL, "One command."),
    VALISE_FIELD_WITH(echo_args, commands, LIST, 0, "Several.", .more = &command_item),
    VALISE_FIELD(echo_args, object, ID, VALISE_NULLABLE, "An object."),
    VALISE_FIELD_END,
};

static int echo(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)err;
    memcpy(result, args, sizeof(echo_args));
    return 0;
}

static const valise_op echo_op = {
    .size = sizeof(valise_op),
    .name = "toy:echo",
    .brief = "Say which ids came in.",
    .kind = VALISE_QUERY,
    .needs = "toy:read",
    .in = echo_fields,
    .in_size = sizeof(echo_args),
    .out = echo_fields,
    .out_size = sizeof(echo_args),
    .query = echo,
    .example = "{\"command\":\"0190a5f0-1234-7abc-8def-0123456789ab\"}",
};

/* ---- toy:set: a command that can be told what to expect ---- */

typedef struct mark {
    valise_str name;
    int64_t value;
    bool loud;
} mark;

static const valise_field mark_fields[] = {
    VALISE_FIELD_WITH(mark, name, STR, VALISE_KEY, "Its name.", .min = 1, .max = 64),
    VALISE_FIELD(mark, value, INT, 0, "Its value."),
    VALISE_FIELD_END,
};

static const valise_coll marks = {
    .size = sizeof(valise_coll),
    .name = "toy.mark",
    .help = "A number under a name.",
    .fields = mark_fields,
    .row_size = sizeof(mark),
};

static const valise_field set_in[] = {
    VALISE_FIELD_WITH(mark, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name.", .min = 1,
                      .max = 64),
    VALISE_FIELD(mark, value, INT, VALISE_REQUIRED | VALISE_POSITIONAL, "Its new value."),
    VALISE_FIELD(mark, loud, BOOL, 0, "Nothing is different."),
    VALISE_FIELD_END,
};

static int set_current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    mark row = {.name = ((const mark *)args)->name};
    int rc = valise_view_get(&row, view, &marks, err);

    /* Small numbers will do here. */
    static const char digits[] = "0123456789";
    *json = rc > 0 ? (valise_str){digits + row.value % 10, 1} : (valise_str){"null", 4};
    return rc < 0 ? rc : 0;
}

static int set_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)result;
    return valise_view_put(view, &marks, args, err);
}

static const valise_op set_op = {
    .size = sizeof(valise_op),
    .name = "toy:set",
    .brief = "Put a number under a name.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "toy:write",
    .in = set_in,
    .in_size = sizeof(mark),
    .current = set_current,
    .expect_help = "the number that is there",
    .decide = set_decide,
    .example = "{\"name\":\"x\",\"value\":3}",
};

static const valise_coll *const collections[] = {&marks, NULL};
static const valise_op *const operations[] = {&echo_op,    &rows_op, &set_op,
                                              &whisper_op, &work_op, NULL};

const valise_extension *valise_extension_v1(void)
{
    static const valise_extension toy = {
        .size = sizeof(valise_extension),
        .abi = VALISE_EXTENSION_ABI,
        .name = "toy",
        .version = "1",
        .collections = collections,
        .operations = operations,
    };

    return &toy;
}
