/* processor.c -- processors: they run after a change was committed, at least once (follow.h).
 *
 *     read the next entry with rows of interest       one transaction, over before anything runs
 *     run the processor for each of them              its commands go through the pipeline
 *     remember the place behind them                  table `cursor`, in turn with the commands
 *
 * A crash between the second and the third step, and a second process that runs the same processor,
 * repeat the second. Ids of commands are derived from processor and event, so the repetition is
 * recognised and changes nothing:
 *
 *     ids = tagged hash "valise.processor.1" (name, id of the event): its first 16 bytes, with the
 *           event's time, the version and the variant written over them
 *     id of the n-th command = id number n derived from that                     (base/uuid.h)
 *
 * The place is not stored for entries in which there was nothing to do, but now and then: to read
 * them again costs less than a commit for each. */
#include "bus/follow.h"

#include "base/mem.h"
#include "bus/job.h"
#include "store/own.h"

#define SCAN_MAX 256u             /* entries looked at in one transaction */
#define TASKS_MAX 1024u           /* rows of one entry that are made at once */
#define STORE_AFTER INT64_C(1000) /* entries without anything to do */
#define RETRY_FIRST_NS INT64_C(100000000)
#define RETRY_MOST_NS (INT64_C(60) * VLS_NS_PER_SECOND)

/* ---- the stored place ---- */

static bool is_before(valise_cursor a, valise_cursor b)
{
    return a.seq < b.seq || (a.seq == b.seq && a.index < b.index);
}

static vls_cursor_row cursor_row(const vls_processor *p, char room[96], valise_cursor place)
{
    int len = snprintf(room, 96, "processor:%s", p->table->name);

    return (vls_cursor_row){
        .name = vls_str(room, (size_t)VLS_MIN(len, 95)), .seq = place.seq, .item = place.index};
}

/* 1 and the place, or 0 when none is stored. */
static int read_place(valise_cursor *out, const vls_processor *p, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    char room[96];
    vls_cursor_row row = cursor_row(p, room, (valise_cursor){0, 0});
    int rc;

    vls_arena_init(&arena, vls_store_env(txn->store), 1u << 16);
    rc = vls_own_get(&row, txn, VLS_TABLE_CURSOR, &arena, err);
    if (rc > 0)
        *out = (valise_cursor){row.seq, (uint32_t)row.item};
    return rc;
}

/* Another process may have come further. */
static int write_place(void *arg, vls_txn *txn, valise_error *err)
{
    const vls_processor *p = arg;
    char room[96];
    vls_cursor_row row = cursor_row(p, room, p->place);
    valise_cursor there;
    int rc = read_place(&there, p, txn, err);

    if (rc < 0 || (rc > 0 && !is_before(there, p->place)))
        return rc < 0 ? rc : 0;
    return vls_own_put(txn, VLS_TABLE_CURSOR, &row, err);
}

/* Without the lock, by whoever has claimed the processor. */
static void store_place(vls_feed *feed, vls_processor *p)
{
    if (vls_with_txn(feed->v, write_place, p, NULL) < 0)
        return; /* the next time */
    p->stored = p->place;
    p->unsaved = false;
}

/* ---- what there is to do ---- */

typedef struct task {
    valise_event event;
    const void *row;
} task;

typedef struct tasks {
    vls_arena arena; /* of the entry */
    vls_entry entry;
    vls_changes_walk walk; /* rows and events live in it */
    vls_vec(task) list;
    valise_cursor next; /* behind them */
} tasks;

static void tasks_release(tasks *t, const valise_env *env)
{
    vls_vec_release(&t->list, env);
    vls_changes_end(&t->walk);
    vls_arena_release(&t->arena);
}

static int add_task(tasks *t, const vls_processor *p, const vls_change *change, valise_error *err)
{
    const valise_processor *table = p->table;
    const void *before;
    task made = {0};
    int rc = vls_change_after(&made.row, &t->walk, change, err);

    if (rc < 0 || !made.row || (table->wants && !table->wants(table->self, made.row)))
        return rc;
    rc = vls_change_before(&before, &t->walk, change, err);
    if (rc == 0)
        rc = vls_event_of_change(&made.event, &t->walk, change, before, made.row, err);
    if (rc < 0)
        return rc;
    return vls_vec_push(&t->list, t->arena.env, made) ? 0 : vls_fail_memory(err);
}

/* The rows of interest of t->entry from an index on. */
static int look_into_entry(tasks *t, const vls_processor *p, vls_txn *txn, uint32_t from,
                           valise_error *err)
{
    vls_change change;
    int rc;

    t->next = (valise_cursor){t->entry.seq + 1, 0};
    if (vls_str_equal(t->entry.actor, valise_str_of(p->table->name)))
        return 0; /* its own work */
    vls_changes_end(&t->walk);
    rc = vls_changes_begin(&t->walk, txn, &t->entry, &p->ahead, err);
    while (rc >= 0 && (rc = vls_changes_step(&change, &t->walk, err)) > 0) {
        if (change.coll != p->coll || change.index < from)
            continue;
        if (t->list.len == TASKS_MAX) {
            t->next = (valise_cursor){t->entry.seq, change.index};
            return 0;
        }
        rc = add_task(t, p, &change, err);
    }
    return rc < 0 ? rc : 0;
}

/* From place on, up to the first entry with something to do. */
static int find_tasks(tasks *t, const vls_processor *p, vls_txn *txn, valise_error *err)
{
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    int rc = vls_log_scan_open(&scan, txn, t->next.seq, false, err);

    for (unsigned n = 0; rc >= 0 && t->list.len == 0 && n < SCAN_MAX; n++) {
        uint32_t from;
        vls_arena_reset(&t->arena);
        rc = vls_log_scan_next(&t->entry, &scan, &t->arena, err);
        if (rc == 0) {
            t->next = (valise_cursor){VLS_MAX(t->next.seq, txn->tip.seq + 1), 0};
            return 0;
        }
        from = rc > 0 && t->entry.seq == t->next.seq ? t->next.index : 0;
        if (rc > 0)
            rc = look_into_entry(t, p, txn, from, err);
    }
    return rc < 0 ? rc : 0;
}

static int read_tasks(tasks *t, vls_feed *feed, vls_processor *p, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cursor there;
    int rc = vls_txn_begin(&txn, feed->v->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    t->next = p->place;
    rc = read_place(&there, p, &txn, err);
    if (rc > 0 && is_before(t->next, there))
        t->next = there; /* another process has done it */
    if (rc >= 0)
        rc = vls_ahead_prepare(&p->ahead, &txn, t->next.seq, err);
    if (rc >= 0)
        rc = find_tasks(t, p, &txn, err);
    vls_feed_hold(feed);
    vls_feed_raise(feed, txn.tip.seq);
    vls_feed_drop(feed);
    t->walk.view.txn = NULL; /* it is over; the memory is what is needed */
    return rc;
}

/* ---- doing it ---- */

static void derive_ids(valise_uuid *out, const char *name, const valise_uuid *event)
{
    vls_hasher hasher;
    valise_id hash;

    vls_hash_begin_tagged(&hasher, "valise.processor.1");
    vls_hash_field(&hasher, valise_str_of(name));
    vls_hash_field(&hasher, vls_str(event->bytes, sizeof(event->bytes)));
    vls_hash_end(&hash, &hasher);
    memcpy(out->bytes, hash.bytes, sizeof(out->bytes));
    memcpy(out->bytes, event->bytes, 6);
    out->bytes[6] = (uint8_t)((out->bytes[6] & 0x0f) | 0x70);
    out->bytes[8] = (uint8_t)((out->bytes[8] & 0x3f) | 0x80);
}

int valise_job_call(struct valise_call *out, valise_job *job, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;

    VLS_ARG(out && job, err);
    call.actor = job->actor;
    call.cause = job->cause;
    if (!vls_uuid_is_none(&job->ids)) {
        vls_uuid_derive(&call.id, &job->ids, job->id_count);
        job->id_count++;
    }
    *out = call;
    return 0;
}

static int run_task(vls_feed *feed, const vls_processor *p, const tasks *t, const task *todo,
                    valise_error *err)
{
    const valise_processor *table = p->table;
    VLS_AUTO(sink) vls_sink sink = {0};
    valise_job job = {
        .v = feed->v, .actor = valise_str_of(table->name), .sink = &sink, .cause = t->entry.id};
    int rc;

    derive_ids(&job.ids, table->name, &todo->event.id);
    vls_arena_init(&job.arena, feed->v->env, VLS_VIEW_MAX_BYTES);
    vls_progress_init(&job.progress, feed->v->env, NULL);
    rc = table->run(table->self, &job, &todo->event, todo->row, err);
    vls_arena_release(&job.arena);
    /* Its command was accepted before, with another payload: it is done. */
    return rc < 0 && rc != VALISE_E_EXISTS ? rc : 0;
}

/* One entry with something to do, or many without. */
static int step(vls_feed *feed, vls_processor *p, valise_error *err)
{
    const valise_env *env = feed->v->env;
    tasks t = {.list = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&t.arena, env, VLS_VIEW_MAX_BYTES);
    rc = read_tasks(&t, feed, p, err);
    for (size_t i = 0; rc == 0 && i < t.list.len; i++) {
        const task *todo = &t.list.ptr[i];
        rc = run_task(feed, p, &t, todo, err);
        vls_feed_hold(feed);
        if (rc == 0) {
            p->place = (valise_cursor){todo->event.seq, todo->event.index + 1};
            p->unsaved = true;
        }
        vls_feed_drop(feed);
    }
    vls_feed_hold(feed);
    if (rc == 0)
        p->place = t.next;
    vls_feed_drop(feed);
    tasks_release(&t, env);
    return rc;
}

/* ---- serving ---- */

bool vls_processor_has_work(const vls_feed *feed, const vls_processor *p)
{
    if (p->busy || p->place.seq > feed->tip || vls_store_read_only(feed->v->store))
        return false;
    return p->attempts == 0 || feed->v->env->ticks_ns(feed->v->env->self) >= p->not_before_ns;
}

/* Those who listen hear of it; lock not held. */
static void tell_failure(vls_feed *feed, const vls_processor *p, const valise_error *why)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    valise_event event = {.size = sizeof(event), .type = VLS_STR("processor:failed")};

    vls_buf_init(&payload, feed->v->env, 4096);
    vls_buf_add_text(&payload, "{\"code\":");
    vls_json_write_string(&payload, valise_str_of(valise_error_name(why->code)));
    vls_buf_add_text(&payload, ",\"message\":");
    vls_json_write_string(&payload, valise_str_of(why->message));
    vls_buf_printf(&payload, ",\"processor\":\"%s\",\"seq\":%lld}", p->table->name,
                   (long long)p->place.seq);
    event.payload = vls_buf_str(&payload);
    if (vls_buf_check(&payload, NULL) == 0)
        (void)valise_publish(feed->v, valise_str_of(p->table->name), &event, NULL);
}

static void note_failure(vls_feed *feed, vls_processor *p)
{
    int64_t pause_ns = RETRY_MOST_NS;

    if (p->attempts < 10)
        pause_ns = VLS_MIN(RETRY_FIRST_NS << p->attempts, RETRY_MOST_NS);
    p->attempts++;
    p->failed++;
    p->not_before_ns = feed->v->env->ticks_ns(feed->v->env->self) + pause_ns;
}

static bool place_is_worth_storing(const vls_processor *p)
{
    return p->unsaved || p->place.seq - p->stored.seq >= STORE_AFTER;
}

/* A failure is retried after a pause that grows; the others go on meanwhile. */
bool vls_processor_serve(vls_feed *feed, vls_processor *p)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_cursor from = p->place;
    int rc = 0;

    p->busy = true;
    while (rc == 0 && p->place.seq <= feed->tip) {
        vls_feed_drop(feed);
        rc = step(feed, p, &why);
        vls_feed_hold(feed);
    }
    if (rc < 0)
        note_failure(feed, p);
    else
        p->attempts = 0;
    vls_feed_drop(feed);
    if (place_is_worth_storing(p))
        store_place(feed, p);
    if (rc < 0)
        tell_failure(feed, p, &why);
    vls_feed_hold(feed);
    p->busy = false;
    return rc < 0 || is_before(from, p->place);
}

/* ---- opening and closing ---- */

static int open_one(vls_processor *p, vls_feed *feed, vls_txn *txn, valise_error *err)
{
    int rc;

    p->coll = vls_store_coll(feed->v->store, p->table->coll);
    rc = read_place(&p->place, p, txn, err);
    if (rc == 0) /* new here: it begins with what comes from now on */
        p->place = (valise_cursor){txn->tip.seq + 1, 0};
    p->unsaved = rc == 0;
    p->stored = p->place;
    return rc < 0 ? rc : 0;
}

static int open_all(vls_feed *feed, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, feed->v->store, VALISE_TXN_READ, err);

    for (size_t i = 0; rc == 0 && i < feed->processor_count; i++)
        rc = open_one(&feed->processors[i], feed, &txn, err);
    return rc;
}

/* The places of those who are new here, and at the end of those who could not store it before. */
static void store_places(vls_feed *feed)
{
    for (size_t i = 0; i < feed->processor_count; i++) {
        if (feed->processors[i].unsaved && !vls_store_read_only(feed->v->store))
            store_place(feed, &feed->processors[i]);
    }
}

int vls_processors_open(vls_feed *feed, valise_error *err)
{
    const valise_processor *const *list = vls_registry_processors(feed->v->registry);
    size_t count = 0;
    int rc;

    while (list && list[count])
        count++;
    if (count == 0)
        return 0;
    feed->processors = vls_mem_zalloc(feed->v->env, count * sizeof(vls_processor));
    if (!feed->processors)
        return vls_fail_memory(err);
    feed->processor_count = count;
    for (size_t i = 0; i < count; i++)
        feed->processors[i].table = list[i];
    rc = open_all(feed, err);
    if (rc == 0)
        store_places(feed);
    return rc;
}

void vls_processors_close(vls_feed *feed)
{
    if (feed->processor_count == 0)
        return;
    store_places(feed);
    for (size_t i = 0; i < feed->processor_count; i++)
        vls_ahead_release(&feed->processors[i].ahead);
    vls_mem_free(feed->v->env, feed->processors, feed->processor_count * sizeof(vls_processor));
    feed->processors = NULL;
    feed->processor_count = 0;
}
