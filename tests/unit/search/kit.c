/* kit.c -- see kit.h. */
#include "search/kit.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/hex.h"
#include "base/str.h"
#include "chat/rows.h"
#include "json/json.h"
#include "memory/rows.h"

/* ---- rows, word for word ---- */

typedef struct turn_args {
    valise_uuid id;
    int64_t version;
    valise_content blocks;
} turn_args;

static const valise_field turn_in[] = {
    VALISE_FIELD(turn_args, id, UUID, VALISE_REQUIRED, "Id."),
    VALISE_FIELD(turn_args, version, INT, 0, "Version."),
    VALISE_FIELD(turn_args, blocks, VALUE, VALISE_REQUIRED, "Blocks."),
    VALISE_FIELD_END,
};

static int turn_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const turn_args *a = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_turn_row row = {.ref = {a->id, a->version ? a->version : 1},
                        .blocks = a->blocks.id,
                        .place = {.lane = a->id},
                        .time = stamp->time,
                        .actor = stamp->actor};

    (void)out;
    return valise_view_put(view, &vls_turns, &row, err);
}

static const valise_op turn_op = {.size = sizeof(valise_op),
                                  .name = "toy:turn",
                                  .brief = "Put a turn.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "toy:write",
                                  .in = turn_in,
                                  .in_size = sizeof(turn_args),
                                  .decide = turn_decide,
                                  .example = "{\"id\":\"018f0000-0000-7000-8000-000000000001\","
                                             "\"blocks\":[]}"};

typedef struct entry_args {
    valise_str key;
    valise_content text, json;
    valise_list topics;
    int64_t expires;
} entry_args;

static const valise_field entry_in[] = {
    VALISE_FIELD(entry_args, key, STR, VALISE_REQUIRED, "Key."),
    VALISE_FIELD(entry_args, text, TEXT, VALISE_NULLABLE, "Text."),
    VALISE_FIELD(entry_args, json, VALUE, VALISE_NULLABLE, "Or JSON."),
    VALISE_FIELD_WITH(entry_args, topics, LIST, 0, "Topics.", .more = &vls_topic_item),
    VALISE_FIELD(entry_args, expires, TIME, VALISE_NULLABLE, "Until when."),
    VALISE_FIELD_END,
};

static int entry_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const entry_args *a = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    bool json = a->json.size != VALISE_NONE;
    vls_context_entry_row row = {.key = a->key,
                                 .type = json ? VLS_ENTRY_JSON : VLS_ENTRY_TEXT,
                                 .content = json ? a->json.id : a->text.id,
                                 .topics = a->topics,
                                 .expires = a->expires,
                                 .version = 1,
                                 .created = stamp->time,
                                 .updated = stamp->time,
                                 .actor = stamp->actor};

    (void)out;
    return valise_view_put(view, &vls_context_entries, &row, err);
}

static const valise_op entry_op = {.size = sizeof(valise_op),
                                   .name = "toy:entry",
                                   .brief = "Put an entry.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "toy:write",
                                   .in = entry_in,
                                   .in_size = sizeof(entry_args),
                                   .decide = entry_decide,
                                   .example = "{\"key\":\"a\",\"text\":\"b\"}"};

typedef struct drop_args {
    valise_uuid turn;
    valise_str key;
} drop_args;

static const valise_field drop_in[] = {
    VALISE_FIELD(drop_args, turn, UUID, VALISE_NULLABLE, "A turn."),
    VALISE_FIELD(drop_args, key, STR, VALISE_NULLABLE, "Or an entry."),
    VALISE_FIELD_END,
};

static int drop_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const drop_args *a = in;
    vls_turn_row turn = {.ref = {a->turn, 1}};
    vls_context_entry_row entry = {.key = a->key};
    int rc = a->key.ptr ? valise_view_delete(view, &vls_context_entries, &entry, err)
                        : valise_view_delete(view, &vls_turns, &turn, err);

    (void)out;
    return VLS_MIN(rc, 0);
}

static const valise_op drop_op = {.size = sizeof(valise_op),
                                  .name = "toy:drop",
                                  .brief = "Delete a row.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "toy:write",
                                  .in = drop_in,
                                  .in_size = sizeof(drop_args),
                                  .decide = drop_decide,
                                  .example = "{\"key\":\"a\"}"};

static const valise_op *const ops[] = {&turn_op, &entry_op, &drop_op, NULL};
const valise_extension toy_extension = {.size = sizeof(valise_extension),
                                        .abi = VALISE_EXTENSION_ABI,
                                        .name = "toy",
                                        .version = "1",
                                        .operations = ops};

/* ---- the workspace ---- */

static const valise_extension *const extensions[] = {&toy_extension, NULL};

void desk_close(desk *d)
{
    valise_close(d->v);
    d->v = NULL;
}

static void close_it(void *arg)
{
    desk_close(arg);
}

void desk_reopen(desk *d)
{
    test *t = d->t;
    valise_options o = VALISE_OPTIONS_INIT;

    desk_close(d);
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    o.durability = VALISE_DURABILITY_NORMAL;
    CHECK_OK(valise_open(&d->v, d->memory ? ":memory:" : d->dir, &o, &t->err));
}

desk *desk_open_in(test *t, const char *dir, bool memory)
{
    desk *d = test_alloc(sizeof(*d));

    *d = (desk){.t = t, .dir = dir, .memory = memory};
    (void)mkdir(dir, 0700);
    desk_reopen(d);
    test_defer(close_it, d);
    return d;
}

desk *desk_open(test *t)
{
    return desk_open_in(t, test_format("%s/desk", test_tmpdir()),
                        t->param && strcmp(t->param, "memory") == 0);
}

const char *desk_run(desk *d, const char *op, const char *members)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text = "";

    CHECK_OK(valise_dispatch(&reply, d->v, op, test_format("{%s}", members), NULL, &t->err));
    if (reply.json)
        text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

int desk_try(desk *d, const char *actor, const char *op, const char *members)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = valise_str_of(actor);
    return valise_dispatch(NULL, d->v, op, test_format("{%s}", members), &call, &d->t->err);
}

static const char *quoted(const char *text)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, valise_env_default(), (size_t)16 << 20);
    vls_json_write_string(&out, valise_str_of(text));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out)));
}

void desk_talk(desk *d)
{
    (void)desk_run(d, "session:create", "\"label\":\"s\"");
    d->talks = true;
}

void desk_say(desk *d, unsigned n, const char *text)
{
    if (d->talks) {
        (void)desk_run(d, "turn:add",
                       test_format("\"sessionId\":\"s\",\"turn\":{\"id\":\"018f0000-0000-7000-8000-"
                                   "%012u\",\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
                                   "\"text\":%s}]}",
                                   n, quoted(text)));
        return;
    }
    (void)desk_run(d, "toy:turn",
                   test_format("\"id\":\"018f0000-0000-7000-8000-%012u\",\"blocks\":[{\"type\":"
                               "\"text\",\"text\":%s}]",
                               n, quoted(text)));
}

void desk_note(desk *d, const char *key, const char *text, const char *topics)
{
    (void)desk_run(d, "toy:entry",
                   test_format("\"key\":%s,\"text\":%s%s%s", quoted(key), quoted(text),
                               topics[0] ? "," : "", topics));
}

/* ---- hits ---- */

static valise_str text_of(vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    return value && value->type == VLS_JSON_STRING ? vls_json_str(*value) : VLS_STR("");
}

static const char *name_of(vls_json row)
{
    valise_str kind = text_of(row, "kind"), turn = text_of(row, "ref");

    if (vls_str_equal(kind, VLS_STR("context")))
        return test_format("e:%.*s", VALISE_STR_ARG(text_of(row, "key")));
    if (vls_str_equal(kind, VLS_STR("frame")))
        return test_format("f:%.*s:%.*s", VALISE_STR_ARG(text_of(row, "path")),
                           VALISE_STR_ARG(text_of(row, "type")));
    if (turn.len < 36)
        return test_format("?%.*s", VALISE_STR_ARG(kind));
    return test_format("t%ld", strtol(turn.ptr + 24, NULL, 10));
}

const char *desk_find_as(desk *d, const char *actor, const char *query, const char *members)
{
    test *t = d->t;
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *names = "";
    vls_json rows = {0};

    call.actor = valise_str_of(actor);
    if (valise_dispatch(
            &reply, d->v, "search:query",
            test_format("{\"query\":%s%s%s}", quoted(query), members[0] ? "," : "", members), &call,
            &t->err) < 0)
        return test_format("error: %s", t->err.message);
    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    CHECK_OK(vls_json_parse(&rows, &arena, valise_blob_bytes(reply.json), NULL, &t->err));
    rows = *vls_json_get(rows, VLS_STR("items"));
    for (uint32_t i = 0; i < rows.len; i++)
        names = test_format("%s%s%s", names, i ? " " : "", name_of(rows.items[i]));
    valise_reply_release(&reply);
    return names;
}

const char *desk_find(desk *d, const char *query, const char *members)
{
    return desk_find_as(d, "", query, members);
}

/* ---- files ---- */

const char *desk_path(const desk *d, const char *name)
{
    return test_format("%s/.valise/%s", d->dir, name);
}

bool desk_holds(const desk *d, const char *begin, const char *bytes)
{
    DIR *dir = opendir(desk_path(d, ""));
    bool found = false;
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        struct stat st;
        const char *path = desk_path(d, e->d_name);
        if (strncmp(e->d_name, begin, strlen(begin)) != 0 || stat(path, &st) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        valise_str text = test_read_file(path);
        found |= text.len > 0 && memmem(text.ptr, text.len, bytes, strlen(bytes)) != NULL;
    }
    if (dir)
        (void)closedir(dir);
    return found;
}
