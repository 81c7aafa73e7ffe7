/* lint.c -- numbered rules, each over messages of (role, blocks). [P13]
 *
 * They know nothing of repairs: the same rules look at a prompt as it is, at a request that was
 * read back, and, in tests, at every plan that was made. rules.h has the numbers. */
#include "wire/lint.h"

#include <stdarg.h>

#include "json/make.h"
#include "wire/settle.h"
#include "wire/plan_impl.h"
#include "wire/schema.h"
#include "wire/thinking.h"

typedef struct linting {
    vls_findings *out;
    vls_arena *arena;
    const vls_adapter *adapter;
    const vls_plan *plan;
    const vls_neutral *prompt;
    valise_error *err;
} linting;

#define demands(l, flag) (((l)->plan->demands & VLS_DEMANDS_##flag) != 0)

/* ---- findings ---- */

typedef struct spot {
    const char *area;  /* "messages", "system", "tools"; NULL: the whole */
    int32_t at, block; /* -1: none */
} spot;

/* Where a request has it, when it was read from one. */
static valise_str given_place(const linting *l, spot where)
{
    vls_json message, blocks;
    valise_str place = {NULL, 0};

    if (!l->prompt || !where.area || strcmp(where.area, "messages") != 0 || where.at < 0 ||
        (uint32_t)where.at >= l->prompt->messages.len)
        return place;
    message = l->prompt->messages.items[where.at];
    blocks = vls_message_blocks(message);
    if (where.block >= 0 && (uint32_t)where.block < blocks.len)
        place = vls_block_text(blocks.items[where.block], "x-place");
    return place.len > 0 ? place : vls_block_text(message, "x-place");
}

static int make_place(valise_str *out, linting *l, spot where)
{
    vls_buf text;

    *out = given_place(l, where);
    if (out->len > 0 || !l->prompt || !where.area || where.at < 0)
        return 0;
    vls_buf_init_in(&text, l->arena, 64);
    vls_buf_printf(&text, "%s[%d]", where.area, where.at);
    if (where.block >= 0)
        vls_buf_printf(&text, ".blocks[%d]", where.block);
    return vls_buf_keep(out, &text, l->err);
}

static int find_at(linting *l, const char *rule, spot where, valise_str more)
{
    const vls_wire_rule *known = vls_wire_rule_find(rule);
    vls_wire_finding finding = {.rule = rule, .what = known ? known->wrong : "", .more = more};
    int rc;

    if (l->out->len >= VLS_FINDINGS_MAX)
        return 0;
    rc = make_place(&finding.place, l, where);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(l->out, l->arena, finding) ? 0 : vls_arena_fail(l->arena, l->err);
}

static int find(linting *l, const char *rule, const vls_plan_block *block, valise_str more)
{
    return find_at(l, rule, (spot){"messages", block->at, block->block}, more);
}

/* The message as a whole. */
static int find_message(linting *l, const char *rule, const vls_plan_message *message)
{
    return find_at(l, rule, (spot){"messages", message->blocks.ptr[0].at, -1}, VLS_STR(""));
}

/* ---- R1: pairs ---- */

typedef struct pairing {
    linting *l;
    vls_planning p; /* for ids: calls that wait */
    size_t answered;
    bool other; /* something else came since the calls */
} pairing;

static int open_call(pairing *w, const vls_plan_block *call)
{
    vls_open_call open = {.id = call->id, .message = call->at, .block = call->block, .next = -1};

    open.by_message = -1;
    if (!vls_vec_push_in(&w->p.calls, w->l->arena, open))
        return vls_arena_fail(w->l->arena, w->l->err);
    return vls_planning_wait(&w->p, call->id, w->p.calls.len - 1);
}

/* The assistant goes on: what has no result gets none. */
static int close_calls(pairing *w)
{
    int rc = 0;

    for (size_t i = 0; i < w->p.calls.len && rc == 0; i++) {
        const vls_open_call *call = &w->p.calls.ptr[i];
        if (call->by_message < 0)
            rc = find_at(w->l, VLS_R_NO_RESULT, (spot){"messages", call->message, call->block},
                         call->id);
    }
    w->p.calls.len = w->answered = 0;
    w->p.group++;
    w->other = false;
    return rc;
}

static int take_result(pairing *w, const vls_plan_block *result)
{
    int64_t call = vls_planning_answer(&w->p, result->id);

    if (call < 0)
        return find(w->l, VLS_R_NO_CALL, result, result->id);
    w->p.calls.ptr[call].by_message = 0;
    w->answered++;
    if (w->other)
        return find(w->l, VLS_R_APART, result, result->id);
    if ((size_t)call != w->answered - 1)
        return find(w->l, VLS_R_RESULT_ORDER, result, result->id);
    return 0;
}

static int pair_message(pairing *w, const vls_plan_message *message)
{
    bool assistant = message->role == VLS_SAYS_ASSISTANT;
    int rc = assistant ? close_calls(w) : 0;

    for (size_t i = 0; i < message->blocks.len && rc == 0; i++) {
        const vls_plan_block *block = &message->blocks.ptr[i];
        if (block->kind == VLS_SAID_RESULT)
            rc = take_result(w, block);
        else if (block->kind == VLS_SAID_CALL && assistant)
            rc = open_call(w, block);
        else if (block->kind == VLS_SAID_CALL)
            rc = find(w->l, VLS_R_NOT_ITS_CALL, block, block->id);
        else
            w->other = w->other || !assistant;
    }
    return rc;
}

static int rule_pairs(linting *l)
{
    pairing w = {.l = l, .p = {.arena = l->arena, .err = l->err}};
    int rc = 0;

    vls_plan_names_init(&w.p.names, l->arena->env);
    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++)
        rc = pair_message(&w, &l->plan->messages.ptr[i]);
    if (rc == 0)
        rc = close_calls(&w);
    vls_plan_names_release(&w.p.names);
    return rc;
}

/* ---- R2, R5: order ---- */

static int look_between(linting *l, const vls_plan_message *before, const vls_plan_message *message)
{
    if (demands(l, BRIDGE) && before->role == VLS_SAYS_TOOL && message->role == VLS_SAYS_USER)
        return find_message(l, VLS_R_BRIDGE, message);
    if (demands(l, ALTERNATION) && before->role == message->role && message->role != VLS_SAYS_TOOL)
        return find_message(l, VLS_R_NEIGHBOURS, message);
    return 0;
}

static int look_at_first(linting *l)
{
    for (size_t i = 0; i < l->plan->messages.len; i++) {
        const vls_plan_message *message = &l->plan->messages.ptr[i];
        if (message->role == VLS_SAYS_SYSTEM)
            continue;
        if (message->role == VLS_SAYS_USER || !demands(l, USER_FIRST))
            return 0;
        return find_message(l, VLS_R_FIRST, message);
    }
    return 0;
}

static int look_at_last(linting *l)
{
    size_t count = l->plan->messages.len;
    const vls_plan_message *last = count > 0 ? &l->plan->messages.ptr[count - 1] : NULL;

    if (!last || !demands(l, USER_LAST) || last->role == VLS_SAYS_USER ||
        last->role == VLS_SAYS_TOOL)
        return 0;
    return find_message(l, last->role == VLS_SAYS_ASSISTANT ? VLS_R_PREFILL : VLS_R_LAST, last);
}

static int look_beside_results(linting *l, const vls_plan_message *message)
{
    for (size_t i = 0; i < message->blocks.len && message->role == VLS_SAYS_TOOL; i++) {
        if (message->blocks.ptr[i].kind != VLS_SAID_RESULT)
            return find(l, VLS_R_BESIDE_RESULTS, &message->blocks.ptr[i], VLS_STR(""));
    }
    return 0;
}

static int rule_order(linting *l)
{
    int rc = look_at_first(l);

    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++) {
        rc = look_beside_results(l, &l->plan->messages.ptr[i]);
        if (rc == 0 && i > 0)
            rc = look_between(l, &l->plan->messages.ptr[i - 1], &l->plan->messages.ptr[i]);
    }
    return rc < 0 ? rc : look_at_last(l);
}

/* ---- R3: blank texts ---- */

static bool is_blank_block(const vls_plan_block *block)
{
    return block->meta.type == VLS_JSON_NULL && vls_is_blank(block->text) &&
           (block->kind == VLS_SAID_TEXT ||
            (block->kind == VLS_SAID_THINKING && block->sign.len == 0 && !block->redacted));
}

static int look_for_blank(linting *l, const vls_plan_block *block)
{
    int rc = is_blank_block(block) ? find(l, VLS_R_BLANK, block, VLS_STR("")) : 0;

    for (size_t i = 0; i < block->inner_count && rc == 0; i++) {
        if (is_blank_block(&block->inner[i]))
            rc = find(l, VLS_R_BLANK, block, VLS_STR(""));
    }
    return rc;
}

static int look_at_last_space(linting *l)
{
    size_t count = l->plan->messages.len;
    const vls_plan_message *last = count > 0 ? &l->plan->messages.ptr[count - 1] : NULL;
    const vls_plan_block *block = last ? &last->blocks.ptr[last->blocks.len - 1] : NULL;

    if (!block || last->role != VLS_SAYS_ASSISTANT || block->kind != VLS_SAID_TEXT ||
        block->meta.type != VLS_JSON_NULL || vls_is_blank(block->text) || demands(l, USER_LAST) ||
        vls_trim_end(block->text).len == block->text.len)
        return 0;
    return find(l, VLS_R_LAST_SPACE, block, VLS_STR(""));
}

static int rule_blank(linting *l)
{
    int rc = 0;

    if (!demands(l, NO_EMPTY))
        return 0;
    for (size_t i = 0; i < l->plan->system.len && rc == 0; i++) {
        if (is_blank_block(&l->plan->system.ptr[i]))
            rc = find_at(l, VLS_R_BLANK, (spot){"system", l->plan->system.ptr[i].block, -1},
                         VLS_STR(""));
    }
    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &l->plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++)
            rc = look_for_blank(l, &message->blocks.ptr[j]);
    }
    return rc < 0 ? rc : look_at_last_space(l);
}

/* ---- R4: reasoning ---- */

static int look_at_thinking(linting *l, uint8_t role, const vls_plan_block *block)
{
    bool is_signed = block->sign.len > 0 || block->redacted || block->meta.type != VLS_JSON_NULL;

    if (role != VLS_SAYS_ASSISTANT)
        return find(l, VLS_R_NOT_ITS_THINKING, block, VLS_STR(""));
    if (demands(l, NO_THINKING))
        return find(l, VLS_R_THINKING, block, VLS_STR(""));
    return demands(l, SIGNED) && !is_signed ? find(l, VLS_R_UNSIGNED, block, VLS_STR("")) : 0;
}

/* The first call of a message. */
static int look_at_first_call(linting *l, const vls_plan_message *message)
{
    for (size_t i = 0; i < message->blocks.len; i++) {
        const vls_plan_block *block = &message->blocks.ptr[i];
        if (block->kind == VLS_SAID_CALL)
            return vls_text_of(block->meta, "thoughtSignature").len == 0
                       ? find(l, VLS_R_CALL_SIGN, block, block->id)
                       : 0;
    }
    return 0;
}

static int rule_thinking(linting *l)
{
    int rc = 0;

    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &l->plan->messages.ptr[i];
        if (demands(l, SIGNED_CALLS) && message->role == VLS_SAYS_ASSISTANT)
            rc = look_at_first_call(l, message);
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            if (message->blocks.ptr[j].kind == VLS_SAID_THINKING)
                rc = look_at_thinking(l, message->role, &message->blocks.ptr[j]);
        }
    }
    return rc;
}

static int refuse_param(linting *l, bool wrong, const char *name)
{
    return wrong ? find_at(l, VLS_R_PARAM, (spot){NULL, -1, -1}, valise_str_of(name)) : 0;
}

/* Models that get back what they thought. */
static int rule_echo(linting *l)
{
    int rc = 0;

    for (size_t i = 0; demands(l, ECHO) && i < l->plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &l->plan->messages.ptr[i];

        if (vls_thinking_is_lacking(l->plan, message))
            rc = find_message(l, VLS_R_NO_THINKING, message);
        else if (message->role == VLS_SAYS_ASSISTANT && vls_thinking_is_all(message))
            rc = find_message(l, VLS_R_THINKING_PLACE, message);
    }
    return rc;
}

/* Where Claude thinks. */
static int rule_claude(linting *l)
{
    vls_json params = l->plan->params;
    int rc = 0;

    if (!demands(l, CLAUDE))
        return 0;
    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++) {
        for (size_t j = 0; j < l->plan->messages.ptr[i].blocks.len && rc == 0; j++) {
            if (vls_thinking_is_misplaced(l->plan, i, j))
                rc = find(l, VLS_R_THINKING_PLACE, &l->plan->messages.ptr[i].blocks.ptr[j],
                          VLS_STR(""));
        }
    }
    if (rc < 0 || !vls_thinking_has_budget(params))
        return rc;
    rc = refuse_param(l, vls_thinking_is_hot(params) && !demands(l, NO_TEMPERATURE), "temperature");
    if (rc == 0)
        rc = refuse_param(l, vls_thinking_is_forced(params), "toolChoice");
    if (rc == 0)
        rc = refuse_param(l, vls_thinking_is_missing(l->plan), "thinking");
    return rc < 0 ? rc : refuse_param(l, vls_thinking_is_cut(params), "maxTokens");
}

/* ---- R8: media ---- */

typedef struct media_count {
    int64_t images, documents;
} media_count;

static int look_at_file(linting *l, media_count *count, const vls_plan_block *block, uint32_t place)
{
    const char *rule = vls_media_rule(l->adapter, block, place);
    bool image = block->kind == VLS_SAID_IMAGE;
    int64_t most = image ? l->adapter->media.max_images : l->adapter->media.max_documents;
    int64_t *counted = image ? &count->images : &count->documents;

    (*counted)++;
    if (rule)
        return find(l, rule, block, block->name);
    return most > 0 && *counted == most + 1 ? find(l, VLS_R_MEDIA_COUNT, block, block->name) : 0;
}

static bool is_file(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_IMAGE || block->kind == VLS_SAID_DOCUMENT;
}

static int look_at_media(linting *l, media_count *count, const vls_plan_message *message)
{
    static const uint32_t places[] = {[VLS_SAYS_USER] = VLS_MEDIA_USER,
                                      [VLS_SAYS_ASSISTANT] = VLS_MEDIA_ASSISTANT,
                                      [VLS_SAYS_SYSTEM] = 0,
                                      [VLS_SAYS_TOOL] = VLS_MEDIA_USER};
    bool has_text = false, has_document = false;
    int rc = 0;

    for (size_t i = 0; i < message->blocks.len && rc == 0; i++) {
        const vls_plan_block *block = &message->blocks.ptr[i];
        has_text = has_text || block->kind == VLS_SAID_TEXT;
        has_document = has_document || block->kind == VLS_SAID_DOCUMENT;
        if (is_file(block))
            rc = look_at_file(l, count, block, places[message->role]);
        for (size_t j = 0; j < block->inner_count && rc == 0; j++) {
            if (is_file(&block->inner[j]))
                rc = look_at_file(l, count, &block->inner[j], vls_media_place(block));
        }
    }
    if (rc == 0 && demands(l, TEXT_BESIDE) && has_document && !has_text)
        rc = find_message(l, VLS_R_ALONE, message);
    return rc;
}

static int rule_media(linting *l)
{
    media_count count = {0, 0};
    int rc = 0;

    for (size_t i = 0; i < l->plan->messages.len && rc == 0; i++)
        rc = look_at_media(l, &count, &l->plan->messages.ptr[i]);
    return rc;
}

/* ---- R9, R11: names ---- */

typedef struct naming {
    linting *l;
    vls_map ids, tools;
    uint64_t seed;
} naming;

/* 1: it was there already. */
static int note(naming *n, vls_map *map, valise_str name)
{
    uint64_t hash = vls_str_hash(name, n->seed);
    valise_str *item;

    if (vls_map_get(map, hash, &name))
        return 1;
    item = vls_arena_alloc(n->l->arena, sizeof(*item));
    if (!item)
        return vls_arena_fail(n->l->arena, n->l->err);
    *item = name;
    return vls_map_put(NULL, map, hash, item, item) < 0 ? vls_fail_memory(n->l->err) : 0;
}

static int look_at_call(naming *n, const vls_plan_block *call)
{
    linting *l = n->l;
    int seen = note(n, &n->ids, call->id);
    int rc = vls_settle(seen);

    if (rc == 0 && !vls_id_fits(call->id, l->plan->demands))
        rc = find(l, VLS_R_ID, call, call->id);
    else if (rc == 0 && seen)
        rc = find(l, VLS_R_SAME_ID, call, call->id);
    if (rc == 0 && !vls_name_fits(call->name, l->plan->demands))
        rc = find(l, VLS_R_NAME, call, call->name);
    if (rc == 0 && demands(l, OBJECT_ARGS) && call->args.type != VLS_JSON_OBJECT)
        rc = find(l, VLS_R_ARGS, call, call->id);
    return rc;
}

/* A tool by the name that it has there. */
static int look_at_tool(naming *n, size_t at)
{
    linting *l = n->l;
    valise_str name = vls_plan_name_out(l->plan, vls_block_text(l->plan->tools.ptr[at], "name"));
    spot where = {"tools", (int32_t)at, -1};
    int seen = note(n, &n->tools, name);
    int rc = vls_settle(seen);

    if (rc == 0 && seen)
        rc = find_at(l, VLS_R_SAME_TOOL, where, name);
    if (rc == 0 && !vls_name_fits(name, l->plan->demands))
        rc = find_at(l, VLS_R_NAME, where, name);
    if (rc == 0 && demands(l, PLAIN_SCHEMA) &&
        !vls_schema_is_plain(vls_member_of(l->plan->tools.ptr[at], "inputSchema")))
        rc = find_at(l, VLS_R_SCHEMA, where, name);
    return rc;
}

static int look_at_names(naming *n)
{
    const vls_plan *plan = n->l->plan;
    bool called = false;
    int rc = 0;

    for (size_t i = 0; i < plan->tools.len && rc == 0; i++)
        rc = look_at_tool(n, i);
    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            if (message->blocks.ptr[j].kind != VLS_SAID_CALL)
                continue;
            called = called || message->role == VLS_SAYS_ASSISTANT;
            rc = look_at_call(n, &message->blocks.ptr[j]);
        }
    }
    if (rc == 0 && called && demands(n->l, TOOLS) && plan->tools.len == 0)
        rc = find_at(n->l, VLS_R_NO_TOOLS, (spot){NULL, -1, -1}, VLS_STR(""));
    return rc;
}

static int rule_names(linting *l)
{
    naming n = {.l = l, .seed = vls_str_hash(vls_str(&l, sizeof(l)), 0)};
    int rc;

    vls_map_init(&n.ids, l->arena->env, vls_str_is);
    vls_map_init(&n.tools, l->arena->env, vls_str_is);
    rc = look_at_names(&n);
    vls_map_release(&n.ids);
    vls_map_release(&n.tools);
    return rc;
}

/* ---- R12: forms ---- */

static int rule_forms(linting *l)
{
    vls_json heat = vls_member_of(l->plan->params, "temperature");
    vls_json stop = vls_member_of(l->plan->params, "stop");
    int rc = 0;

    if ((demands(l, NO_TEMPERATURE) && heat.type != VLS_JSON_NULL) ||
        vls_is_too_hot(l->adapter, heat))
        rc = find_at(l, VLS_R_PARAM, (spot){NULL, -1, -1}, VLS_STR("temperature"));
    if (rc == 0 && vls_are_too_many(l->adapter, l->plan->demands, stop))
        rc = find_at(l, VLS_R_PARAM, (spot){NULL, -1, -1}, VLS_STR("stop"));
    for (size_t i = 0; i < l->plan->messages.len && rc == 0 && demands(l, SYSTEM_AT_TOP); i++) {
        if (l->plan->messages.ptr[i].role == VLS_SAYS_SYSTEM)
            rc = find_message(l, VLS_R_SYSTEM, &l->plan->messages.ptr[i]);
    }
    return rc;
}

/* ---- all of them ---- */

typedef int rule_fn(linting *l);
static rule_fn *const all_rules[] = {rule_pairs, rule_order, rule_blank, rule_thinking, rule_claude,
                                     rule_echo,  rule_media, rule_names, rule_forms};

int vls_lint_plan(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                  const vls_plan *plan, const vls_neutral *prompt, valise_error *err)
{
    linting l = {out, arena, adapter, plan, prompt, err};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(all_rules) && rc == 0; i++)
        rc = all_rules[i](&l);
    return rc;
}

/* A prompt as it is: what the rules say, and what showed while it was read. */
static int look_as_is(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                      const vls_neutral *prompt, valise_error *err)
{
    vls_plan plan = {.arena = arena};
    linting l = {out, arena, adapter, &plan, prompt, err};
    int rc = vls_plan_as_is(&plan, arena, adapter, prompt, err);

    for (size_t i = 0; i < plan.repairs.len && rc == 0; i++) {
        const vls_repair *seen = &plan.repairs.ptr[i];
        rc = find_at(&l, seen->rule,
                     (spot){"messages", (int32_t)seen->message, (int32_t)seen->block}, seen->name);
    }
    return rc < 0 ? rc : vls_lint_plan(out, arena, adapter, &plan, prompt, err);
}

static bool is_left(const vls_findings *left, const char *rule)
{
    for (size_t i = 0; i < left->len; i++) {
        if (strcmp(left->ptr[i].rule, rule) == 0)
            return true;
    }
    return false;
}

/* What shows only when the plan is made. */
static int add_repairs(vls_findings *found, vls_arena *arena, const vls_adapter *adapter,
                       const vls_plan *plan, const vls_neutral *prompt, valise_error *err)
{
    vls_findings before = *found;
    linting l = {found, arena, adapter, plan, prompt, err};
    int rc = 0;

    for (size_t i = 0; i < plan->repairs.len && rc == 0; i++) {
        const vls_repair *repair = &plan->repairs.ptr[i];
        const char *area = repair->message >= 0 ? "messages" : NULL;
        size_t count = found->len;
        if (is_left(&before, repair->rule))
            continue;
        rc = find_at(&l, repair->rule,
                     (spot){area, (int32_t)repair->message, (int32_t)repair->block}, repair->name);
        if (rc == 0 && found->len > count)
            found->ptr[count].mended = true;
    }
    return rc;
}

int vls_lint_neutral(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                     const vls_neutral *prompt, valise_error *err)
{
    vls_findings found = VLS_VEC_INIT, left = VLS_VEC_INIT;
    vls_plan plan = {.arena = arena};
    int rc = look_as_is(&found, arena, adapter, prompt, err);
    bool made;

    if (rc < 0)
        return rc;
    rc = vls_plan_make(&plan, arena, adapter, prompt, (valise_str){NULL, 0}, err);
    made = rc == 0;
    if (made)
        rc = vls_lint_plan(&left, arena, adapter, &plan, prompt, err);
    if (rc < 0 && (made || rc != VALISE_E_INVALID))
        return rc;
    for (size_t i = 0; i < found.len; i++)
        found.ptr[i].mended = made && !is_left(&left, found.ptr[i].rule);
    rc = made ? add_repairs(&found, arena, adapter, &plan, prompt, err) : 0;
    if (rc < 0)
        return rc;
    if (!made) { /* nothing can be made of it, and err has said why */
        linting l = {&found, arena, adapter, &plan, prompt, err};
        rc = find_at(&l, VLS_R_EMPTY, (spot){NULL, -1, -1}, VLS_STR(""));
        if (rc < 0)
            return rc;
    }
    *out = found;
    return 0;
}

int vls_look_find(vls_looking *looking, const char *rule, valise_str more, valise_error *err,
                  const char *place, ...)
{
    linting l = {.out = looking->out, .arena = looking->arena, .err = err};
    size_t count = looking->out->len;
    va_list args;
    vls_buf text;
    int rc = find_at(&l, rule, (spot){NULL, -1, -1}, more);

    if (rc < 0 || looking->out->len == count)
        return rc;
    vls_buf_init_in(&text, looking->arena, 256);
    va_start(args, place);
    vls_buf_vprintf(&text, place, args);
    va_end(args);
    return vls_buf_keep(&looking->out->ptr[count].place, &text, err);
}

int vls_lint_request(vls_findings *out, vls_arena *arena, const vls_adapter *adapter,
                     vls_json request, valise_error *err)
{
    vls_findings found = VLS_VEC_INIT;
    vls_json all = vls_json_null();
    vls_neutral prompt = {.context = 0};
    size_t kept = 0;
    int rc;

    if (!adapter->read)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "requests of %s cannot be read", adapter->name);
    rc = adapter->read(&all, arena, adapter, request, err);
    if (rc == 0)
        rc = vls_neutral_of(&prompt, all, err);
    if (rc == 0)
        rc = look_as_is(&found, arena, adapter, &prompt, err);
    if (rc == 0 && prompt.messages.len == 0) { /* nobody answers nothing */
        vls_plan none = {.arena = arena};
        linting l = {&found, arena, adapter, &none, &prompt, err};
        rc = find_at(&l, VLS_R_EMPTY, (spot){NULL, -1, -1}, VLS_STR(""));
    }
    if (rc == 0 && adapter->look)
        rc = adapter->look(&(vls_looking){&found, arena}, request, err);
    if (rc < 0)
        return rc;
    /* Our own order of results is nothing that a provider asks for. */
    for (size_t i = 0; i < found.len; i++) {
        if (strcmp(found.ptr[i].rule, VLS_R_RESULT_ORDER) != 0)
            found.ptr[kept++] = found.ptr[i];
    }
    found.len = kept;
    *out = found;
    return 0;
}
