/* tell.c -- what happens in a run, as live events. [F12]
 *
 * They carry keys, sizes, names and durations, no values: what is said through valise_node_stream
 * and valise_node_tell is the node's business. Params are told as they were written, so that no
 * reference is resolved. docs/events.md lists them. */
#include <stdarg.h>

#include "base/text.h"
#include "flow/level.h"

#define PAYLOAD_MAX ((size_t)1 << 20)
#define TYPE_MAX 64
#define NUMBERS_MAX 512u /* what else there is to say of a node that begins */

bool vls_flow_listens(const vls_flow_run *run)
{
    return vls_bus_listens(run->v);
}

void vls_flow_tell(const vls_flow_run *run, const valise_node_run *at, const char *name,
                   valise_str payload)
{
    char type[TYPE_MAX];
    valise_event event = {
        .size = sizeof(event), .run_id = valise_str_of(run->id_text.s), .payload = payload};

    if (!vls_flow_listens(run))
        return;
    memcpy(type, "flow:", 5);
    memccpy(type + 5, name, '\0', sizeof(type) - 6);
    type[sizeof(type) - 1] = '\0';
    event.type = valise_str_of(type);
    if (at) {
        event.node_id = at->path;
        event.namespace_name = at->namespace_name;
    }
    (void)valise_publish(run->v, run->actor, &event, NULL);
}

static void tell(const vls_flow_run *run, const valise_node_run *at, const char *name,
                 vls_buf *payload)
{
    if (vls_buf_check(payload, NULL) == 0)
        vls_flow_tell(run, at, name, vls_buf_str(payload));
    vls_buf_release(payload);
}

static void begin(vls_buf *payload, const vls_flow_run *run)
{
    vls_buf_init(payload, run->env, PAYLOAD_MAX);
    vls_buf_add_byte(payload, '{');
}

/* Members in the order of their names: what is canonical is not read again. Printing would cost
 * more than the rest of an event. */
static void add_key(vls_buf *payload, const char *name)
{
    vls_buf_add_text(payload, payload->len > 1 ? ",\"" : "\"");
    vls_buf_add_text(payload, name);
    vls_buf_add(payload, VLS_STR("\":"));
}

static void add_int(vls_buf *payload, const char *name, int64_t value)
{
    add_key(payload, name);
    vls_buf_add_i64(payload, value);
}

static void add_ns(vls_buf *payload, int64_t ns)
{
    add_int(payload, "durationNs", ns);
}

static void add_truth(vls_buf *payload, const char *name, bool truth)
{
    add_key(payload, name);
    vls_buf_add_text(payload, truth ? "true" : "false");
}

static void add_text(vls_buf *payload, const char *name, valise_str text)
{
    add_key(payload, name);
    vls_json_write_string(payload, text);
}

void vls_flow_warn(const vls_flow_run *run, const valise_node_run *at, const char *format, ...)
{
    char text[512];
    vls_buf payload;
    va_list args;

    if (!vls_flow_listens(run))
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    begin(&payload, run);
    add_text(&payload, "message", valise_str_of(text));
    vls_buf_add_byte(&payload, '}');
    tell(run, at, "WARNING", &payload);
}

/* ---- the run ---- */

void vls_flow_tell_start(const vls_flow_run *run)
{
    vls_buf payload;

    if (!run->watches)
        return;
    begin(&payload, run);
    add_text(&payload, "backpack", run->bag->name);
    if (run->flow->namespace_name.len > 0)
        add_text(&payload, "namespace", run->flow->namespace_name);
    add_int(&payload, "nodes", (int64_t)run->flow->node_count);
    vls_buf_add_byte(&payload, '}');
    tell(run, NULL, "FLOW_START", &payload);
}

void vls_flow_tell_end(const vls_flow_run *run, int code, const valise_error *why, int64_t ns)
{
    vls_buf payload;

    if (!run->watches)
        return;
    begin(&payload, run);
    if (code == 0)
        add_text(&payload, "action", valise_str_of(run->action));
    else {
        add_text(&payload, "code", valise_str_of(valise_error_name(code)));
        add_text(&payload, "message", valise_str_of(why->message));
    }
    add_ns(&payload, ns);
    add_text(&payload, "status",
             code == 0                    ? VLS_STR("done")
             : code == VALISE_E_CANCELLED ? VLS_STR("cancelled")
                                          : VLS_STR("failed"));
    add_int(&payload, "steps", atomic_load_explicit(&run->steps, memory_order_relaxed));
    vls_buf_add_byte(&payload, '}');
    tell(run, NULL, "FLOW_END", &payload);
}

/* ---- a node ---- */

void vls_flow_tell_node_start(const valise_node_run *at)
{
    vls_buf payload;
    int64_t seq = 0;

    if (!at->run->watches)
        return;
    (void)vls_flow_seq(&seq, at->run, NULL);
    begin(&payload, at->run);
    add_key(&payload, "params");
    if (vls_json_write(&payload, at->node->params, NULL) < 0 ||
        payload.len > PAYLOAD_MAX - NUMBERS_MAX) { /* that it begins is told in any case */
        vls_buf_release(&payload);
        begin(&payload, at->run);
        add_key(&payload, "params");
        vls_buf_add_text(&payload, "null");
    }
    add_int(&payload, "seq", seq);
    add_text(&payload, "type", valise_str_of(at->node->type->name));
    add_int(&payload, "visit", at->visit);
    vls_buf_add_byte(&payload, '}');
    tell(at->run, at, "NODE_START", &payload);
}

static const char *outcome_name(int64_t outcome)
{
    return outcome == VALISE_READ_DENIED   ? "denied"
           : outcome == VALISE_READ_ABSENT ? "absent"
                                           : "found";
}

/* What it read, with the outcome; or the keys that it wrote, each with what was done. */
static void add_seen(vls_buf *payload, const valise_node_run *at, bool writes)
{
    const size_t before = payload->len;
    bool first = true;

    add_key(payload, writes ? "writes" : "reads");
    vls_buf_add_byte(payload, '[');
    for (size_t i = 0; i < at->seen.len; i++) {
        const vls_touch *seen = &at->seen.ptr[i];
        bool read = seen->action == VALISE_ACTION_UNPACK;

        if (seen->inside || read == writes || (writes && seen->outcome == VALISE_READ_DENIED))
            continue;
        vls_buf_add_text(payload, first ? "{" : ",{");
        if (writes) {
            vls_buf_add(payload, VLS_STR("\"action\":"));
            vls_json_write_string(payload, valise_str_of(vls_bag_actions[seen->action]));
            vls_buf_add_byte(payload, ',');
        }
        vls_buf_add(payload, VLS_STR("\"key\":"));
        vls_json_write_string(payload, seen->key);
        if (!writes) {
            vls_buf_add(payload, VLS_STR(",\"outcome\":"));
            vls_json_write_string(payload, valise_str_of(outcome_name(seen->outcome)));
        }
        vls_buf_add_byte(payload, '}');
        first = false;
    }
    vls_buf_add_byte(payload, ']');
    if (payload->failed == VALISE_E_TOO_LARGE || payload->len == PAYLOAD_MAX) {
        payload->len = before;
        payload->failed = 0;
        add_key(payload, writes ? "writes" : "reads");
        vls_buf_add_text(payload, "null"); /* that it is over is told in any case */
    }
}

void vls_flow_tell_prep(const valise_node_run *at, int64_t ns)
{
    vls_buf payload;

    if (!at->run->watches)
        return;
    begin(&payload, at->run);
    add_ns(&payload, ns);
    add_seen(&payload, at, false);
    vls_buf_add_byte(&payload, '}');
    tell(at->run, at, "PREP_COMPLETE", &payload);
}

void vls_flow_tell_exec(const valise_node_run *at, int64_t ns)
{
    vls_buf payload;

    if (!at->run->watches)
        return;
    begin(&payload, at->run);
    add_int(&payload, "attempts", at->attempt);
    add_ns(&payload, ns);
    vls_buf_add_byte(&payload, '}');
    tell(at->run, at, "EXEC_COMPLETE", &payload);
}

void vls_flow_tell_node_end(const valise_node_run *at, const vls_flow_step *step, int64_t ns)
{
    vls_buf payload;

    if (!at->run->watches)
        return;
    begin(&payload, at->run);
    if (step)
        add_text(&payload, "action", valise_str_of(step->action));
    add_ns(&payload, ns);
    add_truth(&payload, "failed", !step || step->failed);
    if (step && step->next)
        add_text(&payload, "next", step->next->id);
    add_int(&payload, "visit", at->visit);
    add_seen(&payload, at, true);
    vls_buf_add_byte(&payload, '}');
    tell(at->run, at, "NODE_END", &payload);
}

void vls_flow_tell_error(const valise_node_run *at, const valise_error *why, bool again)
{
    vls_buf payload;

    if (!at->run->watches)
        return;
    begin(&payload, at->run);
    add_int(&payload, "attempt", at->attempt);
    add_text(&payload, "code", valise_str_of(valise_error_name(why->code)));
    add_text(&payload, "message", valise_str_of(why->message));
    add_text(&payload, "phase", valise_str_of(vls_phases[at->phase]));
    add_truth(&payload, "retry", again);
    vls_buf_add_byte(&payload, '}');
    tell(at->run, at, "ERROR", &payload);
}
