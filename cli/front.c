/* front.c -- what `valise` says by itself: where one is, and the commands to begin with.
 *
 * Which these are is chosen here, and in which order groups are told and what each is about; the
 * rest is the registry's. A group of an extension has no row: it comes behind the others. */
#include "cli/help.h"

#include "base/text.h"
#include "cli/call.h"

const cli_group_about cli_groups[] = {
    {"workspace", "all that is stored, as a whole"},
    {"config", "settings"},
    {"agent", "who may act, and what each may do"},
    {"backpack", "what agents work with: items, their history, who may see them"},
    {"tree", "the files of the project, as they were found"},
    {"node", "one file or directory"},
    {"frame", "what was said about a file or directory"},
    {"head", "the newest that was said"},
    {"slot", "whether it still holds"},
    {"checkpoint", "the files as they were"},
    {"context", "what agents know"},
    {"preference", "what is preferred"},
    {"role", "personas"},
    {"topic", "what things are about"},
    {"session", "conversations"},
    {"turn", "what was said in them"},
    {"blob", "files and pictures"},
    {"search", "finding again"},
    {"prompt", "what models are asked"},
    {"flow", "agents and tools, run as a graph"},
    {"log", "who did what, and who read what"},
    {"event", "what happened"},
    {"pin", "what is held against expiry"},
    {"retention", "how long histories are kept"},
    {"erasure", "what was removed from every file"},
    {"index", "what is kept in memory"},
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

const cli_front_section cli_front_sections[] = {
    {"begin", {"init", "status"}},
    {"what agents work with",
     {"backpack create", "backpack pack", "backpack unpack", "backpack history",
      "backpack bisect"}},
    {"what they know of the files", {"scan", "put-frame", "get-head", "synthesize", "regenerate"}},
    {"what was said", {"session create", "turn add", "search", "prompt build", "chat"}},
    {"what runs", {"flow run", "flow resume"}},
    {"what happened, and the way back", {"log", "show", "diff", "checkpoint", "restore"}},
    {NULL, {NULL}},
};

/* Found without opening it: whatever is wrong with it, help must work. */
static void add_place(cli_page *page, cli *c)
{
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(buf) vls_buf text = {0};
    const char *path = NULL;
    int rc = cli_find(&path, c, &err);

    vls_buf_init(&text, c->env, (size_t)64 << 10);
    if (rc == 0) {
        vls_buf_add_text(&text, "You are in the workspace ");
        vls_text_neutralize(&text, valise_str_of(path), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_text(&text, ": 'valise status' tells what is in it.");
    } else if (rc == VALISE_E_NOT_FOUND && !cli_is_named(c)) {
        vls_buf_add_text(&text, "There is no workspace here: 'valise init' makes one.");
    } else {
        vls_text_neutralize(&text, valise_str_of(err.message), VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_byte(&text, '.');
    }
    if (vls_buf_cstr(&text))
        page->format->paragraphs(page, vls_buf_cstr(&text));
}

void cli_help_front(cli_page *page, cli *c)
{
    page->format->begin(page, "valise", CLI_ABOUT, CLI_USAGE_LINE);
    add_place(page, c);
    page->terms = 17; /* the longest of them, and a blank */
    for (const cli_front_section *s = cli_front_sections; s->title; s++) {
        page->format->section(page, s->title);
        for (size_t i = 0; s->commands[i]; i++)
            cli_help_entry(page, c, s->commands[i]);
    }
    page->format->paragraphs(page,
                             "'valise help' lists all commands, 'valise help backpack' those of a "
                             "group, and\n'valise help COMMAND' says what one does.");
    page->format->end(page);
}
