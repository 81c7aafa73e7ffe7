/* kit.c -- see kit.h. */
#include "blobs/kit.h"

#include "base/mem.h"
#include "json/json.h"
#include "store/view.h"

/* ---- the desk ---- */

typedef struct sheet {
    valise_str name;
    valise_id blocks;
} sheet;

static const valise_field sheet_fields[] = {
    VALISE_FIELD(sheet, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD_WITH(sheet, blocks, ID, VALISE_NULLABLE | VALISE_CONTENT, "What is on it.",
                      .ref = "object"),
    VALISE_FIELD_END,
};

static const valise_coll sheets = {.size = sizeof(valise_coll),
                                   .name = "desk.sheet",
                                   .help = "A sheet.",
                                   .fields = sheet_fields,
                                   .row_size = sizeof(sheet)};

typedef struct write_args {
    valise_str name;
    valise_content blocks;
    valise_list files, blobs;
} write_args;

static const valise_field write_in[] = {
    VALISE_FIELD_WITH(write_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name.",
                      .min = 1, .max = 100),
    VALISE_FIELD(write_args, blocks, VALUE, VALISE_NULLABLE, "What is on it."),
    VALISE_FIELD_WITH(write_args, files, LIST, 0, "Files to attach.", .more = &vls_blob_file_item,
                      .max = VLS_BLOB_FILES_MAX),
    VLS_BLOBS_FIELD(write_args, blobs),
    VALISE_FIELD_END,
};

typedef struct walk {
    valise_view *view;
    const valise_list *blobs; /* NULL: let go of them */
    valise_str name;
} walk;

static int each_blob(const walk *w, vls_json array, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc >= 0 && array.type == VLS_JSON_ARRAY && i < array.len; i++) {
        const vls_json *blob = vls_json_get(array.items[i], VLS_STR("blob"));
        const vls_json *content = vls_json_get(array.items[i], VLS_STR("content"));
        vls_blob_hold hold = {.kind = VLS_HOLD_TURN, .holder = w->name};
        if (content)
            rc = each_blob(w, *content, err);
        if (rc < 0 || !blob)
            continue;
        rc = vls_id_parse(&hold.blob, vls_json_str(*blob), err);
        if (rc == 0 && w->blobs) {
            const vls_blob_about about = vls_blob_told_of(w->blobs, &hold.blob);
            rc = vls_blob_take(w->view, &hold, &about, err);
        } else if (rc == 0) {
            rc = vls_blob_release(w->view, &hold, err);
        }
    }
    return VLS_MIN(rc, 0);
}

static int each_of(const walk *w, const valise_id *blocks, valise_error *err)
{
    valise_str text;
    vls_json array;
    int rc = valise_view_object(&text, w->view, blocks, err);

    if (rc == 0)
        rc = vls_json_parse(&array, &w->view->arena, text, NULL, err);
    return rc < 0 ? rc : each_blob(w, array, err);
}

static int write_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const write_args *a = in;
    const walk w = {view, &a->blobs, a->name};
    int rc = each_of(&w, &a->blocks.id, err);

    (void)out;
    return rc < 0 ? rc
                  : valise_view_put(view, &sheets,
                                    &(sheet){.name = a->name, .blocks = a->blocks.id}, err);
}

static int write_receive(valise_prepare *prepare, void *args, valise_error *err)
{
    write_args *a = args;

    if (!a->blocks.bytes.ptr)
        a->blocks.size = 0;
    return vls_blob_receive(&a->blocks.bytes, &a->blobs, prepare, a, &a->files, err);
}

static const valise_op write_op = {.size = sizeof(valise_op),
                                   .name = "desk:write",
                                   .brief = "Write a sheet.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "desk:write",
                                   .in = write_in,
                                   .in_size = sizeof(write_args),
                                   .decide = write_decide,
                                   .receive = write_receive,
                                   .example = "{\"name\":\"a\",\"blocks\":[]}"};

typedef struct clear_args {
    valise_str name;
} clear_args;

static const valise_field clear_in[] = {
    VALISE_FIELD_WITH(clear_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its name.",
                      .min = 1, .max = 100),
    VALISE_FIELD_END,
};

static int clear_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    sheet row = {.name = ((const clear_args *)in)->name};
    const walk w = {view, NULL, row.name};
    int rc = valise_view_get(&row, view, &sheets, err);

    (void)out;
    if (rc > 0)
        rc = each_of(&w, &row.blocks, err);
    if (rc == 0)
        rc = valise_view_delete(view, &sheets, &row, err);
    return VLS_MIN(rc, 0);
}

static const valise_op clear_op = {.size = sizeof(valise_op),
                                   .name = "desk:clear",
                                   .brief = "Throw a sheet away.",
                                   .kind = VALISE_COMMAND,
                                   .needs = "desk:write",
                                   .in = clear_in,
                                   .in_size = sizeof(clear_args),
                                   .decide = clear_decide,
                                   .example = "{\"name\":\"a\"}"};

static const valise_coll *const colls[] = {&sheets, NULL};
static const valise_op *const ops[] = {&write_op, &clear_op, NULL};

const valise_extension desk_extension = {.size = sizeof(valise_extension),
                                         .abi = VALISE_EXTENSION_ABI,
                                         .name = "desk",
                                         .version = "1",
                                         .collections = colls,
                                         .operations = ops};

/* ---- workspaces ---- */

static void close_it(void *arg)
{
    valise_close(arg);
}

const char *desk_path(void)
{
    return test_format("%s/workspace", test_tmpdir());
}

valise *desk_open_at(test *t, const char *path, const valise_middleware *const *middleware)
{
    static const valise_extension *const extensions[] = {&desk_extension, NULL};
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    o.middleware = middleware;
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    return v;
}

valise *desk_open(test *t)
{
    bool memory = t->param && strcmp(t->param, "memory") == 0;
    valise *v = desk_open_at(t, memory ? ":memory:" : desk_path(), NULL);

    test_defer(close_it, v);
    return v;
}

const char *desk_run(test *t, valise *v, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, v, type, payload, NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

void desk_fails(test *t, valise *v, int code, const char *type, const char *payload)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_RC(code, valise_dispatch(NULL, v, type, payload, NULL, &t->err));
}

void desk_validate(test *t, valise *v)
{
    CHECK(!strstr(desk_run(t, v, "workspace:validate", NULL), "\"kind\":\"problem\""));
}

/* ---- blobs ---- */

valise_id desk_hash(valise_str bytes)
{
    valise_id id;

    vls_hash_bytes(&id, bytes);
    return id;
}

bool desk_has_file(test *t, valise *v, const valise_id *id)
{
    bool there = false;

    CHECK_OK(vls_blobs_exists(&there, v->blobs, id, &t->err));
    return there;
}

static int count_file(void *arg, const valise_id *id, uint64_t size, valise_error *err)
{
    (void)id, (void)size, (void)err;
    ++*(size_t *)arg;
    return 0;
}

size_t desk_count_files(test *t, valise *v)
{
    size_t count = 0;

    CHECK_OK(vls_blobs_list(v->blobs, count_file, &count, &t->err));
    return count;
}

const char *desk_file_of(const char *dir, const valise_id *id)
{
    const char *hex = vls_id_hex(id).s;

    return test_format("%s/.valise/blobs/%.2s/%s", dir, hex, hex);
}

valise_id desk_register(test *t, valise *v, const char *text, const char *hold)
{
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    valise_blob_options o = VALISE_BLOB_OPTIONS_INIT;

    o.hold = hold;
    CHECK_OK(valise_blob_register_bytes(&told, v, valise_str_of(text), &o, NULL, &t->err));
    return told.sha256;
}

typedef struct counting {
    const valise_id *id;
    int64_t count;
} counting;

static int find_count(void *arg, const valise_blob_info *info, valise_error *err)
{
    counting *c = arg;

    (void)err;
    if (vls_id_equal(&info->sha256, c->id))
        c->count = info->count;
    return 0;
}

int desk_hold(valise *v, const valise_id *id, const char *hold, const valise_call *call,
              valise_error *err)
{
    bool taken = false;
    int rc = valise_blob_hold(&taken, v, id, hold, call, err);

    return rc < 0 ? rc : taken;
}

int desk_release(valise *v, const valise_id *id, const char *hold, const valise_call *call,
                 valise_error *err)
{
    bool released = false;
    int rc = valise_blob_release(&released, v, id, hold, call, err);

    return rc < 0 ? rc : released;
}

int64_t desk_count(test *t, valise *v, const valise_id *id)
{
    counting c = {.id = id};

    CHECK_OK(valise_blob_list(v, NULL, find_count, &c, NULL, &t->err));
    return c.count;
}
