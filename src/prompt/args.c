/* args.c -- see args.h. */
#include "prompt/args.h"

#include "base/hex.h"
#include "bus/bus.h"
#include "chat/find.h"
#include "field/field.h"
#include "json/make.h"
#include "memory/constraints.h"
#include "prompt/scale.h"
#include "prompt/stage.h"
#include "store/view.h"

#define CONTEXT_SHARE 30
#define TAIL_SHARE 20

const char *const vls_prompt_merges[] = {"all", "first", NULL};
const char *const vls_prompt_thinkings[] = {"keep", "drop", NULL};
const char *const vls_prompt_missings[] = {"fail", "text", NULL};

const valise_field vls_prompt_path_item = {
    .name = "path", .type = VALISE_T_PATH, .max = 4096, .ref = "tree.node"};
const valise_field vls_prompt_key_item = {
    .name = "item", .type = VALISE_T_STR, .min = 1, .max = 1024};

/* What stands in a manifest: names and numbers, nothing that somebody said. */
typedef struct asked_args {
    vls_prompt_args of;
} asked_args;

static const valise_field asked_fields[] = {
    VLS_PROMPT_ARGS_FIELDS(asked_args, VLS_PROMPT_FORMAT_HELP, "cli.adapter"),
    VALISE_FIELD_END,
};

/* ---- who may ---- */

static int check_rights(valise_view *view, const vls_prompt_args *args, valise_error *err)
{
    static const char *const always[] = {"session:read", "role:read", "preference:read",
                                         "memory:read"};
    static const char *const any_path[] = {"?path", "", NULL};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(always) && rc == 0; i++)
        rc = valise_view_allows(view, always[i], NULL, err);
    if (rc == 0 && args->paths.count > 0)
        rc = valise_view_allows(view, "context:read", any_path, err);
    return rc; /* of the backpack, and of the node, when its items are read */
}

/* ---- values that were given ---- */

/* A JSON array of tools as a list of texts. */
static int split_tools(valise_list *out, valise_view *view, valise_str json, valise_error *err)
{
    vls_json all = vls_json_null();
    valise_str *texts;
    int rc = vls_json_parse(&all, &view->arena, json, NULL, err);

    if (rc < 0)
        return rc;
    if (all.type != VLS_JSON_ARRAY || all.len > VLS_NEUTRAL_TOOLS_MAX) {
        rc = vls_fail(err, VALISE_E_INVALID, "tools must be an array of at most %u objects",
                      VLS_NEUTRAL_TOOLS_MAX);
        vls_hint(err, "[{\"name\":\"read\",\"inputSchema\":{\"type\":\"object\"}}]");
        return rc;
    }
    texts = vls_arena_array(&view->arena, (size_t)all.len + 1, sizeof(*texts));
    if (!texts)
        return vls_arena_fail(&view->arena, err);
    for (uint32_t i = 0; i < all.len && rc == 0; i++)
        rc = vls_json_text(&texts[i], &view->arena, all.items[i], err);
    *out = (valise_list){texts, all.len};
    return rc;
}

/* A number of tokens; one that is out of bounds is refused with the neutral prompt. */
static int64_t tokens_of(vls_json all, const char *name)
{
    vls_json number = vls_member_of(all, name);

    if (number.type != VLS_JSON_INT || number.integer < 0 || number.integer > VLS_PROMPT_TOKENS_MAX)
        return VALISE_NONE;
    return number.integer;
}

/* What they say for the build itself; the rest is checked with the neutral prompt. */
static int read_params(vls_constraints *out, valise_view *view, valise_str json, valise_error *err)
{
    vls_json all = vls_json_null();
    int rc = vls_json_parse(&all, &view->arena, json, NULL, err);

    if (rc == 0 && all.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "params must be a JSON object");
    if (rc < 0)
        return rc;
    out->model = vls_text_of(all, "model");
    out->max_tokens = tokens_of(all, "maxTokens");
    out->window = tokens_of(all, "window");
    return 0;
}

static int take_given(vls_request *out, vls_constraints *given, valise_view *view,
                      const vls_prompt_args *args, valise_error *err)
{
    int rc = args->tools.ptr ? split_tools(&out->tools, view, args->tools, err) : 0;

    if (rc == 0 && args->params.ptr)
        rc = read_params(given, view, args->params, err);
    if (rc == 0 && args->node.ptr && !args->backpack.ptr)
        rc = vls_fail(err, VALISE_E_INVALID,
                      "`node` reads items of a backpack: give `backpack`, too");
    if (rc == 0 && args->backpack.ptr && !args->node.ptr) {
        rc = vls_fail(err, VALISE_E_INVALID, "items are read as a node: give `node`, too");
        vls_hint(err, "'valise bp permissions' shows which nodes may read what");
    }
    return rc;
}

/* ---- the session and its role ---- */

static int find_head(vls_request *out, valise_view *view, const vls_prompt_args *args,
                     valise_error *err)
{
    int rc = vls_session_find(&out->session, view, args->session, err);

    if (rc < 0)
        return rc;
    if (!args->turn.ptr && out->session.head.version == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "session %s has no turns yet",
                      vls_uuid_text(&out->session.id).s);
        vls_hint(err, "add a turn with 'valise turn add'");
        return rc;
    }
    return vls_turn_find(&out->head, view, &out->session,
                         args->turn.ptr ? args->turn : VLS_STR("HEAD"), VALISE_NONE, err);
}

/* As if nothing had been said; but who speaks is who speaks at the head. */
static int find_session(vls_request *out, valise_view *view, const vls_prompt_args *args,
                        valise_error *err)
{
    vls_turn_row head;
    int rc = vls_session_find(&out->session, view, args->session, err);

    if (rc < 0 || out->session.head.version == 0)
        return rc;
    rc = vls_turn_get(&head, view, &out->session.head, err);
    if (rc > 0 && head.in_force.ptr)
        out->session.first_role = head.in_force;
    return vls_settle(rc);
}

/* What was given counts, then the role. */
static int take_limits(vls_request *out, valise_view *view, const vls_prompt_args *args,
                       const vls_constraints *given, valise_error *err)
{
    vls_role_version_row role = {.version = 0};
    vls_constraints asks = {.max_tokens = VALISE_NONE, .window = VALISE_NONE};
    int rc = vls_role_in_force(&role, view, out, err);

    if (rc > 0)
        rc = vls_constraints_read(&asks, view, &role.constraints, err);
    if (rc < 0)
        return rc;
    if (given->max_tokens != VALISE_NONE)
        asks.max_tokens = given->max_tokens;
    if (given->window != VALISE_NONE)
        asks.window = given->window;
    if (given->model.ptr)
        asks.model = given->model;
    out->model = args->model.ptr ? args->model : asks.model;
    out->window = args->window != VALISE_NONE ? args->window : asks.window;
    out->reserve = args->reserve != VALISE_NONE     ? args->reserve
                   : asks.max_tokens != VALISE_NONE ? asks.max_tokens
                                                    : 0;
    if (out->window == VALISE_NONE || out->reserve < out->window)
        return 0;
    rc = vls_fail(err, VALISE_E_INVALID,
                  "%lld tokens are reserved for the answer, but the window has only %lld",
                  (long long)out->reserve, (long long)out->window);
    vls_hint(err, "give a larger window, or a smaller reserve");
    return rc;
}

/* ---- what is recorded of it ---- */

static int write_asked(vls_request *out, valise_view *view, const vls_prompt_args *args,
                       valise_error *err)
{
    vls_buf text;
    asked_args asked = {*args};
    vls_prompt_args *all = &asked.of;
    vls_uuid_string session = vls_uuid_text(&out->session.id);
    vls_turn_ref_text head = vls_turn_ref_write(&out->head.ref);
    int rc;

    all->session = valise_str_of(session.s);
    all->turn = valise_str_of(head.s);
    all->provider = valise_str_of(out->adapter->name);
    all->model = out->model;
    all->time = VALISE_NONE; /* stands beside it */
    all->window = out->window;
    all->reserve = out->reserve;
    all->context_share = out->context_share;
    all->tail_share = out->tail_share;
    all->tools = all->params = all->query =
        (valise_str){NULL, 0}; /* texts; the first two are parts */
    vls_buf_init_in(&text, &view->arena, VLS_VIEW_MAX_BYTES);
    rc = vls_fields_write(&text, &asked, asked_fields, VLS_FIELD_INPUT, 0, err);
    return rc < 0 ? rc : vls_buf_keep(&out->asked, &text, err);
}

static int make(vls_request *out, valise_view *view, const vls_prompt_args *args, bool said,
                valise_error *err)
{
    vls_request made = {.first_parents = args->merge == 1,
                        .thinking = args->thinking,
                        .missing = args->missing,
                        .inline_max = args->inline_max,
                        .time = args->time,
                        .context_share = CONTEXT_SHARE,
                        .tail_share = TAIL_SHARE,
                        .params = args->params,
                        .paths = args->paths,
                        .frame_type = args->frame_type,
                        .backpack = args->backpack,
                        .node = args->node,
                        .items = args->items,
                        .query = args->query,
                        .retriever = args->retriever,
                        .how = {args->stream, args->no_cache}};
    vls_constraints given = {.max_tokens = VALISE_NONE, .window = VALISE_NONE};
    int rc = vls_adapter_get(&made.adapter, args->provider, err);

    if (args->context_share != VALISE_NONE)
        made.context_share = args->context_share;
    if (args->tail_share != VALISE_NONE)
        made.tail_share = args->tail_share;
    if (args->policies)
        made.policies = *args->policies;
    if (rc == 0 && made.time == VALISE_NONE)
        made.time = view->arena.env->now_ns(view->arena.env->self);
    if (rc == 0)
        rc = check_rights(view, args, err);
    if (rc == 0)
        rc = said ? find_head(&made, view, args, err) : find_session(&made, view, args, err);
    if (rc == 0)
        rc = take_given(&made, &given, view, args, err);
    if (rc == 0)
        rc = take_limits(&made, view, args, &given, err);
    if (rc == 0)
        rc = vls_scale_of(&made.scale, view, made.model, err);
    if (rc == 0)
        rc = write_asked(&made, view, args, err);
    if (rc == 0)
        *out = made;
    return rc;
}

int vls_request_make(vls_request *out, valise_view *view, const vls_prompt_args *args,
                     valise_error *err)
{
    return make(out, view, args, true, err);
}

int vls_request_make_before(vls_request *out, valise_view *view, const vls_prompt_args *args,
                            valise_error *err)
{
    return make(out, view, args, false, err);
}
