/* op_node_compose.c -- node:compose, what is known about a node and around it. [C25] [C26] */
#include "base/str.h"
#include "base/text.h"
#include "bus/bus.h"
#include "context/compose.h"
#include "context/context.h"
#include "context/ops.h"
#include "store/view.h"

typedef vls_node_compose_args compose_args;
typedef vls_node_compose_meta compose_meta;
typedef vls_node_compose_result compose_result;

static const char *const reasons[] = {"frames", "bytes", "tokens", "erased", "damaged", NULL};

static const valise_field related_item = {
    .name = "related", .type = VALISE_T_PATH, .max = VLS_PATH_MAX, .ref = "tree.node"};

static const valise_field compose_in[] = {
    VLS_NODE_FIELD(compose_args),
    VALISE_FIELD_WITH(compose_args, policy, STR, VALISE_NULLABLE,
                      "Which frames, in which order and how many; or the name of a policy.",
                      .max = VLS_LENS_TEXT_MAX),
    VALISE_FIELD_WITH(compose_args, query, STR, VALISE_NULLABLE,
                      "Words to rank by, instead of those of the policy.",
                      .max = VLS_LENS_TEXT_MAX),
    VALISE_FIELD_WITH(compose_args, related, LIST, 0, "Further files and directories.",
                      .more = &related_item, .max = VLS_COMPOSE_RELATED_MAX),
    VALISE_FIELD(compose_args, explain, BOOL, 0, "Show how relevant each frame is, and why."),
    VLS_NO_SCAN_FIELD(compose_args),
    VALISE_FIELD_END,
};

static const valise_field score_fields[] = {
    VALISE_FIELD(valise_score, total, INT, VALISE_REQUIRED, "The sum."),
    VALISE_FIELD(valise_score, relation, INT, VALISE_REQUIRED, "For where it is."),
    VALISE_FIELD(valise_score, type, INT, VALISE_REQUIRED, "For its type."),
    VALISE_FIELD(valise_score, agent, INT, VALISE_REQUIRED, "For who wrote it."),
    VALISE_FIELD(valise_score, freshness, INT, VALISE_REQUIRED, "For its state."),
    VALISE_FIELD(valise_score, query, INT, VALISE_REQUIRED, "For words of the query."),
    VALISE_FIELD_END,
};
static const valise_struct score_struct = {sizeof(valise_score), score_fields};

static const valise_field entry_fields[] = {
    VALISE_FIELD_AS(vls_composed, shown.path, "path", PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD_WITH(vls_composed, relation, ENUM, VALISE_REQUIRED,
                      "What it is to the one that is composed for.", .more = vls_relation_names),
    VALISE_FIELD_AS(vls_composed, shown.type, "type", STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(vls_composed, shown.frame_id, "frameId", ID, VALISE_REQUIRED,
                    "Id of the frame."),
    VALISE_FIELD_AS_WITH(vls_composed, shown.state.state, "state", ENUM, VALISE_REQUIRED,
                         "Whether it still holds.", .more = vls_state_names),
    VALISE_FIELD_AS_WITH(vls_composed, shown.state.reasons, "reasons", LIST, 0, "Why it is stale.",
                         .more = &vls_reason_item),
    VALISE_FIELD_AS(vls_composed, shown.agent, "agent", STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD_AS_WITH(vls_composed, shown.kind, "kind", ENUM, VALISE_REQUIRED,
                         "How it came about.", .more = vls_frame_kinds),
    VALISE_FIELD_AS(vls_composed, shown.size, "size", INT, VALISE_REQUIRED,
                    "Bytes of the content."),
    VALISE_FIELD(vls_composed, tokens, INT, VALISE_REQUIRED, "Tokens of the content, roughly."),
    VALISE_FIELD_WITH(vls_composed, score, STRUCT, VALISE_NULLABLE, "How relevant it is, and why.",
                      .more = &score_struct),
    VALISE_FIELD_AS(vls_composed, shown.text, "text", STR, VALISE_NULLABLE,
                    "The content, where it is text."),
    VALISE_FIELD_AS(vls_composed, shown.data, "data", BYTES, VALISE_NULLABLE,
                    "The content, where it is not."),
    VALISE_FIELD_AS_WITH(vls_composed, shown.meta, "meta", STRUCT, VALISE_REQUIRED,
                         "How it came there.", .more = &vls_shown_meta_struct),
    VALISE_FIELD_END,
};
static const valise_struct entry_struct = {sizeof(vls_composed), entry_fields};
static const valise_field entry_item = {
    .name = "entry", .type = VALISE_T_STRUCT, .more = &entry_struct};

static const valise_field left_fields[] = {
    VALISE_FIELD(valise_left_out, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(valise_left_out, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(valise_left_out, frame, "frameId", ID, VALISE_REQUIRED, "Id of the frame."),
    VALISE_FIELD_WITH(valise_left_out, reason, ENUM, VALISE_REQUIRED, "Why it is not there.",
                      .more = reasons),
    VALISE_FIELD_END,
};
static const valise_struct left_struct = {sizeof(valise_left_out), left_fields};
static const valise_field left_item = {
    .name = "frame", .type = VALISE_T_STRUCT, .more = &left_struct};

static const valise_field meta_fields[] = {
    VALISE_FIELD(compose_meta, version, INT, VALISE_REQUIRED, "Version of the tree."),
    VLS_TREE_IS_FIELD(compose_meta),
    VALISE_FIELD_END,
};
static const valise_struct meta_struct = {sizeof(compose_meta), meta_fields};

#define LEFT_FIELDS(member_, brief_, count_name_, count_brief_)                                    \
    VALISE_FIELD_AS_WITH(compose_result, known.member_.list, #member_, LIST, VALISE_REQUIRED,      \
                         brief_, .more = &left_item),                                              \
        VALISE_FIELD_AS(compose_result, known.member_.count, count_name_, INT, VALISE_REQUIRED,    \
                        count_brief_)

static const valise_field compose_out[] = {
    VALISE_FIELD(compose_result, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD_AS(compose_result, node_id, "nodeId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD_AS_WITH(compose_result, known.entries, "entries", LIST, VALISE_REQUIRED,
                         "What is known.", .more = &entry_item),
    VALISE_FIELD_AS(compose_result, known.candidates, "candidates", INT, VALISE_REQUIRED,
                    "Heads that the sources have."),
    VALISE_FIELD_AS(compose_result, known.considered, "considered", INT, VALISE_REQUIRED,
                    "Of these, those that pass the filters; the best 4,096 of them."),
    VALISE_FIELD(compose_result, returned, INT, VALISE_REQUIRED, "Of these, those that are shown."),
    VALISE_FIELD_AS(compose_result, known.bytes, "bytes", INT, VALISE_REQUIRED,
                    "Bytes of all contents."),
    VALISE_FIELD_AS(compose_result, known.tokens, "tokens", INT, VALISE_REQUIRED,
                    "Tokens of all contents, roughly."),
    LEFT_FIELDS(cut, "What the limits left out: the first 100.", "cutCount",
                "How many frames these are, with those that were not considered."),
    LEFT_FIELDS(missing, "What was met and had been erased: the first 100.", "missingCount",
                "How many frames these are."),
    LEFT_FIELDS(corrupt, "What was met and cannot be read: the first 100.", "corruptCount",
                "How many frames these are."),
    VALISE_FIELD_AS(compose_result, tree_root, "treeRoot", ID, VALISE_REQUIRED,
                    "Root of the tree."),
    VALISE_FIELD_AS(compose_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD(compose_result, policy, STR, VALISE_REQUIRED, "The policy, written in full."),
    VALISE_FIELD_AS(compose_result, policy_hash, "policyHash", ID, VALISE_REQUIRED,
                    "Hash of the policy."),
    VALISE_FIELD_WITH(compose_result, meta, STRUCT, VALISE_REQUIRED,
                      "What else depends on how it came about.", .more = &meta_struct),
    VALISE_FIELD_END,
};

/* ---- the policy ---- */

static int find_order(const valise_order **out, valise_view *view, valise_str name,
                      valise_error *err)
{
    const valise *v = vls_view_bus(view);
    const valise_order *const *all = v && v->registry ? vls_registry_orders(v->registry) : NULL;

    for (; all && *all; all++) {
        if (vls_str_equal(valise_str_of((*all)->name), name)) {
            *out = *all;
            return 0;
        }
    }
    (void)vls_fail(err, VALISE_E_INVALID, "policy: there is no order '%s'", vls_text_short(name).s);
    vls_hint(err, "an order must be registered by the program or by an extension");
    return VALISE_E_INVALID;
}

static int take_policy(vls_compose_request *out, valise_view *view, vls_compose_policy *policy,
                       const compose_args *args, valise_error *err)
{
    valise_str spec;
    int rc = vls_context_named(&spec, view, "compose", args->policy, err);

    if (rc == 0 && spec.ptr && vls_compose_is_word(args->policy)) {
        rc = vls_fail(err, VALISE_E_INVALID,
                      "a policy cannot be called '%.*s': the word has a meaning in policies",
                      VALISE_STR_ARG(args->policy));
        vls_hint(err, "give compose.%.*s.spec another name in the configuration",
                 VALISE_STR_ARG(args->policy));
    }
    if (rc < 0)
        return rc;
    rc = vls_compose_parse(policy, spec.ptr ? spec : args->policy, args->query, err);
    if (rc < 0 && spec.ptr && err)
        vls_hint(err, "that is what policy '%.*s' is in the configuration",
                 VALISE_STR_ARG(args->policy));
    if (rc == 0 && policy->order == VLS_COMPOSE_BY_CUSTOM)
        rc = find_order(&out->order, view, policy->custom, err);
    out->policy = policy;
    return rc;
}

static int hash_policy(compose_result *out, valise_view *view, const vls_compose_policy *policy,
                       valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &view->arena, (size_t)8 * VLS_LENS_TEXT_MAX);
    rc = vls_compose_hash(&out->policy_hash, &text, policy, err);
    return rc < 0 ? rc : vls_buf_keep(&out->policy, &text, err);
}

/* ---- nodes ---- */

/* The paths of nodes that were named: each is there, and may be read. */
static int find_related(vls_compose_request *out, valise_view *view, const valise_list *given,
                        valise_error *err)
{
    const valise_str *names = given->items;
    valise_str *paths = NULL;
    int rc = 0;

    if (given->count == 0)
        return 0;
    paths = vls_arena_array(&view->arena, given->count, sizeof(*paths));
    if (!paths)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; rc == 0 && i < given->count; i++) {
        vls_place place;
        rc = vls_place_find(&place, view, names[i], VLS_STR(""), err);
        if (rc == 0)
            rc = vls_place_allows(&place, view, "context:read", VLS_STR(""), err);
        if (rc == 0 && !place.there)
            rc = vls_place_explain(&place, view, err);
        if (rc == 0)
            paths[i] = place.path;
    }
    out->related = paths;
    out->related_count = given->count;
    return rc;
}

static int find_place(vls_place *out, valise_view *view, const compose_args *args,
                      valise_error *err)
{
    int rc = vls_place_find(out, view, args->node, VLS_STR(""), err);

    if (rc == 0)
        rc = vls_place_allows(out, view, "context:read", VLS_STR(""), err);
    if (rc == 0)
        rc = vls_place_look(out, view, args->no_scan, err);
    if (rc == 0)
        vls_place_go(out);
    if (rc == 0 && !out->there)
        rc = vls_place_explain(out, view, err);
    return rc;
}

static int fill_meta(compose_result *out, valise_view *view, const vls_place *place,
                     valise_error *err)
{
    compose_meta *meta = vls_arena_zalloc(&view->arena, sizeof(*meta));

    if (!meta)
        return vls_arena_fail(&view->arena, err);
    *meta = (compose_meta){.version = place->version, .tree = place->tree_is};
    out->meta = meta;
    return 0;
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const compose_args *args = in;
    compose_result *result = out;
    vls_context_row context = {.slots = 0};
    vls_compose_policy policy;
    vls_place place;
    vls_compose_request request = {.place = &place, .explain = args->explain};
    int rc = take_policy(&request, view, &policy, args, err);

    if (rc == 0)
        rc = find_place(&place, view, args, err);
    if (rc == 0)
        rc = find_related(&request, view, &args->related, err);
    if (rc == 0)
        rc = vls_compose(&result->known, view, &request, err);
    if (rc == 0)
        rc = vls_place_root(&result->tree_root, view, &place, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &place.tree.id, err);
    if (rc == 0)
        rc = hash_policy(result, view, &policy, err);
    if (rc == 0)
        rc = fill_meta(result, view, &place, err);
    if (rc < 0)
        return rc;
    result->path = place.path;
    result->node_id = place.node.id;
    result->returned = (int64_t)result->known.entries.count;
    result->context_root = context.root;
    return 0;
}

const valise_op vls_op_context_node_compose = {
    .size = sizeof(valise_op),
    .name = "node:compose",
    .alias = "compose",
    .brief = "Gather what is known about a file and its surroundings.",
    .help = "A policy says what goes in: words and settings, separated by commas.\n\nrelevance, "
            "recency, type, agent or custom=NAME: the "
            "order.\nsources=node+parent+ancestors+siblings+children: whose frames (default: all "
            "of these).\ntypes=A+B, agents=A+B: which types and agents come first (with "
            "stars).\nquery=WORDS: what it is for; frames that have these words are more "
            "relevant.\nmax=N, max_bytes=N, max_tokens=N: at most that (default: 100 frames, 1 "
            "MiB).\ntype=, agent=, path= (with stars), "
            "state=fresh|stale|invalidated|orphaned,\nseq=A..B, time=A..B: only those.\n\nTo give "
            "a policy a name: `valise config set compose.NAME.spec SPEC`.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .in = compose_in,
    .in_size = sizeof(compose_args),
    .out = compose_out,
    .out_size = sizeof(compose_result),
    .query = query,
    .example = "{\"node\":\"lib/date.c\",\"policy\":\"relevance,sources=node+ancestors,max=10\","
               "\"query\":\"date parsing\"}",
};
