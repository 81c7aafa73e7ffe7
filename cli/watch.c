/* watch.c -- see watch.h.
 *
 *     for people   added src/a.c             a line each; the first scan of all has none
 *     --json       {"event":"added","path":"src/a.c"}
 *                  {"event":"recorded","version":7,...}        behind those of one version
 *                  {"event":"regenerated","path":"src","type":"notes",...}    --regenerate
 *                  {"event":"watching","version":7}            once, when everything is watched
 *
 * A program gets the lines of a version on its standard input. It is run when they are written, and
 * the next look waits for it. */
#include "cli/watch.h"

#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/text.h"
#include "base/time.h"
#include "bus/bus.h"
#include "cli/call.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/print.h"
#include "cli/program.h"
#include "cli/progress.h"

#define WAIT_NS INT64_C(200000000) /* between two looks for Ctrl-C and for the reader */
#define TIMES_MAX 25u              /* so many times that: the longest wait for others */
#define LINES_MAX ((size_t)1 << 30)
#define SHORT_ID 8

typedef struct watch_args {
    bool exec, regenerate, run, once;
    int64_t count;
    int64_t timeout_ns;
    valise_list program;
} watch_args;

static const valise_field program_word = {
    .name = "program", .help = "A word of it.", .type = VALISE_T_STR, .ref = CLI_PROGRAM};

static const valise_field watch_in[] = {
    VALISE_FIELD(watch_args, exec, BOOL, 0,
                 "Run the program after `--` whenever something changed."),
    VALISE_FIELD(watch_args, regenerate, BOOL, 0, "Regenerate frames whose sources changed."),
    VALISE_FIELD(watch_args, run, BOOL, 0,
                 "Run the programs that made frames, if they are trusted."),
    VALISE_FIELD(watch_args, once, BOOL, 0, "End after the first change: the same as --count 1."),
    VALISE_FIELD_WITH(watch_args, count, INT, 0, "End after this many changes.", .min = 0,
                      .max = INT64_MAX),
    VALISE_FIELD_AS(watch_args, timeout_ns, "timeout", DURATION, 0, "End after this time."),
    VALISE_FIELD_WITH(watch_args, program, LIST, VALISE_POSITIONAL,
                      "A program that reads what changed, one JSON object per line.",
                      .more = &program_word),
    VALISE_FIELD_END,
};

/* ---- lines ---- */

static const char *const event_names[] = {
    "added",       "changed",      "removed",   "moved",
    "ambiguous",   "error",        "recorded",  "watching",
    "regenerated", "needs-author", "needs-run", "unknown-policy",
    "orphaned",    "failed",       "note",      NULL};
enum {
    EVENT_RECORDED = VALISE_TREE_ERROR + 1,
    EVENT_WATCHING,
    EVENT_SLOT, /* and those that follow, in the order of CLI_SLOT_... */
    EVENT_NOTE = EVENT_SLOT + CLI_SLOT_FAILED + 1,
};

typedef struct line {
    int64_t event;
    valise_str path, from, type, reason;
    valise_id root, frame, previous;
    int64_t version, added, changed, removed, moved;
} line;

static const valise_field change_fields[] = {
    VALISE_FIELD_WITH(line, event, ENUM, VALISE_REQUIRED, "What happened.", .more = event_names),
    VALISE_FIELD(line, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD(line, from, PATH, VALISE_NULLABLE, "Where it was."),
    VALISE_FIELD(line, reason, STR, VALISE_NULLABLE, "The reason."),
    VALISE_FIELD_END,
};
static const valise_field version_fields[] = {
    VALISE_FIELD_WITH(line, event, ENUM, VALISE_REQUIRED, "What happened.", .more = event_names),
    VALISE_FIELD(line, version, INT, VALISE_REQUIRED, "Of the tree."),
    VALISE_FIELD_AS(line, root, "treeRoot", ID, VALISE_NULLABLE, "Root of the tree."),
    VALISE_FIELD(line, added, INT, 0, "Nodes that came."),
    VALISE_FIELD(line, changed, INT, 0, "Nodes that changed."),
    VALISE_FIELD(line, removed, INT, 0, "Nodes that went."),
    VALISE_FIELD(line, moved, INT, 0, "What moved."),
    VALISE_FIELD_END,
};
static const valise_field watching_fields[] = {
    VALISE_FIELD_WITH(line, event, ENUM, VALISE_REQUIRED, "What happened.", .more = event_names),
    VALISE_FIELD(line, version, INT, VALISE_REQUIRED, "Of the tree."),
    VALISE_FIELD_AS(line, root, "treeRoot", ID, VALISE_NULLABLE, "Root of the tree."),
    VALISE_FIELD_END,
};
static const valise_field slot_fields[] = {
    VALISE_FIELD_WITH(line, event, ENUM, VALISE_REQUIRED, "What happened.", .more = event_names),
    VALISE_FIELD(line, path, PATH, VALISE_REQUIRED, "The path."),
    VALISE_FIELD(line, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(line, frame, "frameId", ID, VALISE_NULLABLE, "The head."),
    VALISE_FIELD_AS(line, previous, "previousHead", ID, VALISE_NULLABLE, "The head before."),
    VALISE_FIELD(line, reason, STR, VALISE_NULLABLE, "The reason."),
    VALISE_FIELD_END,
};
static const valise_field note_fields[] = {
    VALISE_FIELD_WITH(line, event, ENUM, VALISE_REQUIRED, "What happened.", .more = event_names),
    VALISE_FIELD(line, reason, STR, VALISE_REQUIRED, "What it is."),
    VALISE_FIELD_END,
};

static const valise_field *const lines[] = {change_fields, version_fields, watching_fields,
                                            slot_fields,   note_fields,    NULL};

typedef struct watching {
    cli *c;
    const watch_args *args;
    cli_progress progress;
    cli_regenerating regenerating; /* c NULL: not asked for */
    char *const *argv;             /* of the program; NULL: none */
    vls_buf lines;                 /* of this version, for the program */
    vls_buf text;                  /* of one line */
    int64_t count;                 /* versions since it began */
    int64_t limit;                 /* then it ends; 0: never */
    bool began;
    bool first;      /* there was no tree before: not every file is told */
    unsigned failed; /* rounds in a row that others were in the way of */
} watching;

/* Append a line to out. */
static int write_line(vls_buf *out, const line *l, const valise_field *fields, valise_error *err)
{
    int rc = vls_fields_write(out, l, fields, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);

    vls_buf_add_byte(out, '\n');
    return rc < 0 ? rc : vls_buf_check(out, err);
}

static int print_json(watching *w, const line *l, const valise_field *fields, valise_error *err)
{
    if (!w->c->options.json || w->c->options.quiet)
        return 0;
    return write_line(&w->c->out->text, l, fields, err);
}

static void add_tree_path(watching *w, valise_str path)
{
    /* The bytes, whatever they are: it is never written as JSON. */
    cli_add_path(&w->c->out->text, w->c, vls_json_string(path));
}

/* "moved a.c -> b.c", "error c.c: Permission denied". */
static void print_text(watching *w, const line *l)
{
    static const cli_style styles[] = {[VALISE_TREE_ADDED] = CLI_GREEN,
                                       [VALISE_TREE_CHANGED] = CLI_YELLOW,
                                       [VALISE_TREE_REMOVED] = CLI_RED,
                                       [VALISE_TREE_MOVED] = CLI_YELLOW,
                                       [VALISE_TREE_AMBIGUOUS] = CLI_PLAIN,
                                       [VALISE_TREE_ERROR] = CLI_RED,
                                       [EVENT_SLOT] = CLI_GREEN,
                                       [EVENT_NOTE - 1] = CLI_RED};
    cli_style style = styles[l->event];
    cli_out *out = w->c->out;

    if (w->c->options.json || w->c->options.quiet)
        return;
    if (l->event > EVENT_SLOT && l->event < EVENT_NOTE - 1)
        style = CLI_YELLOW;
    cli_style_begin(out, style);
    vls_buf_add_text(&out->text, event_names[l->event]);
    cli_style_end(out, style);
    vls_buf_add_byte(&out->text, ' ');
    if (l->from.len > 0) {
        add_tree_path(w, l->from);
        vls_buf_add_text(&out->text, " -> ");
    }
    add_tree_path(w, l->path);
    if (l->type.len > 0) {
        vls_buf_add_byte(&out->text, ' ');
        cli_add_data(out, l->type, 0);
    }
    if (l->event == EVENT_SLOT)
        vls_buf_printf(&out->text, " %.*s", SHORT_ID, vls_id_hex(&l->frame).s);
    if (l->reason.len > 0) {
        vls_buf_add_text(&out->text, ": ");
        cli_add_data(out, l->reason, 0);
    }
    vls_buf_add_byte(&out->text, '\n');
}

/* ---- what happens ---- */

/* A line to everybody. */
static int tell(watching *w, const line *l, const valise_field *fields, valise_error *err)
{
    int rc;

    cli_progress_clear(&w->progress);
    print_text(w, l);
    rc = print_json(w, l, fields, err);
    if (rc == 0 && w->argv)
        rc = write_line(&w->lines, l, fields, err);
    return rc < 0 ? rc : cli_out_row(w->c->out, err);
}

static int take_change(void *arg, const valise_tree_change *change, valise_error *err)
{
    watching *w = arg;
    line l = {.event = change->kind, .path = change->path, .from = change->from};

    if (w->first)
        return 0;
    if (change->from.len == 0)
        l.from.ptr = NULL;
    vls_buf_clear(&w->text);
    vls_text_neutralize(&w->text, change->reason, 0);
    if (change->reason.len > 0)
        l.reason = vls_buf_str(&w->text);
    return tell(w, &l, change_fields, err);
}

static int take_slot(void *arg, const cli_slot_news *news, valise_error *err)
{
    watching *w = arg;
    line l = {.event = EVENT_SLOT + news->what,
              .path = news->path,
              .type = news->type,
              .frame = news->frame,
              .previous = news->previous};

    vls_buf_clear(&w->text);
    vls_text_neutralize(&w->text, news->why, 0);
    if (news->why.len > 0)
        l.reason = vls_buf_str(&w->text);
    return tell(w, &l, slot_fields, err);
}

static int run_hook(watching *w, const valise_tree_scanned *scanned, valise_error *err)
{
    vls_id_text root = vls_id_hex(&scanned->tree_root);
    char version[32];
    const cli_variable variables[] = {
        {"VALISE_VERSION", version}, {"VALISE_ROOT", root.s}, {NULL, NULL}};
    int rc;

    (void)snprintf(version, sizeof(version), "%lld", (long long)scanned->version);
    rc = cli_run_hook(w->argv, variables, vls_buf_str(&w->lines), err);
    if (rc > 0 && !w->c->options.quiet)
        (void)dprintf(STDERR_FILENO, "valise: '%s' ended with exit code %d\n", w->argv[0], rc);
    return vls_settle(rc);
}

/* What is made again is told at once. */
static int regenerate(watching *w, int (*how)(cli_regenerating *r, valise_error *err),
                      valise_error *err)
{
    int rc = how(&w->regenerating, err);

    cli_progress_clear(&w->progress);
    return rc < 0 ? rc : cli_out_flush(w->c->out, err);
}

static int take_version(void *arg, const valise_tree_scanned *scanned, valise_error *err)
{
    watching *w = arg;
    const line l = {.event = EVENT_RECORDED,
                    .version = scanned->version,
                    .root = scanned->tree_root,
                    .added = scanned->added,
                    .changed = scanned->changed,
                    .removed = scanned->removed,
                    .moved = scanned->moved};
    int rc;

    w->count += w->began;
    cli_progress_clear(&w->progress);
    rc = print_json(w, &l, version_fields, err);
    if (rc == 0)
        rc = cli_out_flush(w->c->out, err);
    if (rc == 0 && w->regenerating.c)
        rc = regenerate(w, cli_regenerate, err);
    if (rc == 0 && w->argv && !w->first)
        rc = run_hook(w, scanned, err);
    vls_buf_clear(&w->lines);
    return rc;
}

static void say(void *arg, const char *text)
{
    watching *w = arg;
    const line l = {.event = EVENT_NOTE, .reason = valise_str_of(text)};

    if (w->c->options.quiet)
        return;
    cli_progress_clear(&w->progress);
    if (w->c->options.json)
        (void)print_json(w, &l, note_fields, NULL);
    else
        (void)dprintf(STDERR_FILENO, "valise: %s\n", text);
}

static void take_note(void *arg, int note, const char *text)
{
    (void)note;
    say(arg, text);
}

/* ---- all of it ---- */

static int say_watching(watching *w, const valise_roots *now, valise_error *err)
{
    const line l = {.event = EVENT_WATCHING, .version = now->version, .root = now->tree};
    int rc = print_json(w, &l, watching_fields, err);

    if (!w->c->options.json && !w->c->options.quiet)
        (void)dprintf(STDERR_FILENO, "valise: watching %s; Ctrl-C ends it\n",
                      w->c->workspace->place.root);
    return rc < 0 ? rc : cli_out_flush(w->c->out, err);
}

static bool is_over(const watching *w, int64_t end_ns)
{
    const valise_env *env = w->c->env;

    return cli_is_terminated() || cli_out_is_closed(w->c->out) ||
           (w->limit > 0 && w->count >= w->limit) || env->ticks_ns(env->self) >= end_ns;
}

static int64_t end_of(const watching *w)
{
    const valise_env *env = w->c->env;
    int64_t end;

    if (w->args->timeout_ns <= 0 ||
        __builtin_add_overflow(env->ticks_ns(env->self), w->args->timeout_ns, &end))
        return INT64_MAX;
    return end;
}

/* Others were in the way for too long: that is said once, and passes. */
static int wait_for_others(watching *w, int rc, const valise_error *err)
{
    int64_t pause_ns = WAIT_NS * (int64_t)VLS_MIN(w->failed + 1, TIMES_MAX);
    const struct timespec pause = {.tv_sec = pause_ns / VLS_NS_PER_SECOND,
                                   .tv_nsec = pause_ns % VLS_NS_PER_SECOND};
    char text[sizeof(err->message) + 32];

    if (rc != VALISE_E_BUSY && rc != VALISE_E_CONFLICT)
        return rc;
    (void)snprintf(text, sizeof(text), "%s; it is tried again", err->message);
    if (w->failed++ == 0)
        say(w, text);
    (void)nanosleep(&pause, NULL);
    return 0;
}

static int step(watching *w, valise_watch *watch, int64_t end_ns, valise_error *err)
{
    const valise_env *env = w->c->env;
    int64_t left = end_ns - env->ticks_ns(env->self);
    int rc = valise_watch_step(watch, VLS_MIN(VLS_MAX(left, 0), WAIT_NS), err);

    cli_progress_clear(&w->progress);
    if (rc < 0)
        rc = wait_for_others(w, rc, err);
    else
        w->failed = 0;
    if (rc >= 0 && w->regenerating.c) {
        rc = regenerate(w, cli_regenerate_if_due, err);
        vls_buf_clear(&w->lines); /* a program is told of versions */
    }
    if (rc >= 0)
        rc = cli_out_flush(w->c->out, err);
    if (rc == 0)
        rc = cli_check_interrupt(err);
    cli_out_look(w->c->out);
    return rc;
}

static int run(watching *w, valise_error *err)
{
    valise_watch_options options = VALISE_WATCH_OPTIONS_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;
    valise_watch *watch = NULL;
    valise *v = w->c->workspace;
    int64_t end_ns = end_of(w);
    valise_call call;
    int rc = cli_call_init(&call, w->c, err);

    if (rc == 0)
        rc = valise_roots_get(&roots, v, &call, err);
    if (rc < 0)
        return rc;
    w->first = roots.version == 0;
    cli_progress_init(&w->progress, w->c);
    call.progress = (valise_progress){cli_progress_tell, &w->progress};
    options.changed = take_change;
    options.recorded = take_version;
    options.noted = take_note;
    options.arg = w;
    w->regenerating.call = &call;
    rc = valise_watch_open(&watch, v, &options, &call, err);
    cli_progress_clear(&w->progress);
    w->first = false;
    w->began = true;
    if (rc == 0)
        rc = valise_roots_get(&roots, v, NULL, err);
    if (rc == 0)
        rc = say_watching(w, &roots, err);
    while (rc == 0 && !is_over(w, end_ns))
        rc = step(w, watch, end_ns, err);
    valise_watch_close(watch);
    return rc == VALISE_E_CANCELLED && cli_is_terminated() ? 0 : rc;
}

static int check_args(const watch_args *a, valise_error *err)
{
    if (a->exec && a->program.count == 0) {
        vls_report(err, CLI_E_USAGE, -1, "no program given: it follows --");
        vls_hint(err, "valise watch --exec -- make test");
        return CLI_E_USAGE;
    }
    if (a->run && !a->regenerate) {
        vls_report(err, CLI_E_USAGE, -1, "--run works only with --regenerate");
        vls_hint(err, "give --regenerate as well: valise watch --regenerate --run; to run a "
                      "program of your own, use --exec");
        return CLI_E_USAGE;
    }
    return 0;
}

static int run_watch(int *status, cli *c, const cli_words *words, const void *args,
                     valise_error *err)
{
    const watch_args *a = args;
    watching w = {.c = c, .args = a, .limit = a->once ? 1 : a->count};
    int rc = check_args(a, err);

    (void)status;
    (void)words;
    if (rc == 0 && a->program.count > 0)
        rc = cli_make_argv(&w.argv, c, &a->program, err);
    c->options.no_pager = true;
    if (rc == 0)
        rc = cli_settle(c, err);
    if (rc == 0)
        rc = cli_open(c, err);
    if (rc == 0)
        rc = cli_locate(c, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&w.lines, c->env, LINES_MAX);
    vls_buf_init(&w.text, c->env, LINES_MAX);
    if (a->regenerate) {
        cli_regenerating_init(&w.regenerating, c);
        w.regenerating.programs = a->run;
        w.regenerating.tell = take_slot;
        w.regenerating.note = say;
        w.regenerating.arg = &w;
    }
    cli_catch_termination();
    rc = run(&w, err);
    cli_regenerating_release(&w.regenerating);
    vls_buf_release(&w.lines);
    vls_buf_release(&w.text);
    return rc;
}

const cli_builtin cli_builtin_watch = {
    .op = {.size = sizeof(valise_op),
           .name = "watch",
           .brief = "Watch the files and record what changes, until Ctrl-C.",
           .help =
               "Everything is scanned once; then the kernel reports which files change, and these "
               "are read when nothing has changed for a moment. Each change is recorded as by "
               "`scan`, and printed on a line. Nothing else is written. If the kernel's reports "
               "are not enough (too many changes at once, no watches left, changed ignore rules), "
               "everything is scanned; this also happens every ten minutes.\n\nWith --json each "
               "line is an object: {\"event\":\"changed\",\"path\":\"src/a.c\"}; `recorded` "
               "follows the changes of a version, `watching` means that the first scan is "
               "over.\n\nWith --regenerate frames whose sources changed are made again after each "
               "version, as by `regenerate`, and also after others wrote something: `regenerated "
               "src notes 1f2e3d4c`. Frames that only their author can renew are named once "
               "(`needs-author`). Programs that make frames are run only with --run. Errors are "
               "printed, and watching continues.\n\nA program after `--` is run after each "
               "version, one at a time and without a shell, with these lines on standard input and "
               "VALISE_VERSION and VALISE_ROOT in its environment. What it prints goes to standard "
               "error; its exit code is printed and changes nothing. Files that it changes count "
               "like any other change.\n\nA file that changes all the time is read less and less "
               "often, down to once a minute. --once, --count and --timeout are for scripts.",
           .kind = VALISE_JOB,
           .needs = "tree:write",
           .in = watch_in,
           .in_size = sizeof(watch_args),
           .example = "{\"exec\":true,\"program\":[\"make\",\"test\"]}"},
    .run = run_watch,
    .lines = lines,
};
