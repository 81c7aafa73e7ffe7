/* kit.c -- see kit.h. */
#include "memory/kit.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/uuid.h"
#include "chat/rows.h"
#include "kit/replayed.h"

/* ---- many sessions in one command ---- */

typedef struct crowd_args {
    int64_t from, count;
} crowd_args;

static const valise_field crowd_in[] = {
    VALISE_FIELD(crowd_args, from, INT, VALISE_REQUIRED, "The first."),
    VALISE_FIELD(crowd_args, count, INT, VALISE_REQUIRED, "How many."),
    VALISE_FIELD_END,
};

static int crowd_decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const crowd_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    static const valise_str all = {"all", 3}, tenth = {"tenth", 5};
    const valise_str topics[] = {all, tenth};
    int rc = 0;

    (void)result;
    for (int64_t i = args->from; rc == 0 && i < args->from + args->count; i++) {
        vls_session_row row = {.topics = {topics, i % 10 == 0 ? 2 : 1},
                               .created = stamp->time,
                               .updated = stamp->time,
                               .actor = stamp->actor};
        row.id.bytes[6] = 0x70;
        row.id.bytes[8] = 0x80;
        for (int b = 0; b < 4; b++)
            row.id.bytes[15 - b] = (uint8_t)(i >> (8 * b));
        rc = valise_view_put(view, &vls_sessions, &row, err);
    }
    return rc;
}

static const valise_op crowd_op = {
    .size = sizeof(valise_op),
    .name = "crowd:sessions",
    .brief = "Put many sessions.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = crowd_in,
    .in_size = sizeof(crowd_args),
    .decide = crowd_decide,
    .example = "{\"from\":1,\"count\":2}",
};
static const valise_op *const crowd_ops[] = {&crowd_op, NULL};
static const valise_extension crowd = {.size = sizeof(valise_extension),
                                       .abi = VALISE_EXTENSION_ABI,
                                       .name = "crowd",
                                       .version = "1",
                                       .operations = crowd_ops};
static const valise_extension *const extensions[] = {&crowd, NULL};

/* ---- opening ---- */

static const valise_env *real;
static int64_t later;

static int64_t now(void *self)
{
    return real->now_ns(self) + later;
}

static void close_it(void *arg)
{
    valise_close(((den *)arg)->v);
}

static void open_it(den *d)
{
    test *t = d->t;
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = &d->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&d->v, d->dir ? d->dir : ":memory:", &o, &t->err));
}

den *den_open(test *t)
{
    den *d = test_alloc(sizeof(*d));

    real = t->env;
    later = 0;
    *d = (den){.t = t, .env = *t->env};
    d->env.now_ns = now;
    if (t->param && strcmp(t->param, "sqlite") == 0) {
        d->dir = test_format("%s/den", test_tmpdir());
        (void)mkdir(d->dir, 0700);
    }
    open_it(d);
    test_defer(close_it, d);
    return d;
}

void den_reopen(den *d)
{
    valise_close(d->v);
    open_it(d);
}

void den_wait(den *d, int64_t ns)
{
    (void)d;
    later += ns;
}

/* ---- running ---- */

const char *den_at(den *d, const char *op, const char *json, const char *at)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    call.at = valise_str_of(at);
    CHECK_OK(valise_dispatch(&reply, d->v, op, json, &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

const char *den_run(den *d, const char *op, const char *json)
{
    return den_at(d, op, json, "");
}

int den_try_as(den *d, const char *actor, const char *op, const char *json)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = valise_str_of(actor);
    return valise_dispatch(NULL, d->v, op, json, &call, &d->t->err);
}

int den_try(den *d, const char *op, const char *json)
{
    return den_try_as(d, "local", op, json);
}

void den_refused(den *d, int code, const char *says, const char *op, const char *json)
{
    test *t = d->t;

    CHECK_RC(code, den_try(d, op, json));
    CHECK_MSG(strstr(t->err.message, says), "%s", t->err.message);
}

/* ---- looking ---- */

const char *den_member(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":", name));

    if (!at)
        return "";
    at += strlen(name) + 3;
    if (*at == '"')
        return test_format("%.*s", (int)strcspn(at + 1, "\""), at + 1);
    return test_format("%.*s", (int)strcspn(at, ",}]"), at);
}

int den_times(const char *text, const char *part)
{
    int count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

int64_t den_seq(den *d)
{
    return strtoll(den_member(den_run(d, "workspace:status", "{}"), "seq"), NULL, 10);
}

void den_check(den *d)
{
    const char *found = den_run(d, "workspace:validate", "{}");
    const char *synced = den_run(d, "workspace:sync", "{}");

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    CHECK_INT(den_times(synced, "\"differences\":"), den_times(synced, "\"differences\":0,"));
    CHECK(den_times(synced, "\"differences\":") >= 6);
    if (!strstr(found, "cannot be replayed"))
        CHECK_TEXT(state_of(d->t, d->v), replayed(d->t, d->v));
}

static bool folder_has(const char *dir, valise_str bytes)
{
    DIR *folder = opendir(dir);
    bool found = false;

    CHECK(folder);
    for (struct dirent *e; folder && (e = readdir(folder)) && !found;) {
        const char *path = test_format("%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
            continue;
        if (e->d_type == DT_DIR)
            found = folder_has(path, bytes);
        else if (e->d_type == DT_REG)
            found = vls_str_find(test_read_file(path), bytes) < test_read_file(path).len;
    }
    if (folder)
        closedir(folder);
    return found;
}

bool den_has_bytes(den *d, const char *bytes)
{
    return d->dir && folder_has(test_format("%s/.valise", d->dir), valise_str_of(bytes));
}
