/* front.c -- what `valise` says by itself: where one is, and the commands to begin with.
 *
 * Which these are is chosen here, and in which order groups are told and what each is about; the
 * rest is the registry's. A group of an extension has no row: it comes behind the others. */
#include "cli/help.h"

#include "base/text.h"
#include "cli/call.h"
#include "cli/status.h"
#include "json/make.h"

const cli_group_about cli_groups[] = {
    {"workspace", "everything that is stored, as a whole"},
    {"config", "settings"},
    {"agent", "actors and what each is allowed to do"},
    {"backpack", "working memory of agents: items, history, access, forks"},
    {"tree", "the files of the project, as they were scanned"},
    {"node", "one file or directory and what is known about it"},
    {"frame", "notes about files and directories"},
    {"head", "the current frames of a node"},
    {"slot", "whether a frame still holds"},
    {"checkpoint", "saved copies of the files"},
    {"context", "what is known about files, kept up to date"},
    {"memory", "long-term memory: entries that agents are told"},
    {"preference", "preferences that agents are told"},
    {"role", "personas and their model settings"},
    {"topic", "labels that group sessions, roles and memory"},
    {"session", "conversations"},
    {"turn", "the messages of a conversation"},
    {"blob", "files and pictures"},
    {"search", "full-text search"},
    {"prompt", "requests to models: build, explain, check"},
    {"flow", "graphs of agents and tools"},
    {"log", "who did what, and who read what"},
    {"event", "what happened"},
    {"pin", "what must not expire"},
    {"retention", "how long history is kept"},
    {"erasure", "what was erased"},
    {"index", "in-memory indexes"},
    {"json", "working with JSON"},
    {NULL, NULL},
};

const char *cli_group_is_about(const char *group)
{
    for (const cli_group_about *g = cli_groups; g->group; g++) {
        if (strcmp(g->group, group) == 0)
            return g->about;
    }
    return NULL;
}

/* The commands to begin with; ends with a title that is NULL. */
typedef struct front_section {
    const char *title;
    const char *commands[8]; /* NULL-ended */
} front_section;

static const front_section front_sections[] = {
    {"start here", {"init", "status"}},
    {"working memory",
     {"backpack create", "backpack pack", "backpack unpack", "backpack history",
      "backpack bisect"}},
    {"knowledge about files", {"scan", "put-frame", "get-head", "synthesize", "regenerate"}},
    {"conversations", {"session create", "turn add", "search", "prompt build", "chat"}},
    {"flows of agents", {"flow run", "flow resume"}},
    {"history", {"log", "show", "diff", "checkpoint", "restore"}},
    {NULL, {NULL}},
};

/* ---- what is there ---- */

#define TERMS 17 /* the longest of them, and a blank */

static void add_fact(cli_page *page, cli *c, const char *term, const vls_json *number,
                     const char *word, const vls_json *time)
{
    static const valise_field moment = {.name = "time", .type = VALISE_T_TIME};
    VLS_AUTO(buf) vls_buf text = {0};

    if (!number || number->type != VLS_JSON_INT)
        return;
    vls_buf_init(&text, c->env, 1024);
    vls_buf_printf(&text, "%lld", (long long)number->integer);
    if (time && time->type == VLS_JSON_STRING) {
        vls_buf_printf(&text, ", %s ", word);
        cli_show(&text, &moment, *time);
    }
    if (vls_buf_cstr(&text))
        page->format->entry(page, term, vls_buf_cstr(&text));
}

/* What there is of these is told where there is any. */
static void add_some(cli_page *page, const cli *c, vls_json status)
{
    static const char *const names[] = {"backpacks", "sessions", "memory entries", "blobs",
                                        "flow runs"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        const vls_json *value = cli_status_line(status, names[i]);
        VLS_AUTO(buf) vls_buf text = {0};
        if (!value)
            continue;
        vls_buf_init(&text, c->env, 1024);
        cli_show_line(&text, valise_str_of(names[i]), *value);
        if (vls_buf_cstr(&text))
            page->format->entry(page, names[i], vls_buf_cstr(&text));
    }
}

/* What to do next depends on what has been done. */
static void add_next(cli_page *page, const cli *c, bool fresh, bool scanned, bool noted)
{
    static const char *const first[] = {"backpack create", "session create", "flow run", NULL};
    static const char *const later[] = {"status", "log", "backpack list", "session list", NULL};
    const char *const *always = fresh ? first : later;

    page->format->section(page, "next steps");
    if (!scanned)
        cli_help_entry(page, c, "scan");
    if (scanned && !noted)
        cli_help_entry(page, c, "put-frame");
    if (noted)
        cli_help_entry(page, c, "report");
    for (size_t i = 0; always[i]; i++)
        cli_help_entry(page, c, always[i]);
}

/* As `valise status` has it, in a few lines. */
static int add_state(cli_page *page, cli *c, valise_error *err)
{
    vls_json status = vls_json_null();
    const vls_json *frames, *seq;
    int rc = cli_ask(&status, c, "workspace:status", NULL, err);

    if (rc == 0) {
        frames = cli_status_line(status, "frames");
        seq = vls_json_get(status, VLS_STR("seq"));
        page->format->section(page, "what is in it");
        add_fact(page, c, "log entries", seq, "the last", vls_json_get(status, VLS_STR("time")));
        add_fact(page, c, "files", cli_status_line(status, "tree files"), "scanned",
                 cli_status_line(status, "tree scanned"));
        add_fact(page, c, "frames", frames, "", NULL);
        add_some(page, c, status);
        add_next(page, c, seq && seq->integer <= 1, cli_status_line(status, "tree files") != NULL,
                 frames && frames->integer > 0);
    }
    return rc;
}

/* ---- the page ---- */

/* What is wrong must not be in the way of help: it is said, with the way out. */
static void add_trouble(cli_page *page, cli *c, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};

    if (err->code == VALISE_E_CORRUPT)
        cli_hint(err, NULL);
    vls_buf_init(&text, c->env, (size_t)64 << 10);
    vls_text_neutralize(&text, valise_str_of(err->message), VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_add_byte(&text, '.');
    if (err->hint[0]) {
        vls_buf_add_text(&text, " Hint: ");
        vls_text_neutralize(&text, valise_str_of(err->hint), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(&text, '.');
    }
    if (vls_buf_cstr(&text))
        page->format->paragraphs(page, vls_buf_cstr(&text));
}

static void add_place(cli_page *page, cli *c, const char *path)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, c->env, (size_t)64 << 10);
    vls_buf_add_text(&text, "You are in the workspace ");
    vls_text_neutralize(&text, valise_str_of(path), VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_add_byte(&text, '.');
    if (vls_buf_cstr(&text))
        page->format->paragraphs(page, vls_buf_cstr(&text));
}

static void add_sections(cli_page *page, const cli *c)
{
    for (const front_section *s = front_sections; s->title; s++) {
        page->format->section(page, s->title);
        for (size_t i = 0; s->commands[i]; i++)
            cli_help_entry(page, c, s->commands[i]);
    }
}

void cli_help_front(cli_page *page, cli *c)
{
    valise_error err = VALISE_ERROR_INIT;
    const char *path = NULL;
    bool told = false;
    int rc = cli_find(&path, c, &err);

    page->format->begin(page, "valise", CLI_ABOUT, CLI_USAGE_LINE);
    page->terms = TERMS;
    if (rc == 0)
        add_place(page, c, path);
    if (rc == 0 && !c->options.help) {
        rc = add_state(page, c, &err);
        told = rc == 0;
    }
    if (rc == VALISE_E_NOT_FOUND && !cli_is_named(c))
        page->format->paragraphs(
            page, "There is no workspace here. Run 'valise init' to create one in this folder.");
    else if (rc < 0)
        add_trouble(page, c, &err);
    if (!told)
        add_sections(page, c);
    page->format->paragraphs(page,
                             "'valise help' lists all commands, 'valise help backpack' those of a "
                             "group,\nand 'valise help COMMAND' explains one.");
    page->format->end(page);
}
