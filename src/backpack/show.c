/* show.c -- one commit, the version of one item, and the state as one JSON object. */
#include "backpack/look_impl.h"

#include "base/hash.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "json/json.h"

/* ---- the version of an item ---- */

/* With the namespace that a pack gives it, or with its own: who may do neither may not write it. */
static bool may_ask(vls_scope *scope, valise_str key, const valise_commit *item)
{
    return vls_scope_may_read(scope, key, item, item) ||
           vls_scope_may_write(scope, key, item, vls_scope_namespace(scope)) ||
           (item && vls_scope_may_write(scope, key, item, item->namespace_name));
}

int vls_bag_version(int64_t *version, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                    valise_error *err)
{
    valise_commit commit;
    vls_ledger_head head;
    int rc = vls_bag_check_key(key, err);

    if (rc == 0)
        rc = vls_scope_enter(&head, scope, ledger, err);
    if (rc < 0)
        return rc;
    rc = ledger->ops->newest(&commit, ledger->self, key, err);
    if (rc > 0 && !vls_commit_is_live(&commit))
        rc = 0;
    if (rc >= 0 && !may_ask(scope, key, rc > 0 ? &commit : NULL))
        rc = vls_scope_deny(scope, "write", key, err);
    if (rc > 0)
        *version = commit.version;
    vls_scope_leave(ledger);
    return rc;
}

/* ---- one commit ---- */

static int no_commit(int64_t seq, valise_error *err)
{
    return vls_fail(err, VALISE_E_NOT_FOUND, "there is no commit %lld", (long long)seq);
}

/* A commit that the scope may see, copied. */
static int get_commit(valise_commit *out, const vls_ledger *ledger, vls_scope *scope, int64_t seq,
                      vls_arena *arena, valise_error *err)
{
    valise_commit commit;
    vls_ledger_head head;
    int rc = vls_scope_enter(&head, scope, ledger, err);

    if (rc < 0)
        return rc;
    rc = ledger->ops->commit(&commit, ledger->self, &head.id, seq, err);
    if (rc > 0)
        rc = vls_scope_sees(scope, ledger, &commit, err);
    if (rc > 0) {
        rc = vls_commit_copy(out, &commit, arena, err);
        if (rc == 0)
            rc = vls_look_trim(out, ledger, scope, err);
        rc = rc < 0 ? rc : 1;
    }
    vls_scope_leave(ledger);
    return rc;
}

int vls_bag_commit(valise_commit *out, const vls_ledger *ledger, vls_scope *scope, int64_t seq,
                   vls_arena *arena, valise_error *err)
{
    int rc = get_commit(out, ledger, scope, seq, arena, err);

    return rc == 0 ? no_commit(seq, err) : rc < 0 ? rc : 0;
}

static int get_content(valise_content *out, const vls_ledger *ledger, vls_scope *scope,
                       const valise_commit *commit, vls_arena *arena, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    int rc = vls_look_show(&value, NULL, ledger, scope, commit, err);

    if (rc <= 0 || !value)
        return rc < 0 ? rc : 0;
    rc = vls_arena_dup(&out->bytes, arena, vls_blob_bytes(value), err);
    if (rc < 0)
        return rc;
    out->id = commit->value;
    out->size = (int64_t)out->bytes.len;
    return 0;
}

typedef struct before_search {
    const valise_commit *commit;
    vls_arena *arena;
    bool passed, found; /* the commit; the one before it */
    valise_commit before;
} before_search;

static int pass_version(void *arg, const valise_commit *commit, valise_error *err)
{
    before_search *s = arg;
    int rc;

    if (!s->passed) {
        s->passed = commit->seq == s->commit->seq &&
                    vls_uuid_equal(&commit->backpack, &s->commit->backpack);
        return 0;
    }
    rc = vls_commit_copy(&s->before, commit, s->arena, err);
    s->found = rc == 0;
    return rc < 0 ? rc : 1;
}

/* The commit of the key before this one: of a fork's first it is one of the origin. 1, or 0. */
static int get_before(valise_commit *out, const vls_ledger *ledger, vls_scope *scope,
                      const valise_commit *commit, vls_arena *arena, valise_error *err)
{
    before_search s = {.commit = commit, .arena = arena};
    int rc;

    if (commit->previous > 0)
        return get_commit(out, ledger, scope, commit->previous, arena, err);
    if (vls_id_is_none(&commit->previous_value))
        return 0;
    rc = ledger->ops->each_version(ledger->self, commit->key, pass_version, &s, err);
    if (rc >= 0 && s.found)
        *out = s.before;
    return rc < 0 ? rc : s.found;
}

int vls_bag_show(valise_commit *out, valise_content *value, valise_content *before,
                 const vls_ledger *ledger, vls_scope *scope, valise_str text, vls_arena *arena,
                 valise_error *err)
{
    valise_commit previous;
    vls_point point;
    int64_t seq;
    int rc = vls_point_parse(&point, text, err);

    if (rc == 0 && point.kind != VLS_POINT_SEQ && point.kind != VLS_POINT_COMMIT &&
        point.kind != VLS_POINT_ENDING && point.kind != VLS_POINT_NAME)
        rc = vls_fail(err, VALISE_E_INVALID, "'%.*s' is not a commit: give a seq or an id",
                      VALISE_STR_ARG(text));
    if (rc == 0)
        rc = vls_point_resolve(&seq, ledger, scope, &point, err);
    if (rc == 0)
        rc = vls_bag_commit(out, ledger, scope, seq, arena, err);
    if (rc == 0)
        rc = get_content(value, ledger, scope, out, arena, err);
    if (rc < 0)
        return rc;
    rc = get_before(&previous, ledger, scope, out, arena, err);
    return rc <= 0 ? rc : get_content(before, ledger, scope, &previous, arena, err);
}

/* ---- the state as an object ---- */

/* Items come in the order of their bytes; members stand in that of canonical JSON. */
typedef struct member {
    valise_str key;
    valise_blob *value;
} member;

typedef struct members {
    vls_arena arena;
    vls_vec(member) list;
} members;

static int gather(void *arg, const valise_item *item, valise_error *err)
{
    members *m = arg;
    member one;
    int rc;

    if (!item->value) /* erased */
        return 0;
    rc = vls_arena_dup(&one.key, &m->arena, item->commit->key, err);
    if (rc < 0)
        return rc;
    one.value = item->value;
    if (!vls_vec_push(&m->list, m->arena.env, one))
        return vls_fail_memory(err);
    valise_blob_ref(item->value);
    return 0;
}

static int compare(const void *a, const void *b)
{
    return vls_json_key_compare(((const member *)a)->key, ((const member *)b)->key);
}

int vls_bag_object(vls_buf *out, const vls_ledger *ledger, vls_scope *scope, valise_str pattern,
                   valise_error *err)
{
    members m = {.list = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&m.arena, vls_scope_env(scope), (size_t)1 << 30);
    rc = vls_bag_each(ledger, scope, pattern, true, gather, &m, err);
    if (m.list.len > 0)
        qsort(m.list.ptr, m.list.len, sizeof(member), compare);
    vls_buf_add_byte(out, '{');
    for (size_t i = 0; i < m.list.len; i++) {
        if (i > 0)
            vls_buf_add_byte(out, ',');
        vls_json_write_string(out, m.list.ptr[i].key);
        vls_buf_add_byte(out, ':');
        vls_buf_add(out, vls_blob_bytes(m.list.ptr[i].value));
        valise_blob_unref(m.list.ptr[i].value);
    }
    vls_buf_add_byte(out, '}');
    vls_vec_release(&m.list, m.arena.env);
    vls_arena_release(&m.arena);
    return rc < 0 ? rc : vls_buf_check(out, err);
}
