/* node_decision.c -- DecisionNode: choose the action from a value, by rules, or by asking a model.
 * [F9]
 *
 *     {"key": "kind", "cases": {"refund": "pay", "question": "talk"}, "otherwise": "talk"}
 *     {"rules": [{"when": {">": [{"var": "amount"}, 100]}, "action": "ask"}], "otherwise": "pay"}
 *     {"prompt": "{{message}}", "choices": {"pay": "They want money back.", "talk": "Anything
 * else."}}
 *
 * Rules see what the node may read; what it may not is as if it were not there. */
#include "flow/nodes.h"

#include "base/text.h"
#include "flow/config.h"
#include "json/logic.h"
#include "json/make.h"

typedef struct decision_params {
    valise_str key, cases, rules, otherwise, prompt, system, choices; /* ptr NULL: not said */
    vls_ask_from from;
} decision_params;

static const valise_field decision_fields[] = {
    VALISE_FIELD_WITH(decision_params, key, STR, VALISE_NULLABLE,
                      "An item, \"key\" or \"key#/pointer\", that decides.", .min = 1,
                      .max = (int64_t)2 * VLS_BAG_KEY_MAX),
    VALISE_FIELD(decision_params, cases, JSON, VALISE_NULLABLE,
                 "With key: which action for which value."),
    VALISE_FIELD(decision_params, rules, JSON, VALISE_NULLABLE,
                 "An array of {\"when\": JSON Logic, \"action\"}: the first that is true decides."),
    VALISE_FIELD_WITH(decision_params, otherwise, STR, VALISE_NULLABLE,
                      "The action when no case and no rule fits; default when not given.", .min = 1,
                      .max = VLS_FLOW_ACTION_MAX),
    VALISE_FIELD(decision_params, prompt, STR, VALISE_NULLABLE,
                 "What a model is asked: a template."),
    VALISE_FIELD(decision_params, system, STR, VALISE_NULLABLE,
                 "What it is told beside that: a template."),
    VALISE_FIELD(decision_params, choices, JSON, VALISE_NULLABLE,
                 "With prompt: the actions, each with when to take it."),
    VLS_ASK_FIELDS(decision_params),
    VALISE_FIELD_END,
};

/* ---- when it is loaded ---- */

/* An object from texts to texts; actions are its values, or its keys. */
static int check_actions(const vls_checking *c, const char *param, bool keys)
{
    const vls_json *all = vls_json_get(c->node->params, valise_str_of(param));
    int rc = 0;

    if (!all || all->type == VLS_JSON_NULL)
        return 0;
    if (all->type != VLS_JSON_OBJECT || all->len == 0)
        return vls_check_fail(c, param, NULL, "it must be an object that is not empty");
    for (uint32_t i = 0; i < all->len && rc == 0; i++) {
        const vls_member *m = &all->members[i];
        valise_str action = vls_json_str(keys ? m->key : m->value);
        vls_config_place room;
        const char *place =
            vls_config_place_member(&room, valise_str_of(param), vls_json_str(m->key)).ptr;

        if (m->value.type != VLS_JSON_STRING)
            rc = vls_check_fail(c, place, NULL, "it must be a text, not %s",
                                vls_json_type_name(m->value));
        else if (!vls_flow_is_action(action))
            rc = vls_check_fail(c, place, NULL, "'%s' is not an action", vls_text_short(action).s);
    }
    return rc;
}

static int check_rule(const vls_checking *c, uint32_t i, vls_json rule)
{
    const vls_json *when = vls_json_get(rule, VLS_STR("when"));
    valise_error why = VALISE_ERROR_INIT;
    vls_config_place room;
    const char *place = vls_config_place_item(&room, VLS_STR("rules"), i).ptr;

    if (rule.type != VLS_JSON_OBJECT || rule.len != 2 || !when ||
        !vls_flow_is_action(vls_text_of(rule, "action")))
        return vls_check_fail(c, place, "write [{\"when\": {...}, \"action\": \"name\"}]",
                              "it must be a rule with an action");
    if (vls_logic_check(*when, &why) < 0)
        return vls_check_fail(c, place, why.hint, "%s", why.message);
    return 0;
}

static int check_rules(const vls_checking *c)
{
    const vls_json *rules = vls_json_get(c->node->params, VLS_STR("rules"));
    int rc = 0;

    if (!rules || rules->type == VLS_JSON_NULL)
        return 0;
    if (rules->type != VLS_JSON_ARRAY)
        return vls_check_fail(c, "rules", NULL, "it must be an array, not %s",
                              vls_json_type_name(*rules));
    for (uint32_t i = 0; i < rules->len && rc == 0; i++)
        rc = check_rule(c, i, rules->items[i]);
    return rc;
}

int vls_decision_check(const vls_flow_node *node, valise_str path, vls_flow_findings *findings,
                       valise_error *err)
{
    const vls_checking c = {node, path, findings, err};
    bool key = vls_check_has(&c, "key"), rules = vls_check_has(&c, "rules"),
         prompt = vls_check_has(&c, "prompt");
    int rc = 0;

    if (key + rules + prompt != 1)
        rc = vls_check_fail(&c, "", "key and cases, or rules, or prompt and choices",
                            "it must say how it decides, in exactly one way");
    if (rc == 0 && key != vls_check_has(&c, "cases"))
        rc = vls_check_fail(&c, "cases", NULL, "key and cases go together");
    if (rc == 0 && prompt != vls_check_has(&c, "choices"))
        rc = vls_check_fail(&c, "choices", NULL, "prompt and choices go together");
    if (rc == 0)
        rc = vls_check_pick(&c, "key");
    if (rc == 0)
        rc = check_actions(&c, "cases", false);
    if (rc == 0)
        rc = check_actions(&c, "choices", true);
    if (rc == 0)
        rc = check_rules(&c);
    if (rc == 0)
        rc = vls_check_ask(&c, false);
    return rc < 0 ? rc : vls_check_action(&c, "otherwise");
}

/* ---- by a value ---- */

static int by_value(valise_str *out, valise_node_run *at, const decision_params *params,
                    valise_error *err)
{
    vls_renderer r = vls_renderer_of(at);
    vls_json value = vls_json_null();
    valise_str text;
    vls_pick pick;
    int rc = vls_pick_parse(&pick, at->arena, params->key, err);

    if (rc == 0)
        rc = vls_pick_get(&value, &r, &pick, err);
    if (rc <= 0)
        return rc;
    text = vls_json_str(value);
    rc = value.type == VLS_JSON_STRING ? 0 : vls_json_text(&text, at->arena, value, err);
    if (rc == 0 && vls_json_get(vls_node_written(at, "cases"), text))
        *out = vls_json_str(*vls_json_get(vls_node_written(at, "cases"), text));
    return rc;
}

/* ---- by rules ---- */

typedef struct sight {
    valise_node_run *at;
    vls_vec(valise_str) keys;
    vls_vec(vls_member) members;
} sight;

static int add_key(void *arg, const valise_item *item, valise_error *err)
{
    sight *s = arg;
    valise_str key;
    int rc = vls_arena_dup(&key, s->at->arena, item->commit->key, err);

    if (rc < 0)
        return rc;
    return vls_vec_push_in(&s->keys, s->at->arena, key) ? 0 : vls_arena_fail(s->at->arena, err);
}

/* What it may not read, and what is not a key at all, is as if it were not there. */
static int add_value(sight *s, valise_str key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_arena *arena = s->at->arena;
    vls_member member = {.key = vls_json_string(key)};
    valise_str text;
    int rc = valise_unpack_str(&value, s->at->view, key, err);

    if (rc == VALISE_E_DENIED || rc == VALISE_E_INVALID)
        return 0;
    if (rc <= 0)
        return rc;
    rc = vls_arena_dup(&text, arena, vls_blob_bytes(value), err);
    if (rc == 0)
        rc = vls_json_parse(&member.value, arena, text, NULL, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&s->members, arena, member) ? 0 : vls_arena_fail(arena, err);
}

static int look(vls_json *out, valise_node_run *at, vls_json rule, valise_error *err)
{
    sight s = {.at = at};
    const valise_str *reads = NULL;
    size_t count = 0;
    int rc = vls_rule_reads(&reads, &count, at->arena, rule, err);

    if (rc == 0 && !reads) {
        rc = valise_each_key(at->view, add_key, &s, err);
        reads = s.keys.ptr;
        count = s.keys.len;
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_value(&s, reads[i], err);
    return rc < 0 ? rc : vls_json_object(out, s.members.ptr, s.members.len, err);
}

static int by_rules(valise_str *out, valise_node_run *at, valise_error *err)
{
    vls_json rules = vls_node_written(at, "rules");

    for (uint32_t i = 0; i < rules.len; i++) {
        vls_json when = vls_member_of(rules.items[i], "when"), data;
        bool holds = false;
        int rc = look(&data, at, when, err);

        if (rc == 0)
            rc = vls_logic_holds(&holds, at->arena, when, data, NULL, err);
        if (rc < 0) {
            vls_error_prepend(err, "params.rules[%u].when", i);
            return rc;
        }
        if (holds) {
            *out = vls_text_of(rules.items[i], "action");
            return 0;
        }
    }
    return 0;
}

/* ---- the phases ---- */

typedef struct decision {
    valise_str prompt, system;
    valise_str action;
} decision;

static int prep(void *node, valise_node_run *at, valise_error *err)
{
    const decision_params *params = at->values;
    decision *d;
    int rc = vls_node_data_new(&d, at, sizeof(*d), err);

    (void)node;
    if (rc < 0)
        return rc;
    d->action = params->otherwise;
    if (params->key.ptr)
        return by_value(&d->action, at, params, err);
    if (params->rules.ptr)
        return by_rules(&d->action, at, err);
    rc = vls_node_text(&d->prompt, at, "prompt", err);
    return rc < 0 ? rc : vls_node_text(&d->system, at, "system", err);
}

static int exec(void *node, valise_node_run *at, valise_error *err)
{
    const decision_params *params = at->values;
    decision *d = at->data;

    (void)node;
    if (!params->prompt.ptr)
        return 0;
    return vls_flow_choose(&d->action, at, &params->from, d->system, d->prompt,
                           vls_node_written(at, "choices"), err);
}

static int post(void *node, valise_node_run *at, valise_error *err)
{
    const decision *d = at->data;

    (void)node;
    return vls_node_choose(at, d->action, err);
}

const valise_node_type vls_node_decision = {
    .size = sizeof(valise_node_type),
    .name = "DecisionNode",
    .brief = "Chooses the action from a value, by rules, or by asking a model.",
    .params = decision_fields,
    .params_size = sizeof(decision_params),
    .prep = prep,
    .exec = exec,
    .post = post,
};
