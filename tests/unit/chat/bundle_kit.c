/* bundle_kit.c -- see bundle_kit.h. */
#include "bundle_kit.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/str.h"
#include "bus/bus.h"
#include "chat/bundle.h"
#include "chat/graph.h"
#include "chat/move.h"
#include "store/validate.h"

static void close_it(void *arg)
{
    valise_close(arg);
}

const char *place_path(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

valise *place_open(test *t, const char *name)
{
    valise_options o = VALISE_OPTIONS_INIT;
    const char *path = place_path(name);
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    if (t->param && strcmp(t->param, "sqlite") == 0)
        mkdir(path, 0700);
    else
        path = ":memory:";
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    test_defer(close_it, v);
    return v;
}

VALISE_PRINTF(1, 0) static const char *format(const char *text, va_list args)
{
    char room[8192];

    (void)vsnprintf(room, sizeof(room), text, args);
    return test_format("%s", room);
}

static int dispatch(valise_reply *reply, test *t, valise *v, const char *type, const char *payload)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return valise_dispatch(reply, v, type, payload, NULL, &t->err);
}

const char *place_run(test *t, valise *v, const char *type, const char *payload, ...)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *json;
    va_list args;

    va_start(args, payload);
    json = format(payload, args);
    va_end(args);
    CHECK_OK(dispatch(&reply, t, v, type, json));
    json = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return json;
}

int place_try(test *t, valise *v, const char *type, const char *payload, ...)
{
    const char *json;
    va_list args;

    va_start(args, payload);
    json = format(payload, args);
    va_end(args);
    return dispatch(NULL, t, v, type, json);
}

const char *answer_of(const char *json, const char *member)
{
    const char *at = strstr(json, test_format("\"%s\":\"", member));

    CHECK(at);
    at += strlen(member) + 4;
    return test_format("%.*s", (int)strcspn(at, "\""), at);
}

/* ---- sessions ---- */

const char *session_new(test *t, valise *v, int digit)
{
    const char *id = test_format("018f2c4e-7b1a-7c3d-9e4f-00000000000%x", (unsigned)digit);

    place_run(t, v, "session:create", "{\"id\":\"%s\",\"label\":\"s%x\"}", id, (unsigned)digit);
    return id;
}

const char *session_say(test *t, valise *v, const char *session, const char *text)
{
    return answer_of(place_run(t, v, "turn:add",
                               "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":"
                               "[{\"type\":\"text\",\"text\":\"%s\"}]}}",
                               session, text),
                     "ref");
}

typedef struct reading {
    test *t;
    valise_view *view;
    const char *session;
    const char *text, *head;
    int tips;
} reading;

static int read_turn(void *arg, const vls_turn_row *turn, valise_error *err)
{
    reading *r = arg;
    test *t = r->t;
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_blocks blocks;
    const char *said = "-";
    int rc = vls_turn_blocks(&blocks, &blob, r->view, &r->view->arena, turn, err);

    (void)t;
    if (rc > 0) {
        const vls_json *text = vls_json_get(blocks.all.items[0], VLS_STR("text"));
        said = text ? test_format("%.*s", VALISE_STR_ARG(vls_json_str(*text))) : "?";
    }
    r->text = test_format("%s%s%s", r->text, *r->text ? "|" : "", said);
    return VLS_MIN(rc, 0);
}

static int count_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    (void)tip, (void)err;
    ((reading *)arg)->tips++;
    return 0;
}

static int read_session(void *arg, valise_view *view, valise_error *err)
{
    reading *r = arg;
    test *t = r->t;
    vls_session_row session = {.created = 0};
    vls_turn_row head = {.role = 0};
    vls_trail trail = {.count = 0};
    int rc;

    r->view = view;
    CHECK_OK(vls_session_find(&session, view, valise_str_of(r->session), err));
    CHECK_OK(vls_tip_each(view, &session.id, count_tip, r, err));
    if (session.head.version == 0)
        return 0;
    r->head = test_format("%s", vls_turn_ref_write(&session.head).s);
    CHECK_INT(1, vls_turn_get(&head, view, &session.head, err));
    CHECK_OK(vls_trail_make(&trail, view, &head, NULL, false, err));
    rc = vls_trail_each(&trail, view, 0, false, read_turn, r, err);
    vls_trail_release(&trail);
    return rc;
}

static reading look(test *t, valise *v, const char *session)
{
    reading r = {.t = t, .session = session, .text = "", .head = ""};

    CHECK_OK(vls_with_view(v, NULL, read_session, &r, &t->err));
    return r;
}

const char *session_text(test *t, valise *v, const char *session)
{
    return look(t, v, session).text;
}

const char *session_head(test *t, valise *v, const char *session)
{
    return look(t, v, session).head;
}

int session_tips(test *t, valise *v, const char *session)
{
    return look(t, v, session).tips;
}

typedef struct counting {
    const char *name;
    int count;
} counting;

static int count_all(void *arg, valise_view *view, valise_error *err)
{
    counting *c = arg;
    const vls_coll *coll = vls_store_coll_named(view->txn->store, valise_str_of(c->name));
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int rc = vls_txn_scan_open(&scan, view->txn, coll, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0)
        c->count++;
    return rc;
}

int count_rows(test *t, valise *v, const char *collection)
{
    counting c = {.name = collection};

    CHECK_OK(vls_with_view(v, NULL, count_all, &c, &t->err));
    return c.count;
}

/* ---- bundles ---- */

const char *bundle_path(const char *name)
{
    return test_format("%s/%s.bundle", test_tmpdir(), name);
}

void place_export(test *t, valise *v, const char *session, const char *name)
{
    place_run(t, v, "workspace:export",
              "{\"file\":\"%s\",\"force\":true,\"places\":[\"session/%s\"]}", bundle_path(name),
              session);
}

const char *place_import(test *t, valise *v, const char *name)
{
    return place_run(t, v, "workspace:import", "{\"file\":\"%s\"}", bundle_path(name));
}

int place_import_try(test *t, valise *v, const char *name)
{
    return place_try(t, v, "workspace:import", "{\"file\":\"%s\"}", bundle_path(name));
}

void place_check(test *t, valise *v)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int rc = dispatch(&reply, t, v, "workspace:validate", "{}");
    valise_str all;
    bool bad;

    if (rc < 0)
        test_note("%s", t->err.message);
    CHECK_OK(rc);
    all = valise_blob_bytes(reply.json);
    bad = vls_str_find(all, VLS_STR("\"kind\":\"problem\"")) < all.len;
    if (bad)
        test_note("%.*s", VALISE_STR_ARG(all));
    CHECK(!bad);
    valise_reply_release(&reply);
}

static int see_seq(void *arg, valise_view *view, valise_error *err)
{
    (void)err;
    *(int64_t *)arg = view->txn->tip.seq;
    return 0;
}

int64_t place_seq(test *t, valise *v)
{
    int64_t seq = 0;

    CHECK_OK(vls_with_view(v, NULL, see_seq, &seq, &t->err));
    return seq;
}

int files_with(const char *folder, const char *bytes)
{
    DIR *dir = opendir(folder);
    int count = 0;

    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *path = test_format("%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (e->d_type == DT_DIR) {
            count += files_with(path, bytes);
        } else {
            valise_str all = test_read_file(path);
            if (memmem(all.ptr, all.len, bytes, strlen(bytes))) {
                test_note("it is in %s", e->d_name);
                count++;
            }
        }
    }
    CHECK_INT(0, closedir(dir));
    return count;
}
