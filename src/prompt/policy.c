/* policy.c -- what may be left out of a history: candidates, lots, edits. */
#include "prompt/policy.h"

#include "base/map.h"
#include "base/tokens.h"
#include "json/make.h"
#include "prompt/cost.h"

/* ---- as data ---- */

static const valise_field tool_item = {
    .name = "tool", .help = "Name of a tool.", .type = VALISE_T_STR, .min = 1, .max = 512};
static const valise_field results_fields[] = {
    VALISE_FIELD_WITH(vls_policy_results, keep, INT, 0, "How many of the newest to keep.", .min = 0,
                      .max = 1000000),
    VALISE_FIELD_AS_WITH(vls_policy_results, at_least, "atLeast", INT, 0,
                         "Do it only if it saves this many tokens at once.", .min = 0,
                         .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_policy_results, exclude, LIST, 0, "Tools whose results to keep.",
                      .more = &tool_item, .max = 1000),
    VALISE_FIELD_END,
};
static const valise_field thinking_fields[] = {
    VALISE_FIELD_WITH(vls_policy_thinking, keep, INT, 0,
                      "In how many of the newest turns to keep it.", .min = 0, .max = 1000000),
    VALISE_FIELD_AS_WITH(vls_policy_thinking, at_least, "atLeast", INT, 0,
                         "Do it only if it saves this many tokens at once.", .min = 0,
                         .max = INT32_MAX),
    VALISE_FIELD_END,
};
static const valise_field reads_fields[] = {
    VALISE_FIELD(vls_policy_reads, tools, JSON, VALISE_REQUIRED,
                 "Tools that read files, each with the argument that names the file."),
    VALISE_FIELD_AS_WITH(vls_policy_reads, at_least, "atLeast", INT, 0,
                         "Do it only if it saves this many tokens at once.", .min = 0,
                         .max = INT32_MAX),
    VALISE_FIELD_END,
};
static const valise_field cut_fields[] = {
    VALISE_FIELD_WITH(vls_policy_cut, over, INT, VALISE_REQUIRED,
                      "Cut results longer than this many bytes.", .min = 256, .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_policy_cut, head, INT, 0, "Bytes to keep of the beginning.", .min = 0,
                      .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_policy_cut, tail, INT, 0, "Bytes to keep of the end.", .min = 0,
                      .max = INT32_MAX),
    VALISE_FIELD_END,
};
static const valise_struct results_struct = {sizeof(vls_policy_results), results_fields};
static const valise_struct thinking_struct = {sizeof(vls_policy_thinking), thinking_fields};
static const valise_struct reads_struct = {sizeof(vls_policy_reads), reads_fields};
static const valise_struct cut_struct = {sizeof(vls_policy_cut), cut_fields};

static const valise_field policies_fields[] = {
    VALISE_FIELD_AS_WITH(vls_policies, clear_results, "clearResults", STRUCT, VALISE_NULLABLE,
                         "Clear old results of tools.", .more = &results_struct),
    VALISE_FIELD_AS_WITH(vls_policies, drop_thinking, "dropThinking", STRUCT, VALISE_NULLABLE,
                         "Leave out old thinking.", .more = &thinking_struct),
    VALISE_FIELD_AS_WITH(vls_policies, newest_read, "newestRead", STRUCT, VALISE_NULLABLE,
                         "Clear the older result of a file that was read again.",
                         .more = &reads_struct),
    VALISE_FIELD_AS_WITH(vls_policies, cut_results, "cutResults", STRUCT, VALISE_NULLABLE,
                         "Cut huge results to their beginning and end.", .more = &cut_struct),
    VALISE_FIELD_END,
};
const valise_struct vls_policies_struct = {sizeof(vls_policies), policies_fields};

/* The line that stands for what is not sent, with the ref of the turn. */
#define LINE_TOKENS 64

/* ---- edits ---- */

int vls_part_edit(vls_part *part, vls_arena *arena, const vls_prompt_edit *edit, valise_error *err)
{
    size_t at;

    if (!vls_vec_push_in(&part->edits, arena, *edit))
        return vls_arena_fail(arena, err);
    for (at = part->edits.len - 1; at > 0 && part->edits.ptr[at - 1].block > edit->block; at--)
        part->edits.ptr[at] = part->edits.ptr[at - 1];
    part->edits.ptr[at] = *edit;
    return 0;
}

/* ---- what there is ---- */

/* A result, or the thinking of a turn. */
typedef struct candidate {
    size_t part;
    int32_t block;
    size_t since; /* the part that made it one; SIZE_MAX: none did */
    int64_t tokens;
    valise_str name; /* of the tool */
    valise_str file; /* that it read; ptr NULL: none */
    bool failed;
} candidate;
typedef vls_vec(candidate) candidates;

/* A call, by its id. */
typedef struct call {
    valise_str id, name, file;
    size_t newest; /* among the results: the last read of that file */
} call;

typedef struct looking {
    vls_arena *arena;
    vls_part *parts;
    size_t count;
    vls_map calls; /* of call */
    vls_json reads;
    candidates results, thinking;
    size_t user; /* the last part in which the user says something */
    int64_t saved;
} looking;

static bool has_call_id(const void *item, const void *key)
{
    return vls_str_equal(((const call *)item)->id, *(const valise_str *)key);
}

static bool is(vls_json block, const char *type)
{
    return vls_str_equal(vls_text_of(block, "type"), valise_str_of(type));
}

static int look_at_call(looking *l, vls_json block, valise_error *err)
{
    call *c = vls_arena_zalloc(l->arena, sizeof(*c));
    const vls_json *argument;

    if (!c)
        return vls_arena_fail(l->arena, err);
    c->id = vls_text_of(block, "callId");
    c->name = vls_text_of(block, "name");
    argument = vls_json_get(l->reads, c->name);
    if (argument && argument->type == VLS_JSON_STRING) {
        const vls_json *file = vls_json_get(vls_member_of(block, "args"), vls_json_str(*argument));

        c->file =
            file && file->type == VLS_JSON_STRING ? vls_json_str(*file) : (valise_str){NULL, 0};
    }
    return vls_map_put(NULL, &l->calls, vls_str_hash(c->id, 0), &c->id, c) < 0
               ? vls_fail_memory(err)
               : 0;
}

/* What a result says takes so many tokens. */
static int64_t result_tokens(vls_json block)
{
    vls_json content = vls_member_of(block, "content");
    int64_t sum = 0;

    if (content.type == VLS_JSON_STRING)
        return vls_tokens(vls_json_str(content));
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len; i++)
        sum += vls_tokens(vls_text_of(content.items[i], "text"));
    return sum;
}

/* Pictures and files in a result that is cleared are not sent either. */
static int64_t media_tokens(const vls_part *part, int32_t block)
{
    int64_t sum = 0;

    for (size_t i = 0; i < part->edits.len; i++) {
        const vls_prompt_edit *edit = &part->edits.ptr[i];

        if (edit->block != block || edit->inner < 0)
            continue;
        if (edit->kind == VLS_EDIT_ASSET)
            sum += vls_media_cost(edit->text, edit->a);
        else if (edit->kind == VLS_EDIT_FILE_TEXT)
            sum += edit->b;
    }
    return sum;
}

static int look_at_block(looking *l, size_t part, uint32_t at, vls_json block, valise_error *err)
{
    candidate found = {.part = part, .block = (int32_t)at, .since = SIZE_MAX};
    valise_str id = vls_text_of(block, "callId");
    const call *c;

    if (is(block, "tool_use"))
        return look_at_call(l, block, err);
    if (is(block, "thinking")) {
        found.tokens = vls_tokens(vls_text_of(block, "text"));
        return vls_vec_push_in(&l->thinking, l->arena, found) ? 0 : vls_arena_fail(l->arena, err);
    }
    if (is(block, "text") && l->parts[part].says == VLS_SAYS_USER)
        l->user = part;
    if (!is(block, "tool_result"))
        return 0;
    found.failed = vls_truth_of(block, "isError");
    found.tokens = result_tokens(block) + media_tokens(&l->parts[part], (int32_t)at);
    c = vls_map_get(&l->calls, vls_str_hash(id, 0), &id);
    if (c) {
        found.name = c->name;
        found.file = c->file;
    }
    return vls_vec_push_in(&l->results, l->arena, found) ? 0 : vls_arena_fail(l->arena, err);
}

static int look(looking *l, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < l->count && rc == 0; i++) {
        vls_json value = l->parts[i].value;

        if (l->parts[i].kind != VLS_PART_TURN || value.type != VLS_JSON_ARRAY)
            continue;
        for (uint32_t b = 0; b < value.len && rc == 0; b++)
            rc = look_at_block(l, i, b, value.items[b], err);
    }
    return rc;
}

/* ---- lots ---- */

static int by_since(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static bool is_edited(const vls_part *part, int32_t block, vls_edit_kind kind)
{
    for (size_t i = 0; i < part->edits.len; i++)
        if (part->edits.ptr[i].block == block && part->edits.ptr[i].inner < 0 &&
            part->edits.ptr[i].kind == kind)
            return true;
    return false;
}

/* Whole lots go; what is left waits for more. */
static int take(looking *l, candidates *all, int64_t at_least, vls_edit_kind kind,
                const char *reason, valise_error *err)
{
    int64_t lot = 0;
    size_t begin = 0;
    int rc = 0;

    if (all->len > 1)
        qsort(all->ptr, all->len, sizeof(*all->ptr), by_since);
    for (size_t i = 0; i < all->len && all->ptr[i].since != SIZE_MAX && rc == 0; i++) {
        lot += all->ptr[i].tokens;
        if (lot < at_least)
            continue;
        for (; begin <= i && rc == 0; begin++) {
            const candidate *c = &all->ptr[begin];
            vls_part *part = &l->parts[c->part];
            int64_t won;

            if (is_edited(part, c->block, kind))
                continue;
            rc = vls_part_edit(
                part, l->arena,
                &(vls_prompt_edit){
                    .kind = (uint8_t)kind, .block = c->block, .inner = -1, .reason = reason},
                err);
            won = c->tokens - (kind == VLS_EDIT_CLEAR ? LINE_TOKENS : 0);
            part->tokens -= VLS_MIN(part->tokens, won);
            l->saved += won;
        }
        lot = 0;
    }
    return rc;
}

/* ---- the policies ---- */

static bool is_excluded(const vls_policy_results *policy, valise_str name)
{
    const valise_str *names = policy->exclude.items;

    for (size_t i = 0; i < policy->exclude.count; i++)
        if (vls_str_equal(names[i], name))
            return true;
    return false;
}

/* With none to keep a result is old once it was read: when the model has spoken behind it. */
static size_t answer_behind(const looking *l, size_t part)
{
    while (++part < l->count)
        if (l->parts[part].says == VLS_SAYS_ASSISTANT)
            return part;
    return SIZE_MAX;
}

static int clear_results(looking *l, const vls_policy_results *policy, valise_error *err)
{
    candidates chosen = VLS_VEC_INIT;
    size_t keep = (size_t)policy->keep;

    for (size_t i = 0; i < l->results.len; i++)
        if (!is_excluded(policy, l->results.ptr[i].name) &&
            l->results.ptr[i].tokens > LINE_TOKENS && /* else nothing is won */
            !vls_vec_push_in(&chosen, l->arena, l->results.ptr[i]))
            return vls_arena_fail(l->arena, err);
    for (size_t i = 0; i < chosen.len; i++) {
        if (keep == 0)
            chosen.ptr[i].since = answer_behind(l, chosen.ptr[i].part);
        else
            chosen.ptr[i].since = i + keep < chosen.len ? chosen.ptr[i + keep].part : SIZE_MAX;
    }
    return take(l, &chosen, policy->at_least, VLS_EDIT_CLEAR, "old result", err);
}

static int drop_thinking(looking *l, const vls_policy_thinking *policy, valise_error *err)
{
    vls_vec(size_t) turns = VLS_VEC_INIT;
    size_t at = 0;

    for (size_t i = 0; i < l->thinking.len; i++)
        if ((i == 0 || l->thinking.ptr[i].part != l->thinking.ptr[i - 1].part) &&
            !vls_vec_push_in(&turns, l->arena, l->thinking.ptr[i].part))
            return vls_arena_fail(l->arena, err);
    for (size_t i = 0; i < l->thinking.len; i++) {
        candidate *c = &l->thinking.ptr[i];
        size_t later;

        at += turns.ptr[at] != c->part;
        later = at + (size_t)policy->keep;
        c->since = later < turns.len ? turns.ptr[later] : SIZE_MAX;
        if (policy->keep == 0)
            c->since = c->part;
        /* Within the loop that runs it must be sent back; it is old once the user speaks again. */
        if (c->since != SIZE_MAX && l->user != SIZE_MAX && c->part > l->user)
            c->since = SIZE_MAX;
    }
    return take(l, &l->thinking, policy->at_least, VLS_EDIT_DROP, "old thinking", err);
}

static int newest_read(looking *l, const vls_policy_reads *policy, valise_error *err)
{
    candidates chosen = VLS_VEC_INIT;
    VLS_AUTO(map) vls_map newest = {0};

    vls_map_init(&newest, l->arena->env, has_call_id);
    for (size_t i = l->results.len; i > 0; i--) {
        candidate c = l->results.ptr[i - 1];
        call *later;

        if (!c.file.ptr)
            continue;
        later = vls_map_get(&newest, vls_str_hash(c.file, 0), &c.file);
        if (!later && c.failed)
            continue; /* what it says of the file is no newer read */
        if (later) {
            c.since = later->newest;
            if (!c.failed)
                later->newest = c.part; /* an even older one is older by this one already */
            if (!vls_vec_push_in(&chosen, l->arena, c))
                return vls_arena_fail(l->arena, err);
            continue;
        }
        later = vls_arena_zalloc(l->arena, sizeof(*later));
        if (!later)
            return vls_arena_fail(l->arena, err);
        later->id = c.file;
        later->newest = c.part;
        if (vls_map_put(NULL, &newest, vls_str_hash(c.file, 0), &later->id, later) < 0)
            return vls_fail_memory(err);
    }
    return take(l, &chosen, policy->at_least, VLS_EDIT_CLEAR, "a newer read of the same file", err);
}

static int cut_block(looking *l, vls_part *part, uint32_t at, const vls_policy_cut *policy,
                     valise_error *err)
{
    vls_json content = vls_member_of(part->value.items[at], "content");
    vls_prompt_edit edit = {.kind = VLS_EDIT_CUT,
                            .block = (int32_t)at,
                            .a = policy->head,
                            .b = policy->tail,
                            .reason = "huge result"};
    uint32_t count = content.type == VLS_JSON_ARRAY ? content.len : 1;
    int rc = 0;

    for (uint32_t i = 0; i < count && rc == 0; i++) {
        valise_str text = content.type == VLS_JSON_ARRAY    ? vls_text_of(content.items[i], "text")
                          : content.type == VLS_JSON_STRING ? vls_json_str(content)
                                                            : (valise_str){NULL, 0};
        int64_t won;

        if ((int64_t)text.len <= policy->over || (int64_t)text.len - policy->head <= policy->tail)
            continue;
        edit.inner = content.type == VLS_JSON_ARRAY ? (int32_t)i : -1;
        won = vls_tokens(text) - LINE_TOKENS -
              vls_tokens((valise_str){text.ptr, (size_t)policy->head}) -
              vls_tokens((valise_str){text.ptr + text.len - policy->tail, (size_t)policy->tail});
        if (won <= 0)
            continue;
        part->tokens -= VLS_MIN(part->tokens, won);
        l->saved += won;
        rc = vls_part_edit(part, l->arena, &edit, err);
    }
    return rc;
}

static int cut_results(looking *l, const vls_policy_cut *policy, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < l->results.len && rc == 0; i++) {
        const candidate *c = &l->results.ptr[i];

        if (!is_edited(&l->parts[c->part], c->block, VLS_EDIT_CLEAR))
            rc = cut_block(l, &l->parts[c->part], (uint32_t)c->block, policy, err);
    }
    return rc;
}

/* {"tool":"argument"} */
static int read_tools(vls_json *out, vls_arena *arena, valise_str text, valise_error *err)
{
    int rc = vls_json_parse(out, arena, text, NULL, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; out->type == VLS_JSON_OBJECT && i < out->len; i++)
        if (out->members[i].value.type != VLS_JSON_STRING)
            return vls_fail(err, VALISE_E_INVALID,
                            "policies.newestRead.tools: the argument of %.*s is not a string",
                            VALISE_STR_ARG(vls_json_str(out->members[i].key)));
    if (out->type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID,
                        "policies.newestRead.tools is not an object: {\"tool\":\"argument\"}");
    return 0;
}

int vls_policies_apply(int64_t *saved, vls_arena *arena, const vls_policies *policies,
                       vls_part *parts, size_t count, valise_error *err)
{
    looking l = {.arena = arena, .parts = parts, .count = count, .user = SIZE_MAX};
    int rc = 0;

    vls_map_init(&l.calls, arena->env, has_call_id);
    if (policies->newest_read)
        rc = read_tools(&l.reads, arena, policies->newest_read->tools, err);
    if (rc == 0)
        rc = look(&l, err);
    if (rc == 0 && policies->newest_read)
        rc = newest_read(&l, policies->newest_read, err);
    if (rc == 0 && policies->clear_results)
        rc = clear_results(&l, policies->clear_results, err);
    if (rc == 0 && policies->drop_thinking)
        rc = drop_thinking(&l, policies->drop_thinking, err);
    if (rc == 0 && policies->cut_results)
        rc = cut_results(&l, policies->cut_results, err);
    vls_map_release(&l.calls);
    if (rc == 0 && saved)
        *saved = l.saved;
    return rc;
}
