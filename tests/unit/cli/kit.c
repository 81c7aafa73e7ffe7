/* kit.c -- the toy operations. */
#include "cli/kit.h"

#include "cli/call.h"

static int decide_nothing(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)args, (void)result, (void)err;
    return 0;
}

static int current_nothing(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    (void)view, (void)args, (void)err;
    *json = VLS_STR("null");
    return 0;
}

/* ---- demo:put: a field of every type ---- */

static const char *const modes[] = {"fast", "careful", NULL};
static const char *const roles[] = {"user", "assistant", NULL};

typedef struct deep {
    int64_t count;
} deep;
static const valise_field deep_fields[] = {
    VALISE_FIELD(deep, count, INT, 0, "How many."),
    VALISE_FIELD_END,
};
static const valise_struct deep_struct = {sizeof(deep), deep_fields};

typedef struct turn {
    int64_t role;
    valise_str source_id;
    const deep *more;
} turn;
static const valise_field turn_fields[] = {
    VALISE_FIELD_WITH(turn, role, ENUM, 0, "Who speaks.", .more = roles),
    VALISE_FIELD_AS(turn, source_id, "sourceId", STR, 0, "Where it came from."),
    VALISE_FIELD_WITH(turn, more, STRUCT, 0, "What else.", .more = &deep_struct),
    VALISE_FIELD_END,
};
static const valise_struct turn_struct = {sizeof(turn), turn_fields};

static const valise_case block_cases[] = {{"turn", &turn_struct}, {NULL, NULL}};
static const valise_union block_union = {"type", block_cases, 1};
static const valise_field block_item = {.type = VALISE_T_UNION, .more = &block_union};
static const valise_field tag_item = {.type = VALISE_T_STR};

typedef struct put_args {
    valise_str bag, key;
    valise_content value;
    valise_list tags, blocks;
    bool force;
    int64_t limit, mode, since, ttl;
    double ratio;
    valise_str small, session_id, api_key, bytes;
    valise_uuid run;
    valise_id object;
    valise_content note, raw;
    const turn *turn;
} put_args;

static const valise_field put_in[] = {
    VALISE_FIELD_WITH(put_args, bag, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The bag to put it into.", .ref = "demo"),
    VALISE_FIELD(put_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key."),
    VALISE_FIELD(put_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL, "Any JSON value."),
    VALISE_FIELD_WITH(put_args, tags, LIST, 0, "Tags, such as pii.", .more = &tag_item),
    VALISE_FIELD_WITH(put_args, blocks, LIST, VALISE_NULLABLE, "Blocks.", .more = &block_item),
    VALISE_FIELD(put_args, force, BOOL, 0, "Whatever is there."),
    VALISE_FIELD(put_args, limit, INT, VALISE_NULLABLE, "At most so many."),
    VALISE_FIELD_WITH(put_args, mode, ENUM, VALISE_NULLABLE, "How.", .more = modes),
    VALISE_FIELD(put_args, since, TIME, VALISE_NULLABLE, "From when on."),
    VALISE_FIELD(put_args, ttl, DURATION, VALISE_NULLABLE, "For how long."),
    VALISE_FIELD(put_args, ratio, REAL, 0, "A ratio."),
    VALISE_FIELD(put_args, small, JSON, VALISE_NULLABLE, "Something small."),
    VALISE_FIELD_AS(put_args, session_id, "sessionId", STR, 0, "A session."),
    VALISE_FIELD_AS(put_args, api_key, "apiKey", STR, VALISE_SECRET, "The key of an API."),
    VALISE_FIELD(put_args, bytes, BYTES, 0, "Bytes."),
    VALISE_FIELD(put_args, run, UUID, VALISE_NULLABLE, "A run."),
    VALISE_FIELD(put_args, object, ID, VALISE_NULLABLE, "An object."),
    VALISE_FIELD(put_args, note, TEXT, VALISE_NULLABLE, "A note."),
    VALISE_FIELD(put_args, raw, DATA, VALISE_NULLABLE, "Raw bytes."),
    VALISE_FIELD_WITH(put_args, turn, STRUCT, VALISE_NULLABLE, "A turn.", .more = &turn_struct),
    VALISE_FIELD_END,
};

static const valise_op put_op = {
    .size = sizeof(valise_op),
    .name = "demo:put",
    .brief = "Put a value into a bag.",
    .help = "The first paragraph, which is long enough to be broken into two lines of help, as\n"
            "paragraphs are.\n\n.The second one begins with a dot and has a back\\slash.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "demo:write",
    .in = put_in,
    .in_size = sizeof(put_args),
    .current = current_nothing,
    .expect_help = "the version of the item",
    .decide = decide_nothing,
    .example =
        "{\"bag\":\"run-1\",\"key\":\"it's\",\"value\":\"What is AI?\",\"tags\":[\"a b\",\"c\"],"
        "\"force\":true,\"limit\":-3,\"note\":\"@home\",\"raw\":\"aGVsbG8=\","
        "\"turn\":{\"role\":\"user\"}}",
};

/* ---- demo:list ---- */

typedef struct item {
    valise_uuid id;
    valise_id object;
    valise_str name;
    int64_t size, at;
    valise_list tags;
    valise_str hidden;
} item;

static const valise_field item_fields[] = {
    VALISE_FIELD(item, id, UUID, VALISE_KEY, "Its id."),
    VALISE_FIELD(item, object, ID, VALISE_NULLABLE, "Its object."),
    VALISE_FIELD(item, name, STR, 0, "Its name."),
    VALISE_FIELD(item, size, INT, 0, "Bytes."),
    VALISE_FIELD(item, at, TIME, VALISE_NULLABLE, "Since when."),
    VALISE_FIELD_WITH(item, tags, LIST, 0, "Tags.", .more = &tag_item),
    VALISE_FIELD(item, hidden, STR, VALISE_HIDDEN, "Not for people."),
    VALISE_FIELD_END,
};

static const valise_op list_op = {
    .size = sizeof(valise_op),
    .name = "demo:list",
    .alias = "demos",
    .brief = "List what is in bags.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "demo:read",
    .out = item_fields,
    .out_size = sizeof(item),
    .query = decide_nothing,
    .example = "{}",
};

/* ---- demo:take: names that options of all commands have too; a list of operands ---- */

typedef struct take_args {
    valise_str id, at, json;
    valise_list names;
} take_args;

static const valise_field take_in[] = {
    VALISE_FIELD(take_args, id, STR, 0, "Not the command's."),
    VALISE_FIELD(take_args, at, STR, 0, "Not the state."),
    VALISE_FIELD(take_args, json, STR, 0, "Hidden by --json."),
    VALISE_FIELD_WITH(take_args, names, LIST, VALISE_POSITIONAL, "Names.", .more = &tag_item),
    VALISE_FIELD_END,
};

static const valise_op take_op = {
    .size = sizeof(valise_op),
    .name = "demo:take",
    .alias = "grab",
    .brief = "Take things.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "demo:write",
    .in = take_in,
    .in_size = sizeof(take_args),
    .decide = decide_nothing,
    .example = "{\"names\":[\"-x\",\"y\"]}",
};

/* ---- demo:note: an optional operand behind another; a required option and secret ---- */

typedef struct note_args {
    valise_str first, second, must, token;
} note_args;

static const valise_field note_in[] = {
    VALISE_FIELD(note_args, first, STR, VALISE_POSITIONAL, "The first."),
    VALISE_FIELD(note_args, second, STR, VALISE_POSITIONAL, "The second."),
    VALISE_FIELD(note_args, must, STR, VALISE_REQUIRED, "Must be."),
    VALISE_FIELD(note_args, token, STR, VALISE_REQUIRED | VALISE_SECRET, "A secret."),
    VALISE_FIELD_END,
};

static const valise_op note_op = {
    .size = sizeof(valise_op),
    .name = "demo:note",
    .brief = "Note something.",
    .kind = VALISE_COMMAND,
    .needs = "demo:write",
    .in = note_in,
    .in_size = sizeof(note_args),
    .decide = decide_nothing,
    .example = "{\"second\":\"s\",\"must\":\"m\",\"token\":\"t\"}",
};

/* ---- others ---- */

static const valise_op pack_op = {
    .size = sizeof(valise_op),
    .name = "backpack:pack",
    .brief = "Pack.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .decide = decide_nothing,
    .example = "{}",
};

static const valise_op admit_op = {
    .size = sizeof(valise_op),
    .name = "demo:admit",
    .brief = "Only the engine does it.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "admin",
    .decide = decide_nothing,
};

const valise_op *const kit_ops[] = {&pack_op, &admit_op, &list_op, &note_op,
                                    &put_op,  &take_op,  NULL};

/* ---- asking ---- */

const valise_op *kit_op(const char *name)
{
    for (size_t i = 0; kit_ops[i]; i++) {
        if (strcmp(kit_ops[i]->name, name) == 0)
            return kit_ops[i];
    }
    test_fail(__FILE__, __LINE__, "there is no toy %s", name);
}

typedef struct kit {
    cli c;
    cli_out out;
    cli_catalog catalog;
} kit;

static void kit_free(void *arg)
{
    kit *k = arg;

    cli_out_release(&k->out);
    vls_arena_release(&k->c.arena);
}

cli *kit_new(test *t)
{
    static const cli_builtin *const builtins[] = {&cli_builtin_help, &cli_builtin_version, NULL};
    kit *k = test_alloc(sizeof(*k));

    k->c = (cli){.env = t->env, .out = &k->out, .catalog = &k->catalog};
    vls_arena_init(&k->c.arena, t->env, (size_t)256 << 20);
    k->out = (cli_out){.env = t->env, .fd = -1, .columns = 80, .rows = 24};
    vls_buf_init(&k->out.text, t->env, (size_t)64 << 20);
    test_defer(kit_free, k);
    CHECK_OK(cli_catalog_init(&k->catalog, &k->c.arena, kit_ops, builtins, &t->err));
    return &k->c;
}

static const char *error_text(const valise_error *err)
{
    return test_format("%s: %s%s%s%s%s%s",
                       err->code == CLI_E_USAGE ? "USAGE" : valise_error_name(err->code),
                       err->path[0] ? "[" : "", err->path, err->path[0] ? "] " : "", err->message,
                       err->hint[0] ? " | " : "", err->hint);
}

const char *kit_payload(test *t, const char *const *words)
{
    cli *c = kit_new(t);
    VLS_AUTO(buf) vls_buf text = {0};
    valise_error err = VALISE_ERROR_INIT;
    const char *list[64];
    cli_words split;
    vls_json payload;
    size_t count = 0;

    for (; words[count]; count++)
        list[count] = words[count];
    if (cli_words_split(&split, c, count, list, &err) < 0 ||
        (split.command && cli_words_payload(&payload, c, &split, &err) < 0))
        return error_text(&err);
    if (!split.command)
        return test_format("group %s", split.group ? split.group : "none");
    vls_buf_init(&text, t->env, (size_t)64 << 20);
    CHECK_OK(vls_json_write(&text, payload, &t->err));
    return test_format("%s %.*s", split.command->op->name, (int)text.len, text.ptr);
}
