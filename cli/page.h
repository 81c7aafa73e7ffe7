/* page.h -- one page of help, written as text, as a man page or as Markdown.
 *
 * help.c says what stands on a page; a format says how that looks. Entries are an option or a
 * command and what it is for.
 *
 * Threads: single. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "base/buf.h"

typedef struct cli_page cli_page;

typedef struct cli_page_format {
    void (*begin)(cli_page *page, const char *name, const char *brief, const char *usage);
    void (*section)(cli_page *page, const char *title);
    void (*group)(cli_page *page, const char *name, const char *about); /* about may be NULL */
    void (*paragraphs)(cli_page *page, const char *text);               /* divided by empty lines */
    void (*entry)(cli_page *page, const char *term, const char *text);
    void (*code)(cli_page *page, const char *text);
    void (*end)(cli_page *page);
} cli_page_format;

struct cli_page {
    vls_buf *out;
    const cli_page_format *format;
    struct cli_out *styles; /* text: `out` is its text, which takes bold where colours are wanted */
    size_t columns;         /* text: 0 means 80 */
    size_t terms;           /* text: so wide is what entries are for; 0: as for options */
    bool begun;             /* man: nothing stands below the heading of the section yet */
    bool in_entries;        /* Markdown: a table is open */
};

extern const cli_page_format cli_page_text, cli_page_man, cli_page_markdown;

#endif
