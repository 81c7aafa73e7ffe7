/* node_map.c -- MapNode: a flow for each element of an array, several at once. [F9] [F18]
 *
 *     {"over": "orders", "as": "order", "flow": {...}, "collect": "total", "into": "totals",
 *      "parallel": 8, "reduce": {"log": "append"}}
 *
 * Each element has a fork of the backpack (fan.h), with the element under `as` and its number under
 * `index`; what its flow packed under `collect` becomes a result, in the order of elements. An
 * object is taken member by member: `index` is the key then, and the results are an object again.
 * What else the flows packed comes back into the backpack, as it was packed: who did it is kept.
 *
 * One that fails stops the others, and nothing of any comes back: those behind it at once, those
 * before it soon after. So of several that fail together the first one is told, whoever was faster.
 * With "onError": "null" its result is null, and only its own changes are lost.
 *
 * Maps in maps multiply: all of a run have VLS_FLOW_THREADS_MAX threads together. */
#include "base/text.h"
#include "base/threads.h"
#include "flow/config.h"
#include "flow/fan.h"
#include "json/make.h"

#define PARALLEL 4
#define PARALLEL_MAX 64
#define LOOK_NS INT64_C(20000000)
#define PATIENCE_NS INT64_C(2000000000) /* with those before one that failed */

_Static_assert(PARALLEL_MAX <= VLS_THREADS_MAX, "a map has all threads that it may have");

static const char *const on_errors[] = {"fail", "null", NULL};

static const valise_field map_fields[] = {
    VALISE_FIELD_WITH(vls_fan_params, over, STR, VALISE_REQUIRED,
                      "The item with the elements: \"key\" or \"key#/pointer\".", .min = 1,
                      .max = (int64_t)2 * VLS_BAG_KEY_MAX),
    VALISE_FIELD(vls_fan_params, flow, JSON, VALISE_REQUIRED, "What runs for each: a flow."),
    VALISE_FIELD_WITH(vls_fan_params, as, STR, VALISE_NULLABLE,
                      "The key of the element, item when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(vls_fan_params, index, STR, VALISE_NULLABLE,
                      "The key of its number, or of its key; index when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(
        vls_fan_params, collect, STR, VALISE_NULLABLE,
        "The key of what comes of an element, which must be there; else result, if it "
        "is.",
        .min = 1, .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(vls_fan_params, into, STR, VALISE_NULLABLE,
                      "The key of all results, results when not given.", .min = 1,
                      .max = VLS_BAG_KEY_MAX),
    VALISE_FIELD_WITH(vls_fan_params, parallel, INT, VALISE_NULLABLE,
                      "How many run at once, 4 when not given.", .min = 1, .max = PARALLEL_MAX),
    VALISE_FIELD(vls_fan_params, reduce, JSON, VALISE_NULLABLE,
                 "Keys that several may write, and how they come together: " VLS_FAN_REDUCERS "."),
    VALISE_FIELD_AS_WITH(vls_fan_params, on_error, "onError", ENUM, 0,
                         "Of an element that fails: the node fails, or the result is null.",
                         .more = on_errors),
    VALISE_FIELD_END,
};

/* ---- its keys ---- */

/* As they are where they are not said. */
static const struct {
    const char *param, *usual;
} own_keys[] = {{"as", "item"}, {"index", "index"}, {"collect", "result"}, {"into", "results"}};
enum { AS, INDEX, COLLECT, INTO };

static valise_str or_usual(valise_str said, int which)
{
    return said.ptr ? said : valise_str_of(own_keys[which].usual);
}

/* ---- when it is loaded ---- */

static int check_reduce(const vls_checking *c)
{
    const vls_json *reduce = vls_json_get(c->node->params, VLS_STR("reduce"));
    int rc = 0;

    if (!reduce || reduce->type == VLS_JSON_NULL)
        return 0;
    if (reduce->type != VLS_JSON_OBJECT)
        return vls_check_fail(c, "reduce", NULL, "it must be an object, not %s",
                              vls_json_type_name(*reduce));
    for (uint32_t i = 0; i < reduce->len && rc == 0; i++) {
        const vls_member *m = &reduce->members[i];
        vls_config_place room;

        if (m->value.type != VLS_JSON_STRING || !vls_fan_is_reducer(vls_json_str(m->value)))
            rc = vls_check_fail(
                c, vls_config_place_member(&room, VLS_STR("reduce"), vls_json_str(m->key)).ptr,
                "it is one of " VLS_FAN_REDUCERS, "there is no such reducer");
    }
    return rc;
}

static valise_str key_of(const vls_checking *c, int which)
{
    const vls_json *said = vls_json_get(c->node->params, valise_str_of(own_keys[which].param));

    return said && said->type == VLS_JSON_STRING ? vls_json_str(*said)
                                                 : valise_str_of(own_keys[which].usual);
}

static int fail_same(const vls_checking *c, int one, const char *other, valise_str key)
{
    return vls_check_fail(c, own_keys[one].param, "give one of them another key",
                          "it is '%s', and so is %s", vls_text_short(key).s, other);
}

/* One would be written over the other: what an element gets, and what it gives; what was reduced,
 * and what the results are packed under. */
static int check_apart(const vls_checking *c)
{
    static const int pairs[][2] = {{INDEX, AS}, {COLLECT, AS}, {COLLECT, INDEX}};
    static const int reduced[] = {AS, INDEX, INTO};
    const vls_json *reduce = vls_json_get(c->node->params, VLS_STR("reduce"));
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(pairs) && rc == 0; i++) {
        valise_str key = key_of(c, pairs[i][0]);
        if (vls_str_equal(key, key_of(c, pairs[i][1])))
            rc = fail_same(c, pairs[i][0], own_keys[pairs[i][1]].param, key);
    }
    for (size_t i = 0; i < VLS_COUNT(reduced) && rc == 0; i++) {
        valise_str key = key_of(c, reduced[i]);
        if (reduce && reduce->type == VLS_JSON_OBJECT && vls_json_get(*reduce, key))
            rc = fail_same(c, reduced[i], "a key of reduce", key);
    }
    return rc;
}

int vls_map_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                  valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    int rc = check_reduce(&c);

    for (size_t i = 0; i < VLS_COUNT(own_keys) && rc == 0; i++)
        rc = vls_check_key(&c, own_keys[i].param);
    if (rc == 0)
        rc = check_apart(&c);
    return rc < 0 ? rc : vls_check_pick(&c, "over");
}

int vls_map_compose(vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                    valise_error *err)
{
    const vls_json *config = vls_json_get(node->params, VLS_STR("flow"));
    valise_error why = VALISE_ERROR_INIT;
    valise_flow *inner = NULL;
    vls_config_place room;
    int rc;

    if (!config) /* that it is missing was said */
        return 0;
    rc = vls_flow_make_inner(&inner, node, &why);
    if (rc < 0)
        return vls_flow_findings_take(findings, path, &why, err);
    return vls_flow_read(inner, *config, vls_config_place_member(&room, path, VLS_STR("flow")),
                         findings, err);
}

/* ---- prep: the elements ---- */

static int make_elements(vls_fan *fan, vls_json over, valise_error *err)
{
    vls_arena *arena = fan->at->arena;
    bool object = over.type == VLS_JSON_OBJECT;

    fan->elements = vls_arena_zalloc(arena, VLS_MAX(over.len, 1u) * sizeof(*fan->elements));
    if (!fan->elements)
        return vls_arena_fail(arena, err);
    fan->count = over.len;
    fan->keys = object ? over : vls_json_null();
    for (uint32_t i = 0; i < over.len; i++) {
        vls_fan_element *element = &fan->elements[i];
        vls_buf path;
        int rc;

        element->fan = fan;
        element->number = i;
        element->value = object ? over.members[i].value : over.items[i];
        element->index = object ? over.members[i].key : vls_json_int(i);
        element->result = vls_json_null();
        vls_buf_init_in(&path, arena, VLS_FLOW_PATH_MAX);
        vls_buf_add(&path, fan->at->path);
        vls_buf_printf(&path, "/%u", i);
        rc = vls_buf_keep(&element->path, &path, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    const vls_fan_params *params = at->values;
    vls_renderer r = vls_renderer_of(at);
    vls_json over = vls_json_null();
    vls_pick pick;
    vls_fan *fan;
    int rc = vls_node_data_new(&fan, at, sizeof(*fan), err);

    (void)node;
    if (rc == 0)
        rc = vls_pick_parse(&pick, at->arena, params->over, err);
    if (rc == 0)
        rc = vls_pick_get(&over, &r, &pick, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        over = vls_json_array(NULL, 0);
    if (over.type != VLS_JSON_ARRAY && over.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "'%s' has no elements: it is %s",
                        vls_text_short(params->over).s, vls_json_type_name(over));
    if (over.len > VLS_FAN_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "there are %u elements; at most %u are allowed",
                        over.len, VLS_FAN_MAX);
    fan->at = at;
    fan->params = params;
    fan->reduce = vls_node_written(at, "reduce");
    fan->as = or_usual(params->as, AS);
    fan->index = or_usual(params->index, INDEX);
    fan->collect = or_usual(params->collect, COLLECT);
    return make_elements(fan, over, err);
}

/* ---- exec: all of them ---- */

/* Those behind it are not needed any more. */
static void stop_behind(vls_fan_element *element)
{
    _Atomic int64_t *failed = &element->fan->group.failed;
    int64_t first = atomic_load_explicit(failed, memory_order_relaxed);

    while ((int64_t)element->number < first &&
           !atomic_compare_exchange_weak_explicit(failed, &first, (int64_t)element->number,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

static int fail_element(vls_fan_element *element, int rc, const valise_error *why)
{
    vls_fan *fan = element->fan;

    if (fan->params->on_error == VLS_FAN_NULL && !vls_flow_is_final(rc)) {
        vls_flow_warn(fan->at->run, fan->at, "element '%.*s' failed and is set to null: %s",
                      VALISE_STR_ARG(element->path), why->message);
        element->left = true;
        element->result = vls_json_null();
        return 0;
    }
    element->failed = rc;
    element->why = vls_arena_alloc(&element->arena, sizeof(*why));
    if (element->why)
        *element->why = *why;
    stop_behind(element);
    return rc;
}

static int run_item(void *arg, size_t i, const atomic_bool *stop, valise_error *err)
{
    vls_fan_element *element = &((vls_fan *)arg)->elements[i];
    int rc = vls_fan_run_element(element, err);

    (void)stop; /* elements look at fan->group: those before one that failed go on */
    return rc < 0 ? fail_element(element, rc, err) : 0;
}

/* The first one that failed by itself: those behind it were only stopped. */
static int find_failure(const vls_fan *fan, int rc, valise_error *err)
{
    for (size_t i = 0; i < fan->count; i++) {
        const vls_fan_element *element = &fan->elements[i];

        if (element->failed == 0 || element->failed == VALISE_E_CANCELLED)
            continue;
        if (element->why && err)
            *err = *element->why;
        fan->at->run->blamed = element->node[0] != '\0'; /* it says which node it was */
        memcpy(fan->at->run->last, element->node, sizeof(element->node));
        return element->failed;
    }
    return rc;
}

/* Did one fail so long ago that nobody waits for those before it? */
static bool is_enough(vls_fan *fan)
{
    const valise_env *env = fan->at->run->env;
    int64_t now = env->ticks_ns(env->self);

    if (atomic_load_explicit(&fan->group.failed, memory_order_relaxed) == INT64_MAX)
        return false;
    if (fan->failed_ns == VALISE_NONE)
        fan->failed_ns = now;
    return now - fan->failed_ns >= PATIENCE_NS;
}

/* While others work this thread asks whether all of it is to end. */
static int look(void *arg, valise_error *err)
{
    vls_fan *fan = arg;
    int rc = vls_node_look(fan->at, err);

    if (rc < 0 || is_enough(fan))
        atomic_store_explicit(&fan->group.stop, VALISE_E_CANCELLED, memory_order_relaxed);
    return rc;
}

/* Of those that are left to the run: a map in a map may find none, and runs its elements one after
 * the other on the thread it has. With one it would be the same. */
static unsigned take_threads(atomic_uint *left, const vls_fan *fan)
{
    int64_t wanted = fan->params->parallel == VALISE_NONE ? PARALLEL : fan->params->parallel;
    unsigned there = atomic_load_explicit(left, memory_order_relaxed), taken;

    do {
        taken = (unsigned)VLS_MIN(VLS_MIN(wanted, (int64_t)fan->count), (int64_t)there);
        if (taken <= 1)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(left, &there, there - taken,
                                                    memory_order_relaxed, memory_order_relaxed));
    return taken;
}

static int run_all(vls_fan *fan, valise_error *err)
{
    atomic_uint *left = &vls_flow_root(fan->at->run)->threads;
    const vls_threads_work work = {.count = fan->count,
                                   .threads = take_threads(left, fan),
                                   .item = run_item,
                                   .look = look,
                                   .look_ns = LOOK_NS,
                                   .arg = fan};
    int rc = vls_threads_run(&work, err);

    (void)atomic_fetch_add_explicit(left, work.threads, memory_order_relaxed);
    return rc < 0 ? find_failure(fan, rc, err) : 0;
}

/* A run between that of the node and those of its elements. */
static void begin_group(vls_fan *fan)
{
    fan->failed_ns = VALISE_NONE;
    vls_flow_run_init_within(&fan->group, fan->at->run, fan->at->run->bag);
    fan->inside = *fan->at;
    fan->inside.run = &fan->group;
}

static int make_results(vls_json *out, const vls_fan *fan, valise_error *err)
{
    vls_arena *arena = fan->at->arena;
    bool object = fan->keys.type == VLS_JSON_OBJECT;
    vls_json *items = vls_arena_array(arena, VLS_MAX(fan->count, (size_t)1), sizeof(*items));
    vls_member *members =
        object ? vls_arena_array(arena, VLS_MAX(fan->count, (size_t)1), sizeof(*members)) : NULL;
    int rc = 0;

    if (!items || (object && !members))
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < fan->count && rc == 0; i++) {
        rc = vls_json_copy(&items[i], arena, fan->elements[i].result, err);
        if (rc == 0 && members)
            members[i] = (vls_member){fan->keys.members[i].key, items[i]};
    }
    if (rc < 0)
        return rc;
    if (members)
        return vls_json_object(out, members, fan->count, err);
    *out = vls_json_array(items, fan->count);
    return 0;
}

static bool has_mark(const valise_taint *const *marks, size_t count, valise_str tag)
{
    for (size_t i = 0; i < count; i++) {
        if (vls_str_equal(marks[i]->tag, tag))
            return true;
    }
    return false;
}

/* What the node took from its elements it has read: of each tag the first one that had it. */
static int mark(const vls_fan *fan, valise_error *err)
{
    vls_vec(const valise_taint *) marks = VLS_VEC_INIT;

    for (size_t i = 0; i < fan->count; i++) {
        const vls_fan_element *element = &fan->elements[i];

        for (size_t k = 0; k < element->marks.len && !element->left; k++) {
            const valise_taint *taint = &element->marks.ptr[k];

            if (!has_mark(marks.ptr, marks.len, taint->tag) &&
                !vls_vec_push_in(&marks, fan->at->arena, taint))
                return vls_arena_fail(fan->at->arena, err);
        }
    }
    return vls_handle_mark(fan->at->view, (valise_list){marks.ptr, marks.len}, err);
}

static int bring_back(vls_fan *fan, valise_error *err)
{
    vls_json reduced = vls_json_null();
    int rc = vls_fan_check(fan, err);

    if (rc == 0)
        rc = mark(fan, err);

    if (rc == 0)
        rc = vls_fan_reduce(&reduced, fan, err);
    if (rc == 0)
        rc = vls_json_copy(&fan->reduced, fan->at->arena, reduced, err);
    if (rc == 0)
        rc = make_results(&fan->results, fan, err);
    return rc < 0 ? rc : vls_fan_merge(fan, err);
}

/* What elements used is gone, whatever came of them. */
static int end_all(vls_fan *fan, int rc, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    for (size_t i = 0; i < fan->count; i++) {
        vls_fan_element *element = &fan->elements[i];
        int dropped = element->arena.env ? vls_fan_drop(element, &why) : 0;

        if (dropped < 0 && rc == 0) {
            rc = dropped;
            if (err)
                *err = why;
        }
        vls_arena_release(&element->arena);
    }
    valise_backpack_close(fan->base);
    fan->base = NULL;
    vls_flow_run_release(&fan->group);
    return rc;
}

/* An attempt begins anew. */
static void reset(vls_fan *fan)
{
    for (size_t i = 0; i < fan->count; i++) {
        vls_fan_element *element = &fan->elements[i];

        *element = (vls_fan_element){.fan = fan,
                                     .number = element->number,
                                     .value = element->value,
                                     .index = element->index,
                                     .path = element->path,
                                     .result = vls_json_null()};
    }
    fan->at->run->blamed = false;
}

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    vls_fan *fan = at->data;
    int rc;

    (void)node;
    reset(fan);
    begin_group(fan);
    rc = valise_snapshot_at(&fan->base, at->run->bag, VLS_STR("now"), err);
    if (rc == 0)
        rc = vls_handle_marks(&fan->marks, at->view, at->arena, err);
    if (rc == 0)
        rc = run_all(fan, err);
    if (rc == 0)
        rc = bring_back(fan, err);
    return end_all(fan, rc, err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const vls_fan_params *params = at->values;
    const vls_fan *fan = at->data;
    int rc = 0;

    (void)node;
    for (uint32_t i = 0; i < fan->reduced.len && rc == 0; i++)
        rc = vls_node_pack(at, vls_json_str(fan->reduced.members[i].key),
                           fan->reduced.members[i].value, err);
    return rc < 0 ? rc : vls_node_pack(at, or_usual(params->into, INTO), fan->results, err);
}

const valise_node_type vls_node_map = {
    .size = sizeof(valise_node_type),
    .name = "MapNode",
    .brief = "Runs a flow for each element of an array, several at once.",
    .params = map_fields,
    .params_size = sizeof(vls_fan_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
