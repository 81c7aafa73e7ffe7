/* ledger.c -- see ledger.h. */
#include "kit/ledger.h"

#include "base/hash.h"
#include "field/field.h"
#include "store/object.h"

#define TEXT_MAX ((size_t)64 << 20)

valise_uuid ledger_uuid(unsigned number)
{
    valise_uuid id = {{7, (uint8_t)(number >> 8), (uint8_t)number, 3, 9, (uint8_t)(number * 37)}};

    return id;
}

/* ---- writing ---- */

static valise_list split(const char *words, valise_str *room, size_t max)
{
    valise_str rest = valise_str_of(words), word;
    size_t count = 0;

    if (!words)
        return (valise_list){NULL, 0};
    while (rest.len > 0 && count < max) {
        (void)vls_str_cut(&word, &rest, rest, ' ');
        room[count++] = word;
    }
    return (valise_list){room, count};
}

static int make_value(valise_blob **out, valise_commit *commit, const valise_env *env,
                      const char *value, valise_error *err)
{
    int rc;

    CHECK_INT(0, vls_object_id(&commit->value, "value", valise_str_of(value), err));
    rc = vls_blob_new(out, env, valise_str_of(value), err);
    if (rc < 0)
        return rc;
    commit->value_size = (int64_t)strlen(value);
    commit->summary = vls_commit_summary(valise_str_of(value), commit->tags);
    return 0;
}

static int append(valise_commit *commit, const vls_ledger *ledger, valise_blob *blob, bool counted,
                  valise_error *err)
{
    vls_ledger_head head;
    valise_commit before;
    int rc = ledger->ops->head(&head, ledger->self, err);

    if (rc == 0)
        rc = ledger->ops->newest(&before, ledger->self, commit->key, err);
    if (rc < 0)
        return rc;
    if (commit->time == 0)
        commit->time = head.last_time + 1;
    if (rc == 1) {
        commit->previous = before.seq;
        commit->previous_value = before.value;
    }
    if (!counted)
        commit->version = rc == 1 ? before.version + 1 : 1;
    return ledger->ops->append(ledger->self, commit, blob, err);
}

int ledger_try(int64_t *seq, const vls_ledger *ledger, const valise_env *env, const ledger_write *w,
               valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_str tags[8], readers[8];
    valise_commit commit = {.key = valise_str_of(w->key),
                            .action = w->action,
                            .seq = w->seq,
                            .time = w->time,
                            .version = w->version,
                            .run = w->run,
                            .entry = w->entry,
                            .node_id = valise_str_of(w->node ? w->node : "n"),
                            .node_name = VLS_STR("Node"),
                            .tags = split(w->tags ? w->tags : "", tags, VLS_COUNT(tags)),
                            .read = split(w->readers, readers, VLS_COUNT(readers))};
    int rc = 0;

    if (w->space)
        commit.namespace_name = valise_str_of(w->space);
    if (w->reason)
        commit.reason = valise_str_of(w->reason);
    if (w->value)
        rc = make_value(&blob, &commit, env, w->value, err);
    if (rc < 0)
        return rc;
    ledger->ops->enter(ledger->self);
    rc = append(&commit, ledger, blob, w->version != 0, err);
    ledger->ops->leave(ledger->self);
    if (rc == 0)
        *seq = commit.seq;
    return rc;
}

int64_t ledger_put(const vls_ledger *ledger, const valise_env *env, const ledger_write *w)
{
    valise_error err = {0};
    int64_t seq = 0;

    CHECK_INT(0, ledger_try(&seq, ledger, env, w, &err));
    CHECK(seq > 0);
    return seq;
}

int64_t ledger_pack(const vls_ledger *ledger, const valise_env *env, const char *key,
                    const char *value)
{
    return ledger_put(ledger, env, &(ledger_write){.key = key, .value = value});
}

int64_t ledger_delete(const vls_ledger *ledger, const valise_env *env, const char *key)
{
    return ledger_put(ledger, env, &(ledger_write){.key = key, .action = VALISE_ACTION_DELETE});
}

int64_t ledger_quarantine(const vls_ledger *ledger, const valise_env *env, const char *key)
{
    vls_ledger_head head = ledger_head(ledger);
    vls_quarantine_row row = {.backpack = head.id, .key = valise_str_of(key)};
    valise_commit item = {0};
    valise_error err = {0};
    int found;

    ledger->ops->enter(ledger->self);
    found = ledger->ops->newest(&item, ledger->self, row.key, &err);
    ledger->ops->leave(ledger->self);
    if (found == 1 && vls_commit_is_live(&item)) {
        row.item = item.seq;
        row.item_backpack = item.backpack;
    }
    row.seq = ledger_put(
        ledger, env,
        &(ledger_write){.key = key, .action = VALISE_ACTION_QUARANTINE, .reason = "because"});
    ledger->ops->enter(ledger->self);
    CHECK_INT(0, ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &row, &err));
    ledger->ops->leave(ledger->self);
    return row.seq;
}

int64_t ledger_release(const vls_ledger *ledger, const valise_env *env, int64_t entry)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_quarantine_row row = {.backpack = ledger_head(ledger).id, .seq = entry};
    valise_commit item = {0}, now = {0};
    valise_error err = {0};
    const char *value = NULL, *key = NULL;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->row_get(&row, ledger->self, &vls_bag_quarantines, &err);
    CHECK(rc >= 0);
    if (rc == 1 && row.released == 0 && row.item > 0) {
        rc = ledger->ops->newest(&now, ledger->self, row.key, &err);
        if (rc == 0 || !vls_commit_is_live(&now)) {
            CHECK_INT(1,
                      ledger->ops->commit(&item, ledger->self, &row.item_backpack, row.item, &err));
            CHECK_INT(0, ledger->ops->value(&blob, ledger->self, &item, &err));
            value = test_format("%.*s", VALISE_STR_ARG(vls_blob_bytes(blob)));
            key = test_format("%.*s", VALISE_STR_ARG(row.key));
        }
    }
    ledger->ops->leave(ledger->self);
    if (!value)
        return 0;
    row.key = valise_str_of(key);
    row.released = ledger_put(
        ledger, env,
        &(ledger_write){
            .key = key, .value = value, .action = VALISE_ACTION_RELEASE, .entry = entry});
    ledger->ops->enter(ledger->self);
    CHECK_INT(0, ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &row, &err));
    ledger->ops->leave(ledger->self);
    return row.released;
}

void ledger_checkpoint(const vls_ledger *ledger, const char *name, int64_t seq)
{
    vls_bag_checkpoint_row row = {.backpack = ledger_head(ledger).id,
                                  .name = valise_str_of(name),
                                  .seq = seq,
                                  .time = 5,
                                  .actor = VLS_STR("me")};
    valise_error err = {0};

    ledger->ops->enter(ledger->self);
    CHECK_INT(0, ledger->ops->row_put(ledger->self, &vls_bag_checkpoints, &row, &err));
    ledger->ops->leave(ledger->self);
}

vls_ledger ledger_freeze(const vls_ledger *ledger, int64_t upto)
{
    vls_ledger frozen = {0};
    valise_error err = {0};

    CHECK_INT(0, ledger->ops->freeze(&frozen, ledger->self, upto, &err));
    CHECK(frozen.frozen);
    return frozen;
}

void ledger_release_frozen(vls_ledger *ledger)
{
    if (ledger->ops)
        ledger->ops->release(ledger->self);
    *ledger = (vls_ledger){0};
}

vls_ledger_head ledger_head(const vls_ledger *ledger)
{
    vls_ledger_head head = {0};
    valise_error err = {0};

    ledger->ops->enter(ledger->self);
    CHECK_INT(0, ledger->ops->head(&head, ledger->self, &err));
    ledger->ops->leave(ledger->self);
    head.name = head.last_node = (valise_str){NULL, 0};
    return head;
}

/* ---- as text ---- */

void ledger_text_init(ledger_text *text, const valise_env *env, bool whole)
{
    *text = (ledger_text){.whole = whole};
    vls_buf_init(&text->buf, env, TEXT_MAX);
}

void ledger_text_clear(ledger_text *text)
{
    vls_buf_clear(&text->buf);
}

/* The bytes, which belong to what the commit says they are. */
static void show_value(ledger_text *out, const valise_commit *commit, bool inside)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    static const valise_id none;
    const vls_ledger *ledger = out->ledger;
    valise_error err = {0};

    if (!ledger || vls_id_equal(&commit->value, &none))
        return;
    if (!inside)
        ledger->ops->enter(ledger->self);
    CHECK_INT(0, ledger->ops->value(&blob, ledger->self, commit, &err));
    if (!inside)
        ledger->ops->leave(ledger->self);
    CHECK_INT(commit->value_size, vls_blob_bytes(blob).len);
    vls_buf_add_byte(&out->buf, '=');
    vls_buf_add(&out->buf, vls_blob_bytes(blob));
}

static void show(ledger_text *out, const valise_commit *commit, bool inside)
{
    valise_error err = {0};

    if (out->whole)
        CHECK_INT(0,
                  vls_fields_write(&out->buf, commit, vls_commit_fields, VLS_FIELD_INPUT, 0, &err));
    else
        vls_buf_printf(&out->buf, "%.*s@%lld", VALISE_STR_ARG(commit->key), (long long)commit->seq);
    show_value(out, commit, inside);
    if (!vls_commit_is_live(commit) && !out->whole)
        vls_buf_add_byte(&out->buf, commit->action == VALISE_ACTION_DELETE ? '-' : '!');
    vls_buf_add_byte(&out->buf, out->whole ? '\n' : ' ');
}

void ledger_show_commit(ledger_text *out, const valise_commit *commit)
{
    show(out, commit, false);
}

static int on_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    show(arg, commit, false);
    return 0;
}

void ledger_show_items(ledger_text *out, const vls_ledger *ledger)
{
    valise_error err = {0};

    out->ledger = ledger;
    CHECK_INT(0, ledger->ops->each_item(ledger->self, on_commit, out, &err));
}

void ledger_show_named(ledger_text *out, const vls_ledger *ledger, const char *pattern)
{
    valise_error err = {0};

    out->ledger = ledger;
    CHECK_INT(0,
              ledger->ops->each_named(ledger->self, valise_str_of(pattern), on_commit, out, &err));
}

void ledger_show_versions(ledger_text *out, const vls_ledger *ledger, const char *key)
{
    valise_error err = {0};

    out->ledger = ledger;
    CHECK_INT(0, ledger->ops->each_version(ledger->self, valise_str_of(key), on_commit, out, &err));
}

void ledger_show_commits(ledger_text *out, const vls_ledger *ledger, int64_t first, int64_t last,
                         bool reverse)
{
    valise_error err = {0};

    out->ledger = ledger;
    CHECK_INT(0,
              ledger->ops->each_commit(ledger->self, first, last, reverse, on_commit, out, &err));
}

static void show_one(ledger_text *out, const vls_ledger *ledger, const char *key,
                     int (*get)(valise_commit *, void *, valise_str, valise_error *))
{
    valise_commit commit;
    valise_error err = {0};
    int rc;

    out->ledger = ledger;
    ledger->ops->enter(ledger->self);
    rc = get(&commit, ledger->self, valise_str_of(key), &err);
    CHECK(rc == 0 || rc == 1);
    if (rc == 1)
        show(out, &commit, true);
    ledger->ops->leave(ledger->self);
}

void ledger_show_newest(ledger_text *out, const vls_ledger *ledger, const char *key)
{
    show_one(out, ledger, key, ledger->ops->newest);
}

void ledger_show_present(ledger_text *out, const vls_ledger *ledger, const char *key)
{
    show_one(out, ledger, key, ledger->ops->present);
}

int ledger_show_at(ledger_text *out, const vls_ledger *ledger, const valise_uuid *backpack,
                   int64_t seq)
{
    valise_commit commit;
    valise_error err = {0};
    int rc;

    out->ledger = ledger;
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->commit(&commit, ledger->self, backpack, seq, &err);
    CHECK(rc == 0 || rc == 1);
    if (rc == 1)
        show(out, &commit, true);
    ledger->ops->leave(ledger->self);
    return rc;
}

static int on_difference(void *arg, const valise_commit *a, const valise_commit *b,
                         valise_error *err)
{
    ledger_text *out = arg;

    (void)err;
    CHECK(a || b);
    if (!(a && vls_commit_is_live(a)) && !(b && vls_commit_is_live(b)))
        return 0; /* may be left out */
    if (a)
        show(out, a, false);
    vls_buf_add_text(&out->buf, "-> ");
    if (b)
        show(out, b, false);
    vls_buf_add_text(&out->buf, "; ");
    return 0;
}

void ledger_show_difference(ledger_text *out, const vls_ledger *a, const vls_ledger *b)
{
    valise_error err = {0};

    out->ledger = NULL;
    CHECK_INT(0, a->ops->each_difference(a->self, b->self, on_difference, out, &err));
}

typedef struct row_text {
    ledger_text *out;
    const valise_coll *coll;
} row_text;

static int on_row(void *arg, const void *row, valise_error *err)
{
    row_text *text = arg;

    CHECK_INT(0,
              vls_fields_write(&text->out->buf, row, text->coll->fields, VLS_FIELD_INPUT, 0, err));
    vls_buf_add_byte(&text->out->buf, '\n');
    return 0;
}

void ledger_show_rows(ledger_text *out, const vls_ledger *ledger, const valise_coll *coll)
{
    row_text text = {out, coll};
    valise_error err = {0};

    CHECK_INT(0, ledger->ops->each_row(ledger->self, coll, on_row, &text, &err));
}

static int on_read(void *arg, const vls_ledger_read *read, valise_error *err)
{
    ledger_text *out = arg;

    (void)err;
    vls_buf_printf(&out->buf, "%.*s/%.*s %.*s %.*s %lld %lld v%lld %lld t%lld",
                   VALISE_STR_ARG(read->node_id), VALISE_STR_ARG(read->node_name),
                   VALISE_STR_ARG(read->namespace_name), VALISE_STR_ARG(read->key),
                   (long long)read->action, (long long)read->seq, (long long)read->version,
                   (long long)read->outcome, (long long)read->time);
    for (size_t i = 0; i < read->tags.count; i++)
        vls_buf_printf(&out->buf, " #%.*s",
                       VALISE_STR_ARG(((const valise_str *)read->tags.items)[i]));
    vls_buf_add_byte(&out->buf, '\n');
    return 0;
}

void ledger_show_reads(ledger_text *out, const vls_ledger *ledger)
{
    valise_error err = {0};

    CHECK_INT(0, ledger->ops->each_read(ledger->self, on_read, out, &err));
}

/* ---- short ---- */

static const char *finish(ledger_text *text)
{
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text->buf)));
}

#define SHORT(call)                                                                                \
    VLS_AUTO(ledger_text) ledger_text out = {0};                                                   \
    ledger_text_init(&out, valise_env_default(), false);                                           \
    call;                                                                                          \
    return finish(&out)

const char *ledger_items(const vls_ledger *ledger)
{
    SHORT(ledger_show_items(&out, ledger));
}

const char *ledger_named(const vls_ledger *ledger, const char *pattern)
{
    SHORT(ledger_show_named(&out, ledger, pattern));
}

const char *ledger_versions(const vls_ledger *ledger, const char *key)
{
    SHORT(ledger_show_versions(&out, ledger, key));
}

const char *ledger_commits(const vls_ledger *ledger)
{
    SHORT(ledger_show_commits(&out, ledger, 0, INT64_MAX, false));
}

const char *ledger_newest(const vls_ledger *ledger, const char *key)
{
    SHORT(ledger_show_newest(&out, ledger, key));
}

const char *ledger_difference(const vls_ledger *a, const vls_ledger *b)
{
    SHORT(ledger_show_difference(&out, a, b));
}
