/* printers.c -- the operations whose answers are not shown as fields and columns.
 *
 * One row for each, here and nowhere else. */
#include "cli/print.h"

#include "cli/ask.h"
#include "cli/backpack.h"
#include "cli/blobs.h"
#include "cli/checkpoint.h"
#include "cli/derive.h"
#include "cli/diff.h"
#include "cli/found.h"
#include "cli/exchange.h"
#include "cli/flow.h"
#include "cli/flow_live.h"
#include "cli/frames.h"
#include "cli/keeping.h"
#include "cli/prompts.h"
#include "cli/status.h"
#include "cli/tree.h"
#include "cli/turns.h"

/* ---- json:diff ---- */

/* "- /path  old" and "+ /path  new", as people know it from diff. */
static int print_side(cli *c, char sign, valise_str path, const vls_json *value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    if (!value)
        return 0;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    vls_buf_add_byte(&text, sign);
    vls_buf_add_byte(&text, ' ');
    vls_buf_add(&text, path.len ? path : VLS_STR("(whole value)"));
    vls_buf_add_text(&text, "  ");
    rc = vls_json_write_around(&text, *value, err);
    if (rc < 0)
        return rc;
    cli_style_begin(c->out, sign == '-' ? CLI_RED : CLI_GREEN);
    cli_add_data(c->out, vls_buf_str(&text), 0);
    cli_style_end(c->out, CLI_RED);
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

static int print_changes(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    const vls_json *changes = vls_json_get(value, VLS_STR("changes"));
    int rc = 0;

    (void)op;
    for (uint32_t i = 0; changes && i < changes->len && rc == 0; i++) {
        const vls_json *path = vls_json_get(changes->items[i], VLS_STR("path"));
        valise_str at = path ? vls_json_str(*path) : VLS_STR("");
        rc = print_side(c, '-', at, vls_json_get(changes->items[i], VLS_STR("before")), err);
        if (rc == 0)
            rc = print_side(c, '+', at, vls_json_get(changes->items[i], VLS_STR("after")), err);
    }
    return rc;
}

static int status_of_changes(const cli *c, vls_json value)
{
    const vls_json *changes = vls_json_get(value, VLS_STR("changes"));

    return c->options.exit_code && changes && changes->len > 0 ? CLI_DIFFERENT : CLI_DONE;
}

/* ---- json:validate ---- */

static int print_findings(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    const vls_json *findings = vls_json_get(value, VLS_STR("findings"));

    (void)op;
    (void)err;
    if (!findings || findings->len == 0)
        vls_buf_add_text(&c->out->text, "valid\n");
    for (uint32_t i = 0; findings && i < findings->len; i++) {
        const vls_json *path = vls_json_get(findings->items[i], VLS_STR("instancePath"));
        const vls_json *reason = vls_json_get(findings->items[i], VLS_STR("reason"));
        cli_add_data(c->out, path && path->len ? vls_json_str(*path) : VLS_STR("(whole value)"), 0);
        vls_buf_add_text(&c->out->text, ": ");
        cli_add_data(c->out, reason ? vls_json_str(*reason) : VLS_STR(""), 0);
        vls_buf_add_byte(&c->out->text, '\n');
    }
    return 0;
}

static int status_of_findings(const cli *c, vls_json value)
{
    const vls_json *valid = vls_json_get(value, VLS_STR("valid"));

    (void)c;
    return valid && valid->truth ? CLI_DONE : valise_error_exit_code(VALISE_E_INVALID);
}

/* ---- init ---- */

static int print_made(cli *c, const valise_op *op, vls_json value, valise_error *err)
{
    (void)op;
    (void)err;
    vls_buf_add_text(&c->out->text, vls_truth_of(value, "existed")
                                        ? "there is a workspace already in "
                                        : "created a workspace in ");
    cli_add_data(c->out, cli_text_of(value, "path"), 0);
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

/* ---- workspace:validate ---- */

/* "error  object/1f2e3d4c: what is wrong", and below it what to do: all of both, on any terminal.
 */
static int print_problem(cli *c, const valise_op *op, vls_json row, valise_error *err)
{
    valise_str kind = cli_text_of(row, "kind");
    bool note = vls_str_equal(kind, VLS_STR("note"));

    (void)op;
    (void)err;
    cli_style_begin(c->out, note ? CLI_PLAIN : CLI_RED);
    cli_add_data(c->out, kind, 0);
    cli_style_end(c->out, note ? CLI_PLAIN : CLI_RED);
    vls_buf_add_byte(&c->out->text, ' ');
    cli_style_begin(c->out, CLI_YELLOW);
    cli_add_data(c->out, cli_text_of(row, "place"), 0);
    cli_style_end(c->out, CLI_YELLOW);
    vls_buf_add_text(&c->out->text, ": ");
    cli_add_data(c->out, cli_text_of(row, "problem"), 0);
    vls_buf_add_text(&c->out->text, "\n    ");
    cli_add_data(c->out, cli_text_of(row, "remedy"), 0);
    vls_buf_add_byte(&c->out->text, '\n');
    return 0;
}

/* ---- the table ---- */

static const cli_printer printers[] = {
    {.op = "backpack:access-log",
     .columns = {"key", "action", "outcome", "version", "nodeId=NODE", "timestamp=TIME"}},
    {.op = "backpack:bisect", .print = cli_print_commit},
    {.op = "backpack:blame", .print = cli_print_commit, .brief = cli_print_commit_line},
    {.op = "backpack:checkpoint", .print = cli_print_backpack_checkpoint},
    {.op = "backpack:conflicts", .print = cli_print_conflict, .differs = true},
    {.op = "backpack:create", .print = cli_print_backpack_made},
    {.op = "backpack:diff", .print = cli_print_change, .differs = true},
    {.op = "backpack:export", .human_member = "data", .json_member = "data"},
    {.op = "backpack:fork", .print = cli_print_backpack_made},
    {.op = "backpack:history",
     .print = cli_print_commit,
     .brief = cli_print_commit_line,
     .draw = cli_draw_history},
    {.op = "backpack:import", .print = cli_print_backpack_made},
    {.op = "backpack:list",
     .columns = {"name", "commits", "id", "created", "actor=BY", "originName=FORK OF",
                 "originSeq=AT"}},
    {.op = "backpack:ls",
     .columns = {"key", "version?", "seq=COMMIT", "sourceNodeId=NODE", "sourceNamespace=NAMESPACE",
                 "timestamp?=TIME", "tags", "reason", "error", "valueSummary|value=VALUE"}},
    {.op = "backpack:merge", .print = cli_print_merged, .obstacles = "backpack:conflicts"},
    {.op = "backpack:merges", .columns = {"seq=COMMIT", "theirs=OF", "upto=UP TO"}},
    {.op = "backpack:pack", .print = cli_print_packed},
    {.op = "backpack:peek",
     .human_member = "value",
     .json_member = "value",
     .text = true,
     .status = cli_status_of_found},
    {.op = "backpack:permissions",
     .columns = {"nodeId=NODE", "read", "write", "deny", "namespaceRead", "namespaceWrite"}},
    {.op = "backpack:points", .columns = {"point", "seq=COMMIT", "kind", "nodeId=NODE"}},
    {.op = "backpack:quarantine", .print = cli_print_packed},
    {.op = "backpack:release", .print = cli_print_packed},
    {.op = "backpack:rm", .print = cli_print_packed},
    {.op = "backpack:rules", .columns = {"tag", "read", "write", "of=OF THE"}},
    {.op = "backpack:show", .print = cli_print_shown},
    {.op = "backpack:snapshot", .columns = {"key", "version", "sourceNodeId=NODE", "value"}},
    {.op = "backpack:unpack",
     .human_member = "value",
     .json_member = "value",
     .text = true,
     .status = cli_status_of_found},
    {.op = "backpack:validate", .print = print_findings, .status = status_of_findings},
    {.op = "blob:get", .pour = cli_pour_blob},
    {.op = "blob:list",
     .columns = {"sha256=BLOB", "size", "count=HELD", "mediaType=TYPE", "filename", "created?"}},
    {.op = "blob:register", .print = cli_print_blob_registered},
    {.op = "checkpoint:diff", .print = cli_print_checkpoint_diff, .differs = true},
    {.op = "checkpoint:list",
     .columns = {"name", "version?", "treeRoot?=ROOT", "time", "files", "bytes", "lacking",
                 "partial?", "agent?"}},
    {.op = "checkpoint:remove", .print = cli_print_removed},
    {.op = "checkpoint:show",
     .columns = {"path~", "kind", "mode", "size", "content?", "target", "reason"}},
    {.op = "context:list",
     .columns = {"key", "brief=CONTENT", "type?", "topics", "expires", "version?", "updated?",
                 "actor?"}},
    {.op = "context:prune", .print = cli_print_pruned},
    {.op = "context:regenerate",
     .print = cli_print_run,
     .warn = cli_warn_of_run,
     .status = cli_status_of_run},
    {.op = "context:synthesize",
     .print = cli_print_run,
     .warn = cli_warn_of_run,
     .status = cli_status_of_run},
    {.op = "context:report", .print = cli_print_report, .status = cli_status_of_report},
    {.op = "event:list",
     .follows = true,
     .columns = {"seq", "time", "source", "type", "nodeId", "namespace", "runId", "payload"}},
    {.op = "flow:check", .print = cli_print_flow_check, .status = cli_status_of_flow_check},
    {.op = "flow:graph", .human_member = "text"},
    {.op = "flow:rerun", .pour = cli_pour_flow_rerun, .lines = cli_flow_lines},
    {.op = "flow:resume", .pour = cli_pour_flow_resume, .lines = cli_flow_lines},
    {.op = "flow:run", .pour = cli_pour_flow_run, .lines = cli_flow_lines},
    {.op = "flow:runs",
     .cell = cli_flow_run_cell,
     .columns = {"id=RUN", "backpack", "status", "steps", "started*", "ended=TOOK", "node",
                 "code=ERROR", "error*=MESSAGE", "origin*=OF", "actor*=BY"}},
    {.op = "frame:list",
     .cell = cli_frame_cell,
     .columns = {"path~", "type", "frameId=FRAME", "head?", "state", "agent?", "size?",
                 "meta.time*=WHEN"}},
    {.op = "frame:proof", .print = cli_print_proof},
    {.op = "frame:put", .print = cli_print_put, .warn = cli_warn_of_put},
    {.op = "frame:show", .print = cli_print_frame},
    {.op = "frame:verify", .print = cli_print_verified, .status = cli_status_of_verified},
    {.op = "head:get", .print = cli_print_head, .status = cli_status_of_head},
    {.op = "init", .print = print_made},
    {.op = "json:canonical", .human_member = "value", .json_member = "value"},
    {.op = "json:diff",
     .json_member = "patch",
     .print = print_changes,
     .status = status_of_changes,
     .differs = true},
    {.op = "json:get", .human_member = "value", .json_member = "value", .text = true},
    {.op = "json:logic", .human_member = "value", .json_member = "value", .text = true},
    {.op = "json:patch", .human_member = "value", .json_member = "value"},
    {.op = "json:pretty", .human_member = "text"},
    {.op = "json:validate", .print = print_findings, .status = status_of_findings},
    {.op = "log:list",
     .draw = cli_draw_log,
     .columns = {"seq", "id?", "time?", "actor", "type", "payload"}},
    {.op = "node:compose", .print = cli_print_composed},
    {.op = "node:get", .print = cli_print_node},
    {.op = "preference:list",
     .columns = {"id", "content", "scope", "of", "slot", "priority", "topics", "updated?"}},
    {.op = "prompt:ask", .pour = cli_pour_answer},
    {.op = "prompt:blame", .print = cli_print_prompt_blame},
    {.op = "prompt:budget", .print = cli_print_prompt_budget},
    {.op = "prompt:build",
     .print = cli_print_prompt,
     .warn = cli_warn_of_prompt,
     .pour = cli_pour_prompt_build},
    {.op = "prompt:diff", .print = cli_print_prompt_diff, .differs = true},
    {.op = "prompt:explain-miss", .print = cli_print_prompt_miss},
    {.op = "prompt:lint", .print = cli_print_lint, .status = cli_status_of_lint},
    {.op = "prompt:list",
     .columns = {"id", "sessionId=SESSION", "head?", "provider", "model", "tokens", "time",
                 "actor?=BY"}},
    {.op = "prompt:render", .print = cli_print_prompt},
    {.op = "prompt:show",
     .print = cli_print_prompt,
     .warn = cli_warn_of_prompt,
     .pour = cli_pour_prompt_show},
    {.op = "role:list",
     .columns = {"name", "label", "brief=PERSONA", "version?", "topics", "updated?"}},
    {.op = "search:query", .print = cli_print_hit},
    {.op = "session:create", .print = cli_print_session_made},
    {.op = "session:delete", .print = cli_print_session_deleted},
    {.op = "session:fork", .print = cli_print_session_made},
    {.op = "session:graph", .print = cli_print_session_graph},
    {.op = "session:list",
     .columns = {"id", "label", "turns", "head?", "role?", "topics", "updated?"}},
    {.op = "session:export", .print = cli_print_exported, .warn = cli_warn_of_export},
    {.op = "session:import", .print = cli_print_imported, .warn = cli_warn_of_import},
    {.op = "session:role:switch", .print = cli_print_said},
    {.op = "session:update", .print = cli_print_session_made},
    {.op = "slot:invalidate", .print = cli_print_invalidated},
    {.op = "slot:reaffirm", .print = cli_print_reaffirmed},
    {.op = "tree:check-ignore", .print = cli_print_ignored, .status = cli_status_of_ignored},
    {.op = "tree:checkpoint",
     .print = cli_print_checkpoint,
     .warn = cli_warn_of_checkpoint,
     .status = cli_status_of_checkpoint},
    {.op = "tree:diff", .print = cli_print_diff, .differs = true},
    {.op = "tree:list",
     .columns = {"treeRoot=ROOT", "version", "time", "seq?", "files", "bytes", "added", "changed",
                 "removed", "moved?"}},
    {.op = "tree:ls",
     .cell = cli_tree_cell,
     .columns = {"path~", "kind", "size|entries", "nodeId=NODE", "objectId*=OBJECT"}},
    {.op = "tree:restore",
     .print = cli_print_restore,
     .warn = cli_warn_of_restore,
     .status = cli_status_of_restore},
    {.op = "tree:scan",
     .print = cli_print_scan,
     .warn = cli_warn_of_scan,
     .status = cli_status_of_scan},
    {.op = "turn:add", .print = cli_print_said},
    {.op = "turn:branch", .print = cli_print_said},
    {.op = "turn:branches", .print = cli_print_branch},
    {.op = "turn:checkout", .print = cli_print_said},
    {.op = "turn:delete", .print = cli_print_turn_deleted},
    {.op = "turn:diff",
     .print = cli_print_turn_diff,
     .status = cli_status_of_turn_diff,
     .differs = true},
    {.op = "turn:edit", .print = cli_print_said},
    {.op = "turn:log", .print = cli_print_turn, .brief = cli_print_turn_line},
    {.op = "turn:merge", .print = cli_print_said},
    {.op = "turn:show", .print = cli_print_turn_shown},
    {.op = "workspace:gc", .print = cli_print_gc},
    {.op = "workspace:repair", .print = cli_print_repair, .status = cli_status_of_repair},
    {.op = "workspace:status", .print = cli_print_status},
    {.op = "workspace:show", .print = cli_print_anything},
    {.op = "workspace:validate", .print = print_problem},
};

const cli_printer *cli_printer_of(const valise_op *op)
{
    for (size_t i = 0; i < VLS_COUNT(printers); i++) {
        if (strcmp(printers[i].op, op->name) == 0)
            return &printers[i];
    }
    return NULL;
}

bool cli_can_differ(const valise_op *op)
{
    const cli_printer *printer = cli_printer_of(op);

    return printer && printer->differs;
}

bool cli_can_be_brief(const valise_op *op)
{
    const cli_printer *printer = cli_printer_of(op);

    return printer && printer->brief;
}

bool cli_can_draw(const valise_op *op)
{
    const cli_printer *printer = cli_printer_of(op);

    return printer && printer->draw;
}
bool cli_can_be_text(const valise_op *op)
{
    const cli_printer *printer = cli_printer_of(op);

    return printer && printer->text;
}

bool cli_can_follow(const valise_op *op)
{
    const cli_printer *printer = cli_printer_of(op);

    return printer && printer->follows;
}
