/* trial.c -- valise/sys/test.h: an operation on given rows, decided and never applied. */
#include <valise/sys/test.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"
#include "bus/command.h"

#define TRIAL_TIME INT64_C(1767323045000000000) /* 2026-01-02T03:04:05Z */

struct valise_test {
    const valise_env *env;
    vls_registry *registry;
    vls_store *store;
    valise *bus;
};

/* ---- opening ---- */

static int allow(void *self, valise_view *view, valise_str actor, const valise_op *op,
                 const void *args, valise_error *err)
{
    (void)self, (void)view, (void)actor, (void)op, (void)args, (void)err;
    return 0;
}

static int allow_more(void *self, valise_view *view, valise_str actor, const char *capability,
                      const char *const *attrs, valise_error *err)
{
    (void)self, (void)view, (void)actor, (void)capability, (void)attrs, (void)err;
    return 0;
}

static int open_parts(valise_test *t, const valise_extension *const *extensions, valise_error *err)
{
    int rc = vls_registry_new(&t->registry, t->env, err);

    for (size_t i = 0; rc == 0 && extensions && extensions[i]; i++)
        rc = vls_registry_add(t->registry, extensions[i], false, err);
    if (rc < 0)
        return rc;

    vls_store_options store = {.env = t->env,
                               .ops = valise_store_memory(),
                               .flags = VALISE_STORE_CREATE,
                               .colls = vls_registry_colls(t->registry)};
    rc = vls_store_open(&t->store, &store, err);
    if (rc < 0)
        return rc;

    vls_bus_options bus = {.env = t->env,
                           .store = t->store,
                           .registry = t->registry,
                           .access = {NULL, allow, allow_more}};
    return vls_bus_open(&t->bus, &bus, err);
}

int valise_test_new(valise_test **out, const valise_extension *const *extensions,
                    const struct valise_env *env, valise_error *err)
{
    valise_test *t;
    int rc;

    VLS_ARG(out, err);
    env = env ? env : valise_env_default();
    t = vls_mem_zalloc(env, sizeof(*t));
    if (!t)
        return vls_fail_memory(err);
    t->env = env;
    rc = open_parts(t, extensions, err);
    if (rc < 0) {
        valise_test_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void valise_test_free(valise_test *t)
{
    if (!t)
        return;
    vls_bus_close(t->bus);
    vls_store_close(t->store);
    vls_registry_free(t->registry);
    vls_mem_free(t->env, t, sizeof(*t));
}

/* ---- what is there ---- */

typedef struct given_row {
    valise_test *t;
    const vls_coll *coll;
    valise_str json;
} given_row;

static int put_row(void *arg, vls_txn *txn, valise_error *err)
{
    const given_row *given = arg;
    const valise_coll *desc = given->coll->desc;
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_json value;
    void *row;
    int rc;

    vls_arena_init(&arena, given->t->env, VLS_VIEW_MAX_BYTES);
    row = vls_arena_zalloc(&arena, desc->row_size);
    if (!row)
        return vls_arena_fail(&arena, err);
    rc = vls_json_parse(&value, &arena, given->json, NULL, err);
    if (rc == 0)
        rc = vls_fields_decode(row, desc->fields, desc->row_size, value, VLS_FIELD_LOGGED, &arena,
                               err);
    if (rc == 0)
        rc = vls_row_to_cells(cells, row, desc->fields, &arena, err);
    return rc < 0 ? rc : vls_txn_put(txn, given->coll, cells, 1, err);
}

int valise_test_put(valise_test *t, const char *collection, const char *json, valise_error *err)
{
    given_row given = {.t = t};

    VLS_ARG(t && collection && json, err);
    given.coll = vls_store_coll_named(t->store, valise_str_of(collection));
    given.json = valise_str_of(json);
    if (!given.coll || given.coll->own)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no collection %s", collection);
    return vls_with_txn(t->bus, put_row, &given, err);
}

typedef struct given_object {
    valise_id id;
    const char *kind;
    valise_str bytes;
} given_object;

static int put_object(void *arg, vls_txn *txn, valise_error *err)
{
    given_object *given = arg;

    return vls_object_add(&given->id, txn, given->kind, given->bytes, TRIAL_TIME, err);
}

int valise_test_object(valise_id *out, valise_test *t, const char *kind, valise_str bytes,
                       valise_error *err)
{
    given_object given = {.kind = kind, .bytes = bytes};
    int rc;

    VLS_ARG(out && t && kind, err);
    rc = vls_with_txn(t->bus, put_object, &given, err);
    if (rc == 0)
        *out = given.id;
    return rc;
}

/* ---- what would change ---- */

/* A row, or the first fields of one, as JSON. */
static int write_cells(vls_buf *out, const vls_coll *coll, const valise_cell *cells, bool key,
                       vls_arena *arena, valise_error *err)
{
    const valise_field *fields = coll->desc->fields;
    size_t count = key ? coll->key_count : coll->field_count;
    void *row;
    int rc;

    if (!cells) {
        vls_buf_add(out, VLS_STR("null"));
        return vls_buf_check(out, err);
    }
    if (key) {
        valise_field *front = vls_arena_array(arena, count + 1, sizeof(*front));
        if (!front)
            return vls_arena_fail(arena, err);
        memcpy(front, fields, count * sizeof(*front));
        front[count] = (valise_field)VALISE_FIELD_END;
        fields = front;
    }
    row = vls_arena_zalloc(arena, coll->desc->row_size);
    if (!row)
        return vls_arena_fail(arena, err);
    rc = vls_row_from_cells(row, fields, coll->desc->row_size, cells, count, arena, err);
    return rc < 0 ? rc : vls_fields_write(out, row, fields, VLS_FIELD_LOGGED, VLS_FIELD_ALL, err);
}

static int write_change(vls_buf *out, const vls_overlay_row *change, vls_arena *arena,
                        valise_error *err)
{
    const valise_cell *key = change->row ? change->row : change->before;
    int rc;

    vls_buf_add(out, VLS_STR("{\"after\":"));
    rc = write_cells(out, change->coll, change->row, false, arena, err);
    if (rc < 0)
        return rc;
    vls_buf_add(out, VLS_STR(",\"before\":"));
    rc = write_cells(out, change->coll, change->before, false, arena, err);
    if (rc < 0)
        return rc;
    vls_buf_add(out, VLS_STR(",\"collection\":"));
    vls_json_write_string(out, valise_str_of(change->coll->desc->name));
    vls_buf_add(out, VLS_STR(",\"key\":"));
    rc = write_cells(out, change->coll, key, true, arena, err);
    vls_buf_add(out, VLS_STR("}"));
    return rc;
}

static int write_changes(vls_buf *out, vls_command *command, valise_error *err)
{
    const vls_overlay *changes = &command->view.changes;
    const char *between = "";

    vls_buf_add(out, VLS_STR("{\"changes\":["));
    for (size_t i = 0; i < changes->rows.len; i++) {
        if (vls_overlay_row_is_same(changes->rows.ptr[i]))
            continue;
        vls_buf_add_text(out, between);
        int rc = write_change(out, changes->rows.ptr[i], command->arena, err);
        if (rc < 0)
            return rc;
        between = ",";
    }
    vls_buf_add(out, VLS_STR("],\"objects\":["));
    for (size_t i = 0; i < command->view.objects.len; i++) {
        const vls_new_object *o = command->view.objects.ptr[i];
        vls_buf_printf(out, "%s{\"id\":\"%s\",\"kind\":\"%s\",\"size\":%zu}", i ? "," : "",
                       vls_id_hex(&o->id).s, o->kind, o->bytes.len);
    }
    vls_buf_add(out, VLS_STR("],\"result\":"));
    vls_buf_add(out, command->entry.result);
    vls_buf_add(out, VLS_STR("}"));
    return vls_buf_check(out, err);
}

typedef struct trial {
    vls_command *command;
    vls_buf text;
} trial;

static int try_it(void *arg, vls_txn *txn, valise_error *err)
{
    trial *t = arg;
    int rc = vls_pipeline_try(t->command, txn, err);

    return rc < 0 ? rc : write_changes(&t->text, t->command, err);
}

static int run_trial(trial *t, valise_test *test, valise_str payload, valise_error *err)
{
    int rc = vls_command_decode(t->command, payload, VLS_FIELD_INPUT, err);

    return rc < 0 ? rc : vls_with_txn(test->bus, try_it, t, err);
}

int valise_test_run(valise_blob **out, valise_test *t, const char *type, const char *payload,
                    const valise_call *call, valise_error *err)
{
    /* Always the same: version 7, this time, and the number 1. */
    static const valise_uuid first = {
        {0x01, 0x9b, 0x7c, 0xa0, 0x4d, 0x88, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}};
    VLS_AUTO(command) vls_command command = {0};
    trial work = {.command = &command};
    valise_call how;
    const valise_op *op;
    int rc;

    VLS_ARG(out && t && type, err);
    rc = vls_call_read(&how, call, err);
    if (rc < 0)
        return rc;
    op = vls_registry_op(t->registry, valise_str_of(type));
    if (!op || op->kind != VALISE_COMMAND)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no command %s", type);
    if (vls_uuid_is_none(&how.id))
        how.id = first;
    rc = vls_command_init(&command, t->bus, op, &how, false, err);
    if (rc < 0)
        return rc;
    command.time = TRIAL_TIME;
    vls_buf_init(&work.text, t->env, VLS_REPLY_MAX);
    rc = run_trial(&work, t, payload ? valise_str_of(payload) : VLS_STR("{}"), err);
    if (rc == 0)
        rc = vls_blob_new(out, t->env, vls_buf_str(&work.text), err);
    vls_buf_release(&work.text);
    return rc;
}
