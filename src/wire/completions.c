/* completions.c -- write a request of the Chat Completions family. [P5]
 *
 * Start reading at vls_completions_write. Members of the request stand in one order, and the
 * conversation last. */
#include "wire/completions.h"

#include "wire/plan_impl.h"
#include "wire/thinking.h"

/* ---- settle ---- */

/* A file that stands with the provider, but may not be named in every place. */
static bool is_usable(const vls_plan *plan, const vls_plan_block *block)
{
    const vls_completions *dialect = plan->adapter->dialect;
    bool image = block->kind == VLS_SAID_IMAGE;

    if (vls_is_url(block->file))
        return image ? dialect->image_urls : dialect->document_urls;
    return !vls_is_address(block->file) && (image ? dialect->image_ids : dialect->document_ids);
}

int vls_completions_settle(vls_plan *plan, valise_error *err)
{
    int rc = vls_plan_settle_choice(plan, err);

    if (rc == 0)
        rc = vls_plan_settle_errors(plan, err);
    if (rc == 0 && plan->demands & VLS_DEMANDS_OBJECT_ARGS)
        rc = vls_plan_settle_args(plan, err);
    if (rc == 0 && plan->demands & VLS_DEMANDS_ECHO)
        rc = vls_settle_echo(plan, err);
    return rc < 0 ? rc : vls_plan_settle_files(plan, is_usable, err);
}

/* ---- parts ---- */

typedef struct writing {
    vls_wire *wire;
    const vls_plan *plan;
    const vls_completions *dialect;
} writing;

static bool demands(const writing *w, uint32_t flag)
{
    return (w->plan->demands & flag) != 0;
}

static void write_text_part(vls_wire *wire, valise_str text)
{
    vls_wire_open_type(wire, "text");
    vls_wire_pair(wire, "text", text);
    vls_wire_close(wire, '}');
}

static void write_image(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open_type(wire, "image_url");
    vls_wire_key(wire, "image_url");
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "url");
    if (block->file.len > 0)
        vls_wire_str(wire, block->file);
    else
        vls_part_data_url(wire, block);
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

static void write_refusal(vls_wire *wire, valise_str text)
{
    vls_wire_open_type(wire, "refusal");
    vls_wire_pair(wire, "refusal", text);
    vls_wire_close(wire, '}');
}

/* As its own vendor gave it: the signature, and whether it was at its end. */
static void write_thinking(vls_wire *wire, const vls_plan_block *block)
{
    vls_json closed = vls_member_of(block->meta, "closed");

    vls_wire_open_type(wire, "thinking");
    vls_wire_key(wire, "thinking");
    vls_wire_open(wire, '[');
    if (block->text.len > 0)
        write_text_part(wire, block->text);
    vls_wire_close(wire, ']');
    if (block->sign.len > 0)
        vls_wire_pair(wire, "signature", block->sign);
    if (closed.type == VLS_JSON_BOOL) {
        vls_wire_key(wire, "closed");
        vls_wire_bool(wire, closed.truth);
    }
    vls_wire_close(wire, '}');
}

static void write_part(const writing *w, const vls_plan_block *block)
{
    switch ((vls_said_kind)block->kind) {
    case VLS_SAID_TEXT:
        if (vls_truth_of(block->meta, "refusal"))
            write_refusal(w->wire, block->text);
        else
            write_text_part(w->wire, block->text);
        break;
    case VLS_SAID_THINKING:
        write_thinking(w->wire, block);
        break;
    case VLS_SAID_IMAGE:
        if (block->file.len > 0 && !vls_is_url(block->file))
            w->dialect->file(w->wire, block);
        else
            write_image(w->wire, block);
        break;
    case VLS_SAID_DOCUMENT:
        w->dialect->file(w->wire, block);
        break;
    case VLS_SAID_CALL:
    case VLS_SAID_RESULT:
        break; /* no parts */
    }
}

/* ---- contents ---- */

/* Texts, or what was thought, as one string; what is of another kind is not among them. */
static void write_joined(vls_wire *wire, valise_str before, vls_said_kind kind,
                         const vls_plan_block *blocks, size_t count)
{
    bool first = true;

    vls_wire_str(wire, before);
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].kind != kind)
            continue;
        if (!first)
            vls_wire_more(wire, VLS_STR(VLS_PLAN_JOIN));
        vls_wire_more(wire, blocks[i].text);
        first = false;
    }
}

/* Calls have a member of their own; so has thinking, where it goes back beside the content. */
static bool is_part(const writing *w, const vls_plan_block *block)
{
    return block->kind != VLS_SAID_CALL &&
           !(block->kind == VLS_SAID_THINKING && demands(w, VLS_DEMANDS_ECHO));
}

static bool has_parts(const writing *w, const vls_plan_block *blocks, size_t count, bool texts)
{
    for (size_t i = 0; i < count; i++) {
        bool text = blocks[i].kind == VLS_SAID_TEXT;
        if (is_part(w, &blocks[i]) && text == texts)
            return true;
    }
    return false;
}

static void write_content(const writing *w, const vls_plan_block *blocks, size_t count)
{
    vls_wire *wire = w->wire;

    vls_wire_key(wire, "content");
    if (!has_parts(w, blocks, count, true) && !has_parts(w, blocks, count, false)) {
        vls_wire_json(wire, vls_json_null());
        return;
    }
    if (demands(w, VLS_DEMANDS_PLAIN_CONTENT) && !has_parts(w, blocks, count, false)) {
        write_joined(wire, VLS_STR(""), VLS_SAID_TEXT, blocks, count);
        return;
    }
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < count; i++) {
        if (is_part(w, &blocks[i]))
            write_part(w, &blocks[i]);
    }
    vls_wire_close(wire, ']');
}

/* What a tool said. A blank one is a string everywhere: no part may be blank. */
static void write_result_content(const writing *w, const vls_plan_block *result)
{
    vls_plan_block alone = {.kind = VLS_SAID_TEXT, .text = result->text};
    const vls_plan_block *blocks = result->inner_count > 0 ? result->inner : &alone;
    size_t count = result->inner_count > 0 ? result->inner_count : 1;
    valise_str before = result->is_error ? VLS_STR(VLS_PART_ERROR) : VLS_STR("");
    vls_wire *wire = w->wire;

    vls_wire_key(wire, "content");
    if (w->dialect->plain_results || demands(w, VLS_DEMANDS_PLAIN_CONTENT) ||
        (count == 1 && vls_is_blank(blocks[0].text))) {
        write_joined(wire, before, VLS_SAID_TEXT, blocks, count);
        return;
    }
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < count; i++) {
        vls_wire_open_type(wire, "text");
        vls_wire_pair(wire, "text", i == 0 ? before : VLS_STR(""));
        vls_wire_more(wire, blocks[i].text);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
}

/* ---- messages ---- */

static void write_call(vls_wire *wire, const vls_plan_block *call)
{
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "id", call->id);
    vls_wire_pair(wire, "type", VLS_STR("function"));
    vls_wire_key(wire, "function");
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "name", call->name);
    vls_wire_key(wire, "arguments");
    vls_part_args_text(wire, call);
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

static void write_calls(vls_wire *wire, const vls_plan_message *message)
{
    bool any = false;

    for (size_t i = 0; i < message->blocks.len; i++) {
        if (message->blocks.ptr[i].kind != VLS_SAID_CALL)
            continue;
        if (!any) {
            vls_wire_key(wire, "tool_calls");
            vls_wire_open(wire, '[');
        }
        any = true;
        write_call(wire, &message->blocks.ptr[i]);
    }
    if (any)
        vls_wire_close(wire, ']');
}

static void write_result(const writing *w, const vls_plan_block *result)
{
    vls_wire_open(w->wire, '{');
    vls_wire_pair(w->wire, "role", VLS_STR("tool"));
    vls_wire_pair(w->wire, "tool_call_id", result->id);
    if (w->dialect->names_results && result->name.len > 0)
        vls_wire_pair(w->wire, "name", result->name);
    write_result_content(w, result);
    vls_wire_close(w->wire, '}');
}

/* What the model thought, where that goes back. */
static void write_thought(const writing *w, const vls_plan_message *message)
{
    bool any = false;

    for (size_t i = 0; i < message->blocks.len; i++)
        any = any || message->blocks.ptr[i].kind == VLS_SAID_THINKING;
    if (!any || !demands(w, VLS_DEMANDS_ECHO))
        return;
    vls_wire_key(w->wire, "reasoning_content");
    write_joined(w->wire, VLS_STR(""), VLS_SAID_THINKING, message->blocks.ptr, message->blocks.len);
}

static const char *role_name(const writing *w, uint8_t role)
{
    if (role == VLS_SAYS_SYSTEM)
        return demands(w, VLS_DEMANDS_OLD_NAMES) ? "system" : "developer";
    return vls_says[role];
}

static void write_message(const writing *w, const vls_plan_message *message, bool last)
{
    bool assistant = message->role == VLS_SAYS_ASSISTANT;

    if (message->role == VLS_SAYS_TOOL) {
        for (size_t i = 0; i < message->blocks.len; i++)
            write_result(w, &message->blocks.ptr[i]);
        return;
    }
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "role");
    vls_wire_text(w->wire, role_name(w, message->role));
    write_content(w, message->blocks.ptr, message->blocks.len);
    write_thought(w, message);
    if (assistant)
        write_calls(w->wire, message);
    if (assistant && last && w->dialect->prefix) {
        vls_wire_key(w->wire, "prefix");
        vls_wire_bool(w->wire, true);
    }
    vls_wire_close(w->wire, '}');
}

static void write_messages(const writing *w)
{
    const vls_plan *plan = w->plan;

    vls_wire_key(w->wire, "messages");
    vls_wire_open(w->wire, '[');
    if (plan->system.len > 0) {
        vls_wire_open(w->wire, '{');
        vls_wire_key(w->wire, "role");
        vls_wire_text(w->wire, role_name(w, VLS_SAYS_SYSTEM));
        write_content(w, plan->system.ptr, plan->system.len);
        vls_wire_close(w->wire, '}');
    }
    for (size_t i = 0; i < plan->messages.len; i++)
        write_message(w, &plan->messages.ptr[i], i + 1 == plan->messages.len);
    vls_wire_close(w->wire, ']');
}

/* ---- what stands before ---- */

static int write_tools(const writing *w, valise_error *err)
{
    vls_wire *wire = w->wire;
    int rc = 0;

    if (w->plan->tools.len == 0)
        return 0;
    vls_wire_key(wire, "tools");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < w->plan->tools.len && rc == 0; i++) {
        vls_json tool = w->plan->tools.ptr[i];
        vls_wire_open_type(wire, "function");
        vls_wire_key(wire, "function");
        vls_wire_open(wire, '{');
        rc = vls_schema_write_tool(wire, w->plan, tool, "parameters", true, err);
        vls_wire_close(wire, '}');
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    return rc;
}

static void write_choice(const writing *w)
{
    vls_json choice = vls_member_of(w->plan->params, "toolChoice");
    vls_wire *wire = w->wire;

    if (choice.type == VLS_JSON_NULL)
        return;
    vls_wire_key(wire, "tool_choice");
    if (choice.type == VLS_JSON_OBJECT) {
        vls_wire_open_type(wire, "function");
        vls_wire_key(wire, "function");
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "name", vls_plan_name_out(w->plan, vls_text_of(choice, "name")));
        vls_wire_close(wire, '}');
        vls_wire_close(wire, '}');
    } else if (vls_str_equal(vls_json_str(choice), VLS_STR("any"))) {
        vls_wire_text(wire, w->dialect->any);
    } else {
        vls_wire_str(wire, vls_json_str(choice));
    }
}

static void write_stream(const writing *w)
{
    vls_wire_key(w->wire, "stream");
    vls_wire_bool(w->wire, true);
    if (!w->dialect->asks_usage)
        return;
    vls_wire_key(w->wire, "stream_options");
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "include_usage");
    vls_wire_bool(w->wire, true);
    vls_wire_close(w->wire, '}');
}

int vls_completions_write(vls_wire *out, const vls_plan *plan, const vls_wire_write *how,
                          valise_error *err)
{
    const vls_completions *dialect = plan->adapter->dialect;
    static const char *const ours[] = {
        "stream_options", "temperature", "max_tokens", "max_completion_tokens",
        "stop",           "tool_choice", NULL};
    writing w = {out, plan, dialect};
    int rc = 0;

    vls_wire_open(out, '{');
    if (plan->model.len > 0 || !dialect->no_model)
        rc = vls_part_model(out, plan, err);
    if (rc < 0)
        return rc;
    if (how->stream)
        write_stream(&w);
    vls_part_param(out, plan, "temperature", "temperature");
    vls_part_param(out, plan, "maxTokens",
                   demands(&w, VLS_DEMANDS_OLD_NAMES) ? "max_tokens" : "max_completion_tokens");
    vls_part_param(out, plan, "stop", "stop");
    rc = vls_wire_extras(out, vls_member_of(plan->params, "extras"), ours, err);
    if (rc == 0)
        rc = write_tools(&w, err);
    if (rc < 0)
        return rc;
    write_choice(&w);
    write_messages(&w);
    vls_wire_close(out, '}');
    return vls_wire_check(out, err);
}
