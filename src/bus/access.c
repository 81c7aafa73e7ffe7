/* access.c -- from the row of an actor to yes or no. Start reading at ask(). */
#include "bus/access.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/ref.h"
#include "base/str.h"
#include "base/text.h"

#define ROW_MAX_BYTES ((size_t)1 << 20) /* memory for decoding one */

/* What one version of an actor's row grants; immutable. The texts stand behind the grants, in the
 * same block. */
typedef struct grant_set {
    vls_ref refs;
    size_t size; /* of the block */
    valise_str id;
    int64_t from_seq;
    int64_t role;
    valise_str capabilities; /* the cell */
    size_t own;              /* how many capabilities it has beside the role */
    size_t count;
    vls_grant grants[];
} grant_set;

struct vls_access {
    const valise_env *env;
    pthread_mutex_t lock;                 /* of the slots */
    grant_set *cached[VLS_ACCESS_CACHED]; /* by hash of the id */
};

int vls_access_new(vls_access **out, const valise_env *env, valise_error *err)
{
    vls_access *access = vls_mem_zalloc(env, sizeof(*access));

    if (!access)
        return vls_fail_memory(err);
    access->env = env;
    if (pthread_mutex_init(&access->lock, NULL) != 0) {
        vls_mem_free(env, access, sizeof(*access));
        return vls_fail_memory(err);
    }
    *out = access;
    return 0;
}

static void drop_set(const vls_access *access, grant_set *set)
{
    if (set && vls_ref_put(&set->refs))
        vls_mem_free(access->env, set, set->size);
}

void vls_access_free(vls_access *access)
{
    if (!access)
        return;
    for (size_t i = 0; i < VLS_COUNT(access->cached); i++)
        drop_set(access, access->cached[i]);
    (void)pthread_mutex_destroy(&access->lock);
    vls_mem_free(access->env, access, sizeof(*access));
}

/* ---- rows ---- */

/* The cells of an actor's row that matter; valid until the next call with the transaction. */
typedef struct actor_cells {
    const valise_cell *all;
    size_t count;
    int64_t from_seq;
    valise_str capabilities;
} actor_cells;

enum { CELL_CAPABILITIES = 2 };

static int read_cells(valise_cell *row, vls_txn *txn, const valise_coll *desc, valise_str key,
                      const vls_coll **coll, valise_error *err)
{
    valise_cell cell = {.type = VALISE_CELL_TEXT, .as.bytes = key};

    *coll = vls_store_coll(txn->store, desc);
    return vls_txn_get(row, txn, *coll, &cell, err);
}

/* 1 and the row, or 0. */
static int read_actor(actor_cells *out, valise_cell *row, vls_txn *txn, valise_str id,
                      valise_error *err)
{
    const vls_coll *coll;
    int rc = read_cells(row, txn, &vls_actor_coll, id, &coll, err);

    if (rc <= 0)
        return rc;
    *out = (actor_cells){
        .all = row,
        .count = coll->field_count,
        .from_seq = row[vls_coll_seq_column(coll)].as.integer,
    };
    if (row[CELL_CAPABILITIES].type == VALISE_CELL_TEXT)
        out->capabilities = row[CELL_CAPABILITIES].as.bytes;
    return 1;
}

/* 1: whoever comes is a writer. */
static int is_open(vls_txn *txn, valise_error *err)
{
    valise_cell row[VALISE_MAX_COLUMNS];
    const vls_coll *coll;
    int rc = read_cells(row, txn, &vls_setting_coll, VLS_STR(VLS_SETTING_OPEN), &coll, err);

    if (rc <= 0)
        return rc;
    return row[1].type == VALISE_CELL_TEXT && vls_str_equal(row[1].as.bytes, VLS_STR("true"));
}

/* ---- sets ---- */

static valise_str put_text(char **at, valise_str text)
{
    valise_str copy = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* A grant this version of the library cannot read grants nothing. */
static void put_grant(grant_set *set, valise_str text)
{
    if (vls_grant_parse(&set->grants[set->count], text, NULL) == 0)
        set->count++;
}

static int make_set(grant_set **out, const vls_access *access, const actor_cells *cells,
                    const vls_actor_row *row, valise_error *err)
{
    const char *const *role = vls_role_grants(row->role);
    const valise_str *own = row->capabilities.items;
    size_t count = row->capabilities.count;
    size_t bytes = row->id.len + cells->capabilities.len;
    grant_set *set;
    char *texts;

    for (size_t i = 0; i < row->capabilities.count; i++)
        bytes += own[i].len;
    for (size_t i = 0; role[i]; i++)
        count++;
    /* Cells are at most some megabytes and grants as many as the table allows: no overflow. */
    bytes += sizeof(*set) + count * sizeof(vls_grant);
    set = vls_mem_zalloc(access->env, bytes);
    if (!set)
        return vls_fail_memory(err);
    vls_ref_init(&set->refs);
    texts = (char *)&set->grants[count];
    set->size = bytes;
    set->id = put_text(&texts, row->id);
    set->capabilities = put_text(&texts, cells->capabilities);
    set->from_seq = cells->from_seq;
    set->role = row->role;
    set->own = row->capabilities.count;
    for (size_t i = 0; role[i]; i++)
        put_grant(set, valise_str_of(role[i]));
    for (size_t i = 0; i < row->capabilities.count; i++)
        put_grant(set, put_text(&texts, own[i]));
    *out = set;
    return 0;
}

static int build_set(grant_set **out, const vls_access *access, const actor_cells *cells,
                     valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_actor_row row;
    int rc;

    vls_arena_init(&arena, access->env, ROW_MAX_BYTES);
    rc = vls_row_from_cells(&row, vls_actor_fields, sizeof(row), cells->all, cells->count, &arena,
                            err);
    return rc < 0 ? rc : make_set(out, access, cells, &row, err);
}

static bool is_of(const grant_set *set, const actor_cells *cells, valise_str id, int64_t role)
{
    return set && set->from_seq == cells->from_seq && set->role == role &&
           vls_str_equal(set->id, id) && vls_str_equal(set->capabilities, cells->capabilities);
}

/* The number of the role; its cell is the name. */
static int64_t role_of(const actor_cells *cells)
{
    for (int64_t i = 0; cells->all[1].type == VALISE_CELL_TEXT && vls_role_names[i]; i++) {
        if (vls_str_equal(cells->all[1].as.bytes, valise_str_of(vls_role_names[i])))
            return i;
    }
    return VLS_ROLE_NONE;
}

/* A reference to the set of this row, remembered or made. */
static int get_set(grant_set **out, vls_access *access, const actor_cells *cells, valise_str id,
                   valise_error *err)
{
    grant_set **slot = &access->cached[vls_str_hash(id, 0) % VLS_COUNT(access->cached)];
    int64_t role = role_of(cells);
    grant_set *set = NULL, *old = NULL;
    int rc;

    (void)pthread_mutex_lock(&access->lock);
    if (is_of(*slot, cells, id, role)) {
        set = *slot;
        vls_ref_get(&set->refs);
    }
    (void)pthread_mutex_unlock(&access->lock);
    if (set) {
        *out = set;
        return 0;
    }
    rc = build_set(&set, access, cells, err);
    if (rc < 0)
        return rc;
    vls_ref_get(&set->refs); /* one for the slot */
    (void)pthread_mutex_lock(&access->lock);
    old = *slot;
    *slot = set;
    (void)pthread_mutex_unlock(&access->lock);
    drop_set(access, old);
    *out = set;
    return 0;
}

/* ---- no ---- */

static bool role_allows(int64_t role, const vls_deed *deed)
{
    for (const char *const *text = vls_role_grants(role); *text; text++) {
        vls_grant grant;
        if (vls_grant_parse(&grant, valise_str_of(*text), NULL) == 0 &&
            vls_grant_allows(&grant, deed))
            return true;
    }
    return false;
}

/* The grant that would allow it but for its conditions. */
static const vls_grant *nearly_allows(const grant_set *set, const vls_deed *deed)
{
    for (size_t i = 0; i < set->count; i++) {
        vls_grant bare = {.capability = set->grants[i].capability};
        if (set->grants[i].count > 0 && vls_grant_allows(&bare, deed))
            return &set->grants[i];
    }
    return NULL;
}

/* A command that gives what is missing and takes nothing away: a role takes the place of the old
 * one, so that only a wider one will do. */
static void hint_known(const grant_set *set, const vls_deed *deed, valise_error *err)
{
    const char *role = "";

    if (set->role == VLS_ROLE_READER && role_allows(VLS_ROLE_WRITER, deed))
        role = "writer";
    else if (set->role == VLS_ROLE_READER && role_allows(VLS_ROLE_SYNTHESIS, deed))
        role = "synthesis";
    else if (set->role != VLS_ROLE_NONE && vls_str_equal(deed->capability, VLS_STR("admin")))
        role = "owner";
    if (role[0]) /* an owner has all of them */
        vls_hint(err, "valise agent update %.*s --role %s%s", VALISE_STR_ARG(set->id), role,
                 set->own > 0 ? " --no-capabilities" : "");
    else if (set->role == VLS_ROLE_READER) /* which has nothing beside it */
        vls_hint(err, "valise agent update %.*s --role none --grant '*:read' --grant %.*s",
                 VALISE_STR_ARG(set->id), VALISE_STR_ARG(deed->capability));
    else
        vls_hint(err, "valise agent update %.*s --grant %.*s", VALISE_STR_ARG(set->id),
                 VALISE_STR_ARG(deed->capability));
}

/* "type=review and path=app" */
static void write_conditions(char *out, size_t size, const vls_grant *grant)
{
    size_t len = 0;

    for (unsigned i = 0; i < grant->count && len < size; i++) {
        const vls_condition *c = &grant->conditions[i];
        int more = snprintf(out + len, size - len, "%s%.*s=%.*s", i > 0 ? " and " : "",
                            VALISE_STR_ARG(c->name), VALISE_STR_ARG(c->pattern));
        len += more > 0 ? (size_t)more : 0;
    }
}

static int deny_known(const grant_set *set, const vls_deed *deed, const char *what,
                      valise_error *err)
{
    const vls_grant *near = nearly_allows(set, deed);

    if (near) {
        char only[256] = "";
        write_conditions(only, sizeof(only), near);
        (void)vls_fail(err, VALISE_E_DENIED, "%s needs %.*s, which %.*s has only with %s", what,
                       VALISE_STR_ARG(deed->capability), VALISE_STR_ARG(set->id), only);
        vls_hint(err, "valise agent show %.*s", VALISE_STR_ARG(set->id));
        return VALISE_E_DENIED;
    }
    (void)vls_fail(err, VALISE_E_DENIED, "%s needs %.*s, which %.*s (role %s) does not have", what,
                   VALISE_STR_ARG(deed->capability), VALISE_STR_ARG(set->id),
                   vls_role_names[set->role]);
    hint_known(set, deed, err);
    return VALISE_E_DENIED;
}

static int deny_unknown(valise_str actor, const vls_deed *deed, valise_error *err)
{
    bool reads = role_allows(VLS_ROLE_READER, deed);

    (void)vls_fail(err, VALISE_E_DENIED, "there is no actor '%s' in this workspace",
                   vls_text_short(actor).s);
    if (vls_actor_id_is_valid(actor))
        vls_hint(err, "valise agent add %.*s --role writer%s", VALISE_STR_ARG(actor),
                 reads ? " (or reader)" : "");
    else
        vls_hint(err, "an id has letters, digits and ._@:/+-, %u at most", VLS_ACTOR_MAX);
    return VALISE_E_DENIED;
}

/* ---- asking ---- */

/* Of somebody without a row. */
static int ask_unknown(vls_txn *txn, valise_str actor, const vls_deed *deed, valise_error *err)
{
    int open = vls_actor_id_is_valid(actor) ? is_open(txn, err) : 0;

    if (open < 0)
        return open;
    if (!open)
        return deny_unknown(actor, deed, err);
    if (role_allows(VLS_ROLE_WRITER, deed))
        return 1;
    (void)vls_fail(err, VALISE_E_DENIED, "this needs %.*s, which %.*s does not have",
                   VALISE_STR_ARG(deed->capability), VALISE_STR_ARG(actor));
    if (vls_str_equal(deed->capability, VLS_STR("admin")))
        vls_hint(err, "valise agent add %.*s --role owner", VALISE_STR_ARG(actor));
    else /* it is a writer as it is */
        vls_hint(err, "valise agent add %.*s --role writer --capability %.*s",
                 VALISE_STR_ARG(actor), VALISE_STR_ARG(deed->capability));
    return VALISE_E_DENIED;
}

static int ask(vls_access *access, valise_view *view, valise_str actor, const vls_deed *deed,
               const char *what, valise_error *err)
{
    valise_cell row[VALISE_MAX_COLUMNS];
    actor_cells cells;
    grant_set *set = NULL;
    bool allowed = false;
    int rc;

    if (!view->txn)
        return vls_fail(err, VALISE_E_NOT_FOUND, "%s needs a workspace", what);
    rc = read_actor(&cells, row, view->txn, actor, err);
    if (rc == 0)
        return ask_unknown(view->txn, actor, deed, err);
    if (rc > 0)
        rc = get_set(&set, access, &cells, actor, err);
    if (rc < 0)
        return rc;
    assert(set);
    for (size_t i = 0; i < set->count && !allowed; i++)
        allowed = vls_grant_allows(&set->grants[i], deed);
    if (!allowed)
        rc = deny_known(set, deed, what, err);
    drop_set(access, set);
    return rc;
}

int vls_access_check(vls_access *access, valise_view *view, valise_str actor, const valise_op *op,
                     const void *args, valise_error *err)
{
    vls_deed deed = {.capability = valise_str_of(op->needs),
                     .fields = op->in,
                     .args = args,
                     .asks = op->flags & VALISE_OP_ASKS};

    if (!op->needs) /* it needs no workspace either: the registry saw to that */
        return 0;
    return ask(access, view, actor, &deed, op->name, err);
}

int vls_access_allows(vls_access *access, valise_view *view, valise_str actor,
                      const char *capability, const char *const *attrs, valise_error *err)
{
    vls_deed deed = {.capability = valise_str_of(capability), .attrs = attrs};

    return ask(access, view, actor, &deed, "this", err);
}
