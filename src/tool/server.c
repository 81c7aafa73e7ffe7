/* server.c -- the tools of an MCP server: which there are, and a call of one. */
#include "base/utf8.h"
#include "json/make.h"
#include "tool/mcp.h"

#define PAGES_MAX 256u
#define CURSOR_MAX 65536u
#define LEFT_OUT_MAX 16u /* that somebody is told of */

/* ---- calling ---- */

static int ask_to_call(vls_json *out, vls_arena *arena, const vls_tool_entry *entry,
                       const vls_tool_asked *asked, vls_mcp_wait *wait, valise_error *err)
{
    vls_json params;
    int rc = VLS_PAIRS(&params, arena, err, {"arguments", asked->arguments, false},
                       {"name", vls_json_string(entry->own_name), false});

    if (rc == 0)
        rc = vls_mcp_acquire(entry->server, wait, err);
    if (rc < 0)
        return rc;
    rc = vls_mcp_ask(out, arena, entry->server, "tools/call", params, wait, err);
    vls_mcp_release(entry->server);
    return rc;
}

static int call_server(vls_tool_answer *out, vls_arena *arena, const valise_env *env,
                       const vls_tool_entry *entry, const vls_tool_asked *asked, valise_error *err)
{
    vls_mcp_wait wait = {
        .look = asked->look, .arg = asked->arg, .looked_ns = env->ticks_ns(env->self)};
    valise_error why = VALISE_ERROR_INIT;
    vls_json result = vls_json_null();
    int rc = ask_to_call(&result, arena, entry, asked, &wait, &why);

    if (rc == 0)
        return vls_mcp_take_answer(out, arena, result, err);
    if (!wait.given_up)
        return vls_tool_tell_error(out, arena, &why, err);
    if (err)
        *err = why;
    return rc;
}

/* ---- which there are ---- */

typedef struct listing {
    vls_toolbox *box;
    const vls_tool_server *given;
    vls_mcp *mcp;
    vls_mcp_wait wait;
    vls_toolbox_mark mark; /* before its first tool */
    bool *found;           /* of those that are wanted */
    size_t left_out;       /* that cannot be used */
} listing;

/* Is it wanted? */
static bool choose(listing *l, valise_str own)
{
    bool wanted = l->given->only_count == 0;

    for (size_t i = 0; i < l->given->only_count; i++) {
        if (vls_str_equal(l->given->only[i], own))
            wanted = l->found[i] = true;
    }
    return wanted;
}

/* One that cannot be used is no reason to do without the others, unless it was named. */
static int leave_out(listing *l, const valise_error *why)
{
    if (l->given->left_out && l->left_out++ < LEFT_OUT_MAX)
        l->given->left_out(l->given->arg, vls_mcp_called(l->mcp), why);
    return 0;
}

/* Which server, and what can be done. */
static int fail_tool(const listing *l, int rc, const valise_error *why, valise_error *err)
{
    if (rc == VALISE_E_NO_MEMORY) {
        if (err)
            *err = *why;
        return rc;
    }
    (void)vls_fail(err, rc, "%s: %.300s", vls_mcp_called(l->mcp).ptr, why->message);
    if (rc == VALISE_E_EXISTS)
        vls_hint(err, "give the tools of the server a prefix, or name only those that you want");
    else
        vls_hint(err, "name the tools that you want, without this one");
    return rc;
}

/* Two of one server would be one. */
static int check_twice(const listing *l, valise_str name, valise_error *err)
{
    const vls_toolbox *box = l->box;

    for (size_t i = l->mark.count; i < box->entries.len; i++) {
        if (vls_str_equal(box->entries.ptr[i]->tool.name, name))
            return vls_fail(err, VALISE_E_INVALID, "it has two tools '%s'", vls_text_short(name).s);
    }
    return 0;
}

/* Under the name that it has here. *alone: what is wrong with it is wrong with nothing else. */
static int put_tool(bool *alone, listing *l, vls_arena *arena, vls_tool tool, valise_error *err)
{
    const valise_str own = tool.name;
    vls_tool_entry *entry;
    int rc = vls_mcp_name(&tool.name, arena, l->given->prefix, own, err);

    if (rc == 0)
        rc = check_twice(l, tool.name, err);
    *alone = rc < 0 || l->box->entries.len < VLS_TOOLS_MAX;
    if (rc < 0)
        return rc;
    rc = vls_toolbox_put(&entry, l->box, &tool, err);
    if (rc == 0)
        rc = vls_arena_dup(&entry->own_name, &l->box->arena, own, err);
    if (rc < 0)
        return rc;
    entry->server = l->mcp;
    entry->call = call_server;
    return 0;
}

static int add_tool(listing *l, vls_arena *arena, vls_json value, valise_error *err)
{
    const vls_toolbox_mark mark = vls_toolbox_here(l->box);
    valise_error why = VALISE_ERROR_INIT;
    vls_tool tool = {.name = {NULL, 0}};
    int rc = vls_mcp_take_tool(&tool, value, &why);
    bool alone = rc < 0;

    /* One without a name is none that was named. */
    if (tool.name.ptr ? !choose(l, tool.name) : l->given->only_count > 0)
        return 0;
    if (rc == 0)
        rc = put_tool(&alone, l, arena, tool, &why);
    if (rc == 0)
        return 0;
    if (!alone || l->given->only_count > 0 || rc == VALISE_E_NO_MEMORY || rc == VALISE_E_EXISTS)
        return fail_tool(l, rc, &why, err);
    vls_toolbox_undo(l->box, mark);
    return leave_out(l, &why);
}

/* One page; the cursor of the next one, "" after the last. */
static int add_page(listing *l, vls_buf *cursor, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_error why = VALISE_ERROR_INIT;
    vls_json params = vls_json_null(), result = vls_json_null();
    vls_mcp_page page;
    int rc = 0;

    vls_arena_init(&arena, l->box->env, VLS_JSON_MAX_BYTES);
    if (cursor->len > 0)
        rc = VLS_PAIRS(&params, &arena, err,
                       {"cursor", vls_json_string(vls_buf_str(cursor)), false});
    if (rc == 0)
        rc = vls_mcp_ask(&result, &arena, l->mcp, "tools/list", params, &l->wait, err);
    if (rc < 0)
        return rc;
    rc = vls_mcp_take_page(&page, result, &why);
    if (rc < 0)
        return vls_fail(err, rc, "%s: %.300s", vls_mcp_called(l->mcp).ptr, why.message);
    for (uint32_t i = 0; rc == 0 && i < page.tools.len; i++)
        rc = add_tool(l, &arena, page.tools.items[i], err);
    vls_buf_clear(cursor);
    vls_buf_add(cursor, page.cursor);
    return rc < 0 ? rc : vls_buf_check(cursor, err);
}

static int check_wanted(const listing *l, valise_error *err)
{
    for (size_t i = 0; i < l->given->only_count; i++) {
        if (!l->found[i])
            return vls_fail(err, VALISE_E_NOT_FOUND, "%s has no tool '%s'",
                            vls_mcp_called(l->mcp).ptr, vls_text_short(l->given->only[i]).s);
    }
    return 0;
}

static int add_pages(listing *l, valise_error *err)
{
    VLS_AUTO(buf) vls_buf cursor = {0};
    int rc = 0;

    vls_buf_init(&cursor, l->box->env, CURSOR_MAX);
    for (unsigned pages = 0; rc == 0; pages++) {
        rc = add_page(l, &cursor, err);
        if (rc < 0 || cursor.len == 0)
            break;
        if (pages == PAGES_MAX)
            return vls_fail(err, VALISE_E_LIMIT, "%s has more than %u pages of tools",
                            vls_mcp_called(l->mcp).ptr, PAGES_MAX);
    }
    return rc < 0 ? rc : check_wanted(l, err);
}

/* ---- putting in ---- */

/* Its name in messages: what it is called, or its program without the folder. */
static valise_str name_of(const vls_tool_server *server)
{
    valise_str file = server->command.argv[0];
    size_t at = file.len;

    if (server->name.len > 0)
        return server->name;
    while (at > 0 && file.ptr[at - 1] != '/')
        at--;
    return at < file.len ? vls_str_from(file, at) : file;
}

static int list(listing *l, valise_error *err)
{
    int rc = vls_mcp_acquire(l->mcp, &l->wait, err);

    if (rc < 0)
        return rc;
    rc = add_pages(l, err);
    vls_mcp_release(l->mcp);
    return rc;
}

static int start_and_list(listing *l, vls_arena *scratch, valise_error *err)
{
    vls_toolbox *box = l->box;
    vls_tool_start *start = vls_arena_zalloc(&box->arena, sizeof(*start));
    int rc;

    if (!start)
        return vls_arena_fail(&box->arena, err);
    rc = vls_tool_start_make(start, &box->arena, &l->given->command, err);
    if (rc < 0)
        return rc;
    l->found = vls_arena_zalloc(scratch, VLS_MAX(1, l->given->only_count));
    if (!l->found)
        return vls_arena_fail(scratch, err);
    if (!vls_vec_reserve(&box->servers, box->env, box->servers.len + 1))
        return vls_fail_memory(err);
    rc = vls_mcp_new(&l->mcp, box->env, name_of(l->given), start, err);
    return rc < 0 ? rc : list(l, err);
}

int vls_toolbox_add_server(vls_toolbox *box, const vls_tool_server *server, valise_error *err)
{
    VLS_AUTO(arena) vls_arena scratch = {0};
    listing l = {.box = box, .given = server};
    int rc;

    VLS_ARG(box && server, err);
    vls_arena_init(&scratch, box->env, 1 << 20);
    l.wait = (vls_mcp_wait){
        .look = server->look, .arg = server->arg, .looked_ns = box->env->ticks_ns(box->env->self)};
    l.mark = vls_toolbox_here(box);
    rc = start_and_list(&l, &scratch, err);
    if (rc < 0) {
        vls_mcp_free(l.mcp); /* before what it was started with */
        vls_toolbox_undo(box, l.mark);
        return rc;
    }
    box->servers.ptr[box->servers.len++] = l.mcp;
    return 0;
}
