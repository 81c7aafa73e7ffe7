/* use.c -- see use.h. */
#include "backpack/ops.h"

#include "backpack/tell.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "bus/told.h"

/* ---- finding ---- */

/* A command that is in the log never sees what is in memory alone: whoever replays it cannot. */
static bool sees_memory(const valise_view *view)
{
    return view->bus && (view->apart || vls_uuid_is_none(&view->stamp.command));
}

static int take_memory(vls_use *use, vls_ephemeral *memory, valise_view *view, valise_error *err)
{
    use->memory = memory;
    use->ledger = vls_ring_ledger(memory->ring);
    return vls_ephemeral_take_rules(memory, view, err);
}

static int fail_gone(valise_str name, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the backpack '%.*s' that was opened is gone by now",
                   VALISE_STR_ARG(name));
    vls_hint(err, "it was dropped; open it again");
    return VALISE_E_NOT_FOUND;
}

static int find_rows(vls_use *use, valise_view *view, const vls_who *who, valise_error *err)
{
    bool any = vls_uuid_is_none(&who->id);
    int rc = any ? vls_rows_open(&use->rows, view, who->backpack, err)
                 : vls_rows_open_id(&use->rows, view, &who->id, err);

    /* The name is what the actor was checked for: the id alone opens nothing. */
    if (rc == 0 && !vls_str_equal(use->rows.bag.name, who->backpack)) {
        vls_rows_close(&use->rows);
        rc = VALISE_E_NOT_FOUND;
    }
    if (rc == VALISE_E_NOT_FOUND && !any)
        return fail_gone(who->backpack, err);
    if (rc == 0)
        use->ledger = vls_rows_ledger(&use->rows);
    return rc;
}

/* Where a name that nobody has is no mistake: *absent then, and no error. */
static int find_name(vls_use *use, bool *absent, valise_view *view, const vls_who *who,
                     valise_error *err)
{
    vls_bag_row row;
    int rc = vls_rows_find(&row, view, who->backpack, err);

    *absent = rc == 0;
    if (rc > 0)
        rc = vls_rows_open_id(&use->rows, view, &row.id, err);
    if (rc == 0 && !*absent)
        use->ledger = vls_rows_ledger(&use->rows);
    return rc;
}

/* absent: NULL where it must be there. */
static int find(vls_use *use, bool *absent, valise_view *view, const vls_who *who,
                valise_error *err)
{
    vls_ephemeral *memory = NULL;
    int rc = vls_bag_check_name(who->backpack, err);

    if (absent)
        *absent = false;
    if (rc < 0)
        return rc;
    if (sees_memory(view))
        memory = vls_ephemeral_find(view->bus, who->backpack, &who->id);
    if (memory)
        return take_memory(use, memory, view, err);
    return absent && vls_uuid_is_none(&who->id) ? find_name(use, absent, view, who, err)
                                                : find_rows(use, view, who, err);
}

int vls_use_allows(const vls_use *use, const vls_who *who, const char *capability,
                   valise_error *err)
{
    char id[VLS_BAG_NODE_MAX + 1] = "", name[VLS_BAG_NAME_MAX + 1] = "";
    const char *attrs[] = {"backpack", name, "node", id, NULL};

    (void)snprintf(name, sizeof(name), "%.*s", VALISE_STR_ARG(who->backpack));
    (void)snprintf(id, sizeof(id), "%.*s", VALISE_STR_ARG(who->node));
    if (who->node.len == 0)
        attrs[2] = NULL;
    return valise_view_allows(use->view, capability, attrs, err);
}

static int take_scope(vls_use *use, valise_view *view, const vls_who *who, valise_error *err)
{
    valise_node node = {.size = sizeof(node),
                        .id = who->node,
                        .name = who->node_name,
                        .namespace_name = who->namespace_name};
    int rc;

    if (who->node.len == 0 && who->run > 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "no node given: run %lld belongs to a node",
                       (long long)who->run);
        vls_hint(err, "give --node NODE --run %lld", (long long)who->run);
        return VALISE_E_INVALID;
    }
    if (who->node.len == 0)
        return vls_scope_new(&use->scope, view->arena.env, &use->ledger, NULL, err);
    rc = vls_bag_check_node(who->node, err);
    if (rc < 0)
        return rc;
    rc = vls_use_allows(use, who, "backpack:as-node", err);
    if (rc == 0)
        rc = vls_scope_new(&use->scope, view->arena.env, &use->ledger, &node, err);
    return rc < 0 || who->run == 0 ? rc
                                   : vls_bag_run_resume(&use->ledger, use->scope, who->run, err);
}

/* A backpack comes to be with its first item. */
static int make(vls_use *use, valise_view *view, valise_str name, valise_error *err)
{
    vls_bag_row row = {.name = name, .sticky = vls_bag_sticky};
    int rc = vls_rows_make(&row, view, err);

    if (rc == 0)
        rc = vls_rows_open_id(&use->rows, view, &row.id, err);
    if (rc == 0)
        use->ledger = vls_rows_ledger(&use->rows);
    return rc;
}

int vls_use_begin_new(vls_use *out, valise_view *view, const vls_who *who, valise_error *err)
{
    bool absent = false;
    int rc;

    *out = (vls_use){.view = view, .call = {.now = view->stamp.time, .arena = &view->arena}};
    rc = find(out, view->apart ? NULL : &absent, view, who, err);
    if (rc == 0 && absent)
        rc = make(out, view, who->backpack, err);
    if (rc == 0)
        rc = take_scope(out, view, who, err);
    if (rc < 0)
        vls_use_end(out);
    return rc;
}

/* ---- telling ---- */

/* The name of the backpack, and the newest seq that is shown. Copied into arena. */
static int read_head(valise_str *name, int64_t *seq, vls_use *use, vls_arena *arena)
{
    vls_ledger_head head;
    int rc;

    use->ledger.ops->enter(use->ledger.self);
    rc = use->ledger.ops->head(&head, use->ledger.self, NULL);
    if (rc == 0)
        rc = vls_arena_dup(name, arena, head.name, NULL);
    use->ledger.ops->leave(use->ledger.self);
    *seq = rc == 0 ? head.last : 0;
    return rc;
}

/* What cannot be told is not: live events are for who happens to listen. */
static void tell_commit(vls_use *use, const valise_commit *commit)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_event event = {.size = sizeof(event)};
    valise_str name;
    int64_t seq;

    if (!vls_bus_listens(vls_view_bus(use->view)))
        return;
    vls_arena_init(&arena, use->view->arena.env, (size_t)1 << 21);
    if (read_head(&name, &seq, use, &arena) == 0 &&
        vls_live_event(&event, commit, name, &arena) == 0)
        vls_view_tell(use->view, &event);
}

int vls_use_done(valise_packed *out, vls_use *use, int rc, const vls_done *done, valise_str key,
                 int64_t action)
{
    if (rc >= 0)
        *out = done->packed;
    if (rc == VALISE_E_DENIED || (rc >= 0 && done->denied)) {
        valise_commit denied =
            vls_attempt(use->scope, key, action, VALISE_READ_DENIED, use->call.now);
        tell_commit(use, &denied);
    } else if (rc >= 0 && use->memory && done->commit.seq > 0) {
        tell_commit(use, &done->commit);
    }
    return rc < 0 ? rc : 0;
}

int vls_use_get(valise_blob **out, vls_use *use, valise_str key, vls_look *look, valise_error *err)
{
    int rc;

    look->outcome = VALISE_NONE;
    rc = vls_bag_get(out, &use->ledger, use->scope, key, look, err);
    if (look->outcome == VALISE_READ_DENIED || (look->record && look->outcome != VALISE_NONE)) {
        valise_commit read =
            vls_attempt(use->scope, key, VALISE_ACTION_UNPACK, look->outcome, use->call.now);
        tell_commit(use, &read);
    }
    return rc;
}

void vls_use_tell_snapshot(vls_use *use)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_event event = {.size = sizeof(event),
                          .type = VLS_STR("BACKPACK_SNAPSHOT"),
                          .node_id = vls_scope_node_id(use->scope),
                          .namespace_name = vls_scope_namespace(use->scope)};
    char text[48];
    int64_t seq;

    if (!vls_bus_listens(vls_view_bus(use->view)))
        return;
    vls_arena_init(&arena, use->view->arena.env, (size_t)1 << 16);
    if (read_head(&event.run_id, &seq, use, &arena) < 0)
        return;
    (void)snprintf(text, sizeof(text), "{\"seq\":%lld}", (long long)seq);
    event.payload = valise_str_of(text);
    vls_view_tell(use->view, &event);
}

/* ---- what an ephemeral backpack dropped ---- */

typedef struct dropping {
    const valise_env *env;
    vls_ephemeral *memory;
    char actor[VLS_ACTOR_MAX];
    size_t actor_len;
} dropping;

static void free_dropping(void *arg)
{
    dropping *d = arg;

    vls_ephemeral_unref(d->memory);
    vls_mem_free(d->env, d, sizeof(*d));
}

/* The command is done, whatever becomes of the archive. */
static int archive_dropped(valise *v, void *arg, valise_error *err)
{
    dropping *d = arg;

    (void)err;
    vls_ephemeral_archive(d->memory, v, vls_str(d->actor, d->actor_len));
    return 0;
}

/* What cannot be done for want of memory is done when history drops something again. */
static void archive_later(vls_use *use)
{
    valise_str actor = use->view->stamp.actor;
    dropping *d;

    if (use->memory->archive_len == 0)
        return;
    d = vls_mem_zalloc(use->memory->env, sizeof(*d));
    if (!d)
        return;
    d->env = use->memory->env;
    d->memory = vls_ephemeral_ref(use->memory);
    d->actor_len = VLS_MIN(actor.len, sizeof(d->actor));
    memcpy(d->actor, actor.ptr, d->actor_len);
    (void)vls_view_after(use->view, archive_dropped, d, free_dropping, NULL);
}

static void tell_pruned(vls_use *use)
{
    valise_event event = {.size = sizeof(event)};
    vls_ring_pruned pruned;
    char room[VLS_PRUNE_MAX];

    if (!use->view->apart)
        return;
    vls_ring_take_pruned(&pruned, use->memory->ring);
    if (pruned.commits > 0) {
        vls_prune_event(&event, room, &use->memory->id, vls_ephemeral_name(use->memory),
                        pruned.edge);
        vls_view_tell(use->view, &event);
    }
    if (vls_ephemeral_must_archive(use->memory, pruned.commits > 0))
        archive_later(use);
}

/* ---- what a node read in a query ---- */

/* A query writes nothing, but a sticky tag that a node has read must not be forgotten: the scope
 * outlives the query, and its marks are kept by a command before the answer is given. */
typedef struct reading {
    const valise_env *env;
    vls_scope *scope;
    vls_arena arena; /* the texts */
    valise_str backpack, node, actor;
} reading;

static void free_reading(void *arg)
{
    reading *r = arg;

    vls_scope_free(r->scope);
    vls_arena_release(&r->arena);
    vls_mem_free(r->env, r, sizeof(*r));
}

static int keep_marks(valise *v, void *arg, valise_error *err)
{
    reading *r = arg;
    valise_call call = VALISE_CALL_INIT;

    call.actor = r->actor;
    if (vls_store_read_only(v->store)) /* nobody packs either */
        return 0;
    return vls_keep_marks(v, r->scope, &(vls_who){.backpack = r->backpack, .node = r->node}, &call,
                          err);
}

/* The scope is the reading's from here on. */
static int watch(vls_use *use, const vls_who *who, valise_error *err)
{
    const valise_env *env = use->view->arena.env;
    reading *r = vls_mem_zalloc(env, sizeof(*r));
    int rc;

    if (!r)
        return vls_fail_memory(err);
    r->env = env;
    vls_arena_init(&r->arena, env, (size_t)1 << 16);
    rc = vls_arena_dup(&r->backpack, &r->arena, who->backpack, err);
    if (rc == 0)
        rc = vls_arena_dup(&r->node, &r->arena, who->node, err);
    if (rc == 0)
        rc = vls_arena_dup(&r->actor, &r->arena, use->view->stamp.actor, err);
    if (rc < 0) {
        free_reading(r);
        return rc;
    }
    r->scope = use->scope;
    use->lent = true;
    rc = vls_view_after(use->view, keep_marks, r, free_reading, err);
    if (rc < 0)
        use->scope = NULL; /* it went with the reading */
    return rc;
}

static bool must_watch(const vls_use *use, const vls_who *who)
{
    return !use->memory && who->node.len > 0 && use->rows.bag.taint && !use->view->changing &&
           !use->view->apart && vls_view_bus(use->view);
}

static int begin(vls_use *out, bool *absent, valise_view *view, const vls_who *who,
                 valise_error *err)
{
    int rc;

    *out = (vls_use){.view = view, .call = {.now = view->stamp.time, .arena = &view->arena}};
    rc = find(out, absent, view, who, err);
    if (rc == 0 && absent && *absent)
        return 0;
    if (rc == 0)
        rc = take_scope(out, view, who, err);
    if (rc < 0)
        vls_use_end(out);
    return rc;
}

int vls_use_begin(vls_use *out, valise_view *view, const vls_who *who, valise_error *err)
{
    int rc = begin(out, NULL, view, who, err);

    if (rc == 0 && must_watch(out, who))
        rc = watch(out, who, err);
    if (rc < 0)
        vls_use_end(out);
    return rc;
}

int vls_use_begin_other(vls_use *out, valise_view *view, const vls_who *who, const char *member,
                        valise_error *err)
{
    int rc = vls_bag_check_name(who->backpack, err);

    *out = (vls_use){.view = view};
    if (rc == 0 && who->node.len > 0)
        rc = vls_bag_check_node(who->node, err);
    if (rc == 0)
        rc = vls_use_allows(out, who, "backpack:read", err);
    if (rc == 0)
        rc = vls_use_begin(out, view, who, err);
    if (rc < 0)
        vls_error_prepend(err, "%s", member);
    return rc;
}

void vls_use_end(vls_use *use)
{
    if (use->memory) {
        /* Without memory for it something could carry a tag too few: but then the scope had no
         * memory for the mark either, and the read failed. */
        (void)vls_ephemeral_keep_marks(use->memory, use->scope, NULL);
        tell_pruned(use);
    }
    if (!use->lent)
        vls_scope_free(use->scope);
    if (use->ledger.frozen)
        use->ledger.ops->release(use->ledger.self);
    vls_rows_close(&use->rows);
    vls_ephemeral_unref(use->memory);
    *use = (vls_use){.scope = NULL};
}

bool vls_use_is_apart(valise *v, const void *args)
{
    const vls_who *who = args; /* what all of them start with */
    vls_ephemeral *memory = vls_ephemeral_find(v, who->backpack, &who->id);

    vls_ephemeral_unref(memory);
    return memory != NULL;
}

int64_t vls_use_expected(const vls_use *use)
{
    int64_t version = VALISE_NONE;

    if (!use->memory || use->view->expect.len == 0)
        return VALISE_NONE;
    return vls_str_to_i64(&version, use->view->expect) ? version : 0; /* null */
}

/* ---- by id, and other states ---- */

int vls_use_begin_id(vls_use *out, valise_view *view, const valise_uuid *id, valise_error *err)
{
    vls_ephemeral *memory = sees_memory(view) ? vls_ephemeral_find_id(view->bus, id) : NULL;
    int rc = 0;

    *out = (vls_use){.view = view, .call = {.now = view->stamp.time, .arena = &view->arena}};
    if (memory) {
        rc = take_memory(out, memory, view, err);
    } else {
        rc = vls_rows_open_id(&out->rows, view, id, err);
        if (rc == 0)
            out->ledger = vls_rows_ledger(&out->rows);
    }
    if (rc == 0)
        rc = vls_scope_new(&out->scope, view->arena.env, &out->ledger, NULL, err);
    if (rc < 0)
        vls_use_end(out);
    return rc;
}

int vls_use_seq(vls_use *use, int64_t seq, valise_error *err)
{
    vls_ledger state = {NULL, NULL, false};
    int rc = use->ledger.ops->freeze(&state, use->ledger.self, seq, err);

    if (rc < 0)
        return rc;
    if (use->ledger.frozen)
        use->ledger.ops->release(use->ledger.self);
    use->ledger = state;
    return 0;
}

int vls_use_point(vls_use *use, valise_str text, valise_error *err)
{
    vls_point point;
    int64_t seq;
    int rc;

    if (text.len == 0)
        return 0;
    rc = vls_point_parse(&point, text, err);
    if (rc == 0)
        rc = vls_point_resolve(&seq, &use->ledger, use->scope, &point, err);
    return rc != 0 ? rc : vls_use_seq(use, seq, err);
}

int vls_use_current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    const vls_key_args *of = args;
    VLS_AUTO(use) vls_use use = {0};
    char digits[VLS_U64_DIGITS];
    bool absent = false;
    int64_t version = 0;
    int rc = begin(&use, &absent, view, &of->who, err);

    if (rc == VALISE_E_NOT_FOUND) /* what the handle had is gone */
        rc = 0;
    else if (rc == 0 && !absent)
        rc = vls_bag_version(&version, &use.ledger, use.scope, of->key, err);
    if (rc == VALISE_E_DENIED && use.scope) {
        /* Not even a conflict is for who may not write it. The decision refuses, on record. */
        *json = view->expect;
        return 0;
    }
    if (rc <= 0) {
        *json = VLS_STR("null");
        return rc;
    }
    return vls_arena_dup(json, &view->arena, vls_u64_digits(digits, (uint64_t)version), err);
}

static int fork_memory(valise_uuid *id, int64_t *seq, vls_use *use, valise_str name,
                       valise_error *err)
{
    VLS_AUTO(ephemeral) vls_ephemeral *made = NULL;
    vls_ephemeral_new like = {
        .name = name, .actor = use->view->stamp.actor, .created = use->view->stamp.time, .id = id};
    int rc = valise_view_uuid(id, use->view, err);

    if (rc == 0)
        rc = vls_ephemeral_check_name(use->view, name, err);
    return rc < 0 ? rc
                  : vls_ephemeral_fork(&made, seq, vls_view_bus(use->view), &use->ledger, &like,
                                       &(vls_ring_options){.name = name}, err);
}

int vls_use_fork(valise_uuid *id, int64_t *seq, vls_use *use, valise_str name, valise_error *err)
{
    vls_bag_row row = {.name = {NULL, 0}};
    vls_ledger_head head = {.last = 0};
    int rc;

    if (use->memory)
        return fork_memory(id, seq, use, name, err);
    rc = vls_rows_fork(&row, &use->ledger, name, err);
    if (rc == 0)
        rc = vls_look_head(&head, &use->ledger, err);
    if (rc < 0)
        return rc;
    *id = row.id;
    *seq = head.last;
    return 0;
}

/* ---- fields ---- */

const valise_field vls_owner_in[] = {VLS_OWNER_FIELDS(vls_who_args), VALISE_FIELD_END};

const valise_field vls_packed_fields[] = {
    VALISE_FIELD(valise_packed, applied, BOOL, 0, "False: it was denied and nothing was done."),
    VALISE_FIELD(valise_packed, seq, INT, 0, "Number of the commit."),
    VALISE_FIELD(valise_packed, version, INT, 0, "Version of the item."),
    VALISE_FIELD_AS(valise_packed, commit, "commitId", UUID, VALISE_NULLABLE, "Id of the commit."),
    VALISE_FIELD_AS(valise_packed, value, "valueId", ID, VALISE_NULLABLE, "Id of the value."),
    VALISE_FIELD_END,
};

valise_content vls_use_content(valise_blob *value)
{
    valise_str bytes = value ? vls_blob_bytes(value) : (valise_str){NULL, 0};

    return (valise_content){.size = value ? (int64_t)bytes.len : VALISE_NONE, .bytes = bytes};
}

int vls_use_emit_row(void *view, const void *row, valise_error *err)
{
    return valise_view_emit(view, row, err);
}

int vls_use_emit_commit(void *view, const valise_commit *commit, valise_error *err)
{
    valise_commit copy = *commit;

    vls_commit_out(&copy);
    return valise_view_emit(view, &copy, err);
}

#define NAMES(member, text)                                                                        \
    VALISE_FIELD_WITH(vls_item_out, member, LIST, VALISE_NULLABLE, text, .more = &vls_name_item)

const valise_field vls_item_out_fields[] = {
    VALISE_FIELD(vls_item_out, key, STR, 0, "Key of the item."),
    VALISE_FIELD(vls_item_out, value, VALUE, VALISE_NULLABLE, "Its value."),
    VALISE_FIELD_AS(vls_item_out, summary, "valueSummary", STR, VALISE_NULLABLE,
                    "The beginning of its value, where that is not shown."),
    VALISE_FIELD(vls_item_out, version, INT, 0, "How many times it was packed."),
    VALISE_FIELD_AS(vls_item_out, node_id, "sourceNodeId", STR, 0, "The node that packed it."),
    VALISE_FIELD_AS(vls_item_out, node_name, "sourceNodeName", STR, 0, "Name of that node."),
    VALISE_FIELD_AS(vls_item_out, namespace_name, "sourceNamespace", STR, VALISE_NULLABLE,
                    "Its namespace."),
    VALISE_FIELD_AS(vls_item_out, time, "timestamp", TIME, 0, "When it was packed."),
    VALISE_FIELD_WITH(vls_item_out, tags, LIST, 0, "Its tags.", .more = &vls_name_item),
    NAMES(read, "Only these nodes may read it."),
    NAMES(write, "Only these nodes may write it."),
    VALISE_FIELD(vls_item_out, seq, INT, 0, "The commit that packed it."),
    VALISE_FIELD(vls_item_out, reason, STR, VALISE_NULLABLE, "Why it is in quarantine."),
    VALISE_FIELD(vls_item_out, error, JSON, VALISE_NULLABLE, "The error that brought it there."),
    VALISE_FIELD_AS(vls_item_out, value_size, "valueSize", INT, 0, "Bytes of its value."),
    VALISE_FIELD_AS(vls_item_out, value_id, "valueId", ID, VALISE_NULLABLE, "Id of its value."),
    VALISE_FIELD_END,
};

void vls_item_out_fill(vls_item_out *out, const valise_commit *commit, valise_str value)
{
    *out = (vls_item_out){
        .key = commit->key,
        .value = {.id = commit->value,
                  .size = value.ptr ? (int64_t)value.len : VALISE_NONE,
                  .bytes = value},
        .value_id = commit->value,
        .value_size = commit->value_size,
        .version = commit->version,
        .time = commit->time,
        .seq = commit->seq,
        .summary = value.ptr ? (valise_str){NULL, 0} : commit->summary,
        .reason = commit->reason,
        .error = commit->error,
        .node_id = commit->node_id,
        .node_name = commit->node_name,
        .namespace_name = commit->namespace_name,
        .tags = commit->tags,
        .read = commit->read,
        .write = commit->write,
    };
}
