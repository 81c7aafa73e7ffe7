/* item.c -- items: one by its key, or all in order. */
#include "backpack/look_impl.h"

#include "base/glob.h"

static const valise_id no_value;

/* ---- what is shared ---- */

int vls_look_head(vls_ledger_head *out, const vls_ledger *ledger, valise_error *err)
{
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(out, ledger->self, err);
    ledger->ops->leave(ledger->self);
    return rc;
}

int vls_look_value(valise_blob **out, const vls_ledger *ledger, const valise_commit *commit,
                   valise_error *err)
{
    valise_error erased;
    int rc;

    if (vls_id_equal(&commit->value, &no_value))
        return 0;
    vls_error_clear(&erased);
    rc = ledger->ops->value(out, ledger->self, commit, &erased);
    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (rc < 0 && err)
        *err = erased;
    return rc;
}

int vls_look_fail_erased(valise_str key, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the value of '%.*s' was erased", VALISE_STR_ARG(key));
    vls_hint(err, "'valise erasure list' shows by whom, and why");
    return VALISE_E_NOT_FOUND;
}

/* Is something of the value to be seen in the summary? */
static bool tells(const valise_commit *commit)
{
    return commit->summary.len > 0 && !vls_str_equal(commit->summary, VLS_STR("[redacted]"));
}

int vls_look_trim(valise_commit *commit, const vls_ledger *ledger, vls_scope *scope,
                  valise_error *err)
{
    valise_commit before;
    int rc = 0;

    if (vls_scope_is_owner(scope) || vls_id_equal(&commit->previous_value, &no_value))
        return 0;
    if (commit->previous > 0)
        rc = ledger->ops->commit(&before, ledger->self, &commit->backpack, commit->previous, err);
    if (rc == 1)
        rc = vls_scope_sees(scope, ledger, &before, err);
    if (rc == 0)
        commit->previous_value = no_value;
    return rc < 0 ? rc : 0;
}

static int show(valise_blob **value, const vls_ledger *ledger, vls_scope *scope,
                const vls_ledger_head *head, const valise_commit *commit, valise_error *err)
{
    int rc = vls_scope_sees(scope, ledger, commit, err);

    if (rc <= 0)
        return rc;
    if ((!vls_id_equal(&commit->value, &no_value) && (value || tells(commit))) ||
        commit->reason.len > 0 || commit->error.len > 0)
        rc = vls_scope_taint(scope, ledger, head, commit, err);
    if (rc >= 0 && value)
        rc = vls_look_value(value, ledger, commit, err);
    return rc < 0 ? rc : 1;
}

/* Who owns the backpack sees all of it, and is not marked by it. */
static int show_owner(valise_blob **value, const vls_ledger *ledger, const valise_commit *commit,
                      valise_error *err)
{
    int rc = 0;

    if (!value)
        return 1;
    ledger->ops->enter(ledger->self);
    rc = vls_look_value(value, ledger, commit, err);
    ledger->ops->leave(ledger->self);
    return rc < 0 ? rc : 1;
}

int vls_look_show(valise_blob **value, valise_commit *shown, const vls_ledger *ledger,
                  vls_scope *scope, const valise_commit *commit, valise_error *err)
{
    vls_ledger_head head;
    int rc;

    if (shown)
        *shown = *commit;
    if (vls_scope_is_owner(scope))
        return show_owner(value, ledger, commit, err);
    rc = vls_scope_enter(&head, scope, ledger, err);
    if (rc < 0)
        return rc;
    rc = show(value, ledger, scope, &head, commit, err);
    if (rc == 1 && shown) {
        int trimmed = vls_look_trim(shown, ledger, scope, err);
        rc = trimmed < 0 ? trimmed : 1;
    }
    vls_scope_leave(ledger);
    return rc;
}

/* ---- one ---- */

typedef struct found {
    bool live;
    valise_commit commit;
    valise_blob *value;
} found;

/* VALISE_READ_..., or a failure. */
static int look_up(found *f, const vls_ledger *ledger, vls_scope *scope,
                   const vls_ledger_head *head, valise_str key, const vls_look *look,
                   valise_error *err)
{
    int rc = ledger->ops->newest(&f->commit, ledger->self, key, err);

    f->live = rc == 1 && vls_commit_is_live(&f->commit);
    if (rc < 0)
        return rc;
    if (!f->live)
        return vls_scope_may_read(scope, key, NULL, NULL) ? VALISE_READ_ABSENT : VALISE_READ_DENIED;
    /* Of a ring that is not frozen it is the item of today. */
    rc = ledger->frozen || ledger->ops->today
             ? vls_scope_sees(scope, ledger, &f->commit, err)
             : vls_scope_may_read(scope, key, &f->commit, &f->commit);
    if (rc <= 0)
        return rc < 0 ? rc : VALISE_READ_DENIED;
    rc = vls_scope_taint(scope, ledger, head, &f->commit, err);
    if (rc == 0)
        rc = vls_look_value(&f->value, ledger, &f->commit, err);
    if (rc == 0 && !f->value && !look->erased_too)
        rc = vls_look_fail_erased(key, err);
    if (rc == 0 && look->arena)
        rc = vls_commit_copy(look->commit, &f->commit, look->arena, err);
    if (rc == 0 && look->arena)
        rc = vls_look_trim(look->commit, ledger, scope, err);
    return rc < 0 ? rc : VALISE_READ_FOUND;
}

static vls_ledger_read read_of(const vls_scope *scope, valise_str key, int outcome, int64_t now)
{
    return (vls_ledger_read){.node_id = vls_scope_node_id(scope),
                             .node_name = vls_scope_node_name(scope),
                             .namespace_name = vls_scope_namespace(scope),
                             .key = key,
                             .action = VALISE_ACTION_UNPACK,
                             .outcome = outcome,
                             .time = now};
}

void vls_look_denied(const vls_ledger *ledger, const vls_scope *scope, valise_str key, int64_t now)
{
    vls_ledger_read read = read_of(scope, key, VALISE_READ_DENIED, now);

    ledger->ops->read_add(ledger->self, &read);
}

static void record(const found *f, const vls_ledger *ledger, const vls_scope *scope, valise_str key,
                   int outcome, const vls_look *look)
{
    vls_ledger_read read = read_of(scope, key, outcome, look->now);

    if (outcome == VALISE_READ_FOUND) {
        read.seq = f->commit.seq;
        read.version = f->commit.version;
        read.tags = f->commit.tags;
        read.namespace_name = f->commit.namespace_name;
    }
    ledger->ops->read_add(ledger->self, &read);
}

int vls_bag_get(valise_blob **out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                vls_look *look, valise_error *err)
{
    found f; /* large: what is needed of it is set */
    vls_ledger_head head;
    bool lenient;
    int rc = vls_bag_check_key(key, err), outcome;

    if (rc == 0)
        rc = vls_scope_enter(&head, scope, ledger, err);
    if (rc != 0)
        return rc;
    lenient = head.lenient;
    f.value = NULL;
    outcome = look_up(&f, ledger, scope, &head, key, look, err);
    /* What was denied is on record even where a read is not: somebody tried. */
    if (outcome >= 0 && (look->record || outcome == VALISE_READ_DENIED))
        record(&f, ledger, scope, key, outcome, look);
    vls_scope_leave(ledger);
    if (outcome < 0) {
        valise_blob_unref(f.value);
        return outcome;
    }
    look->outcome = outcome;
    if (outcome == VALISE_READ_DENIED && (look->required || !lenient))
        return vls_scope_deny(scope, "read", key, err);
    if (outcome != VALISE_READ_FOUND && look->required)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no '%.*s' in the backpack",
                        VALISE_STR_ARG(key));
    if (outcome != VALISE_READ_FOUND)
        return 0;
    *out = f.value;
    return 1;
}

/* ---- many ---- */

typedef struct walk {
    const vls_ledger *ledger;
    vls_scope *scope;
    bool values;
    valise_item_fn *fn;
    void *arg;
} walk;

static int pass_on(void *arg, const valise_commit *commit, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    const walk *w = arg;
    valise_commit shown;
    int rc = vls_look_show(w->values ? &value : NULL, &shown, w->ledger, w->scope, commit, err);

    return rc == 1 ? w->fn(w->arg, &(valise_item){&shown, value}, err) : rc;
}

int vls_bag_each(const vls_ledger *ledger, vls_scope *scope, valise_str pattern, bool values,
                 valise_item_fn *fn, void *arg, valise_error *err)
{
    walk w = {ledger, scope, values, fn, arg};
    int rc;

    if (!pattern.ptr)
        return ledger->ops->each_item(ledger->self, pass_on, &w, err);
    rc = vls_glob_check(&vls_glob_dotted, pattern, err);
    return rc < 0 ? rc : ledger->ops->each_named(ledger->self, pattern, pass_on, &w, err);
}
