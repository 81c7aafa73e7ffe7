/* page.c -- the three looks of a page: plain text, roff, Markdown. */
#include "cli/page.h"

#include <valise/api.h>

#include "base/str.h"
#include "base/text.h"
#include "cli/output.h"

#define TERM_COLUMNS 28u
#define PAGE_COLUMNS 80u
#define NARROW 70u /* below this a text stands under its term, not beside it */

/* ---- text ---- */

static void add_spaces(vls_buf *out, size_t count)
{
    while (count-- > 0)
        vls_buf_add_byte(out, ' ');
}

static size_t columns_of(const cli_page *page)
{
    return page->columns > 0 ? page->columns : PAGE_COLUMNS;
}

static void add_bold(cli_page *page, const char *text)
{
    if (page->styles)
        cli_style_begin(page->styles, CLI_BOLD);
    vls_buf_add_text(page->out, text);
    if (page->styles)
        cli_style_end(page->styles, CLI_BOLD);
}

/* Append words, broken into lines that begin with indent spaces; `at` is the column it is at. */
static void add_wrapped(cli_page *page, valise_str text, size_t indent, size_t at)
{
    vls_buf *out = page->out;
    valise_str word;
    bool first = true;

    while (text.len > 0) {
        (void)vls_str_cut(&word, &text, text, ' ');
        size_t width = vls_text_width(word);
        if (!first && at + 1 + width > columns_of(page)) {
            vls_buf_add_byte(out, '\n');
            add_spaces(out, indent);
            at = indent;
        } else if (!first) {
            vls_buf_add_byte(out, ' ');
            at++;
        }
        vls_buf_add(out, word);
        at += width;
        first = false;
    }
    vls_buf_add_byte(out, '\n');
}

static void text_begin(cli_page *page, const char *name, const char *brief, const char *usage)
{
    (void)name;
    add_wrapped(page, valise_str_of(brief), 0, 0);
    vls_buf_add_byte(page->out, '\n');
    add_bold(page, "usage:");
    vls_buf_add_byte(page->out, ' ');
    add_wrapped(page, valise_str_of(usage), 7, 7);
}

static void text_section(cli_page *page, const char *title)
{
    vls_buf_add_byte(page->out, '\n');
    add_bold(page, title);
    vls_buf_add_text(page->out, ":\n");
}

static void text_group(cli_page *page, const char *name, const char *about)
{
    vls_buf_add_byte(page->out, '\n');
    add_bold(page, name);
    vls_buf_printf(page->out, ":%s%s\n", about ? " " : "", about ? about : "");
}

/* Lines of a paragraph are joined and broken anew; an empty line begins the next one. */
static void each_paragraph(cli_page *page, const char *text,
                           void (*fn)(cli_page *page, valise_str paragraph))
{
    valise_str rest = valise_str_of(text);

    while (rest.len > 0) {
        size_t len = vls_str_find(rest, VLS_STR("\n\n"));
        valise_str paragraph = vls_str_trim(vls_str_head(rest, len));
        rest = vls_str_from(rest, len + 2);
        if (paragraph.len > 0)
            fn(page, paragraph);
    }
}

static void text_paragraph(cli_page *page, valise_str paragraph)
{
    VLS_AUTO(buf) vls_buf line = {0};

    vls_buf_init(&line, page->out->env, page->out->max);
    for (size_t i = 0; i < paragraph.len; i++)
        vls_buf_add_byte(&line, paragraph.ptr[i] == '\n' ? ' ' : paragraph.ptr[i]);
    vls_buf_add_byte(page->out, '\n');
    add_wrapped(page, vls_buf_str(&line), 0, 0);
}

static void text_paragraphs(cli_page *page, const char *text)
{
    each_paragraph(page, text, text_paragraph);
}

static void text_entry(cli_page *page, const char *term, const char *text)
{
    size_t width = strlen(term), room = page->terms > 0 ? page->terms : TERM_COLUMNS;
    bool narrow = columns_of(page) < NARROW && room + 24 > columns_of(page) / 2;
    size_t indent = narrow ? 6 : room + 3;

    vls_buf_printf(page->out, "  %s", term);
    if (width > room || narrow) {
        vls_buf_add_byte(page->out, '\n');
        add_spaces(page->out, indent);
    } else {
        add_spaces(page->out, room + 1 - width);
    }
    add_wrapped(page, valise_str_of(text), indent, indent);
}

static void text_code(cli_page *page, const char *text)
{
    vls_buf_printf(page->out, "  %s\n", text);
}

static void text_end(cli_page *page)
{
    (void)page;
}

const cli_page_format cli_page_text = {
    text_begin, text_section, text_group, text_paragraphs, text_entry, text_code, text_end,
};

/* ---- roff ---- */

/* A line that no request can hide in. */
static void add_roff(vls_buf *out, valise_str text, bool line_start)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool at_start = i == 0 ? line_start : text.ptr[i - 1] == '\n';
        if (at_start && (c == '.' || c == '\''))
            vls_buf_add_text(out, "\\&");
        if (c == '\\')
            vls_buf_add_text(out, "\\e");
        else if (c == '-')
            vls_buf_add_text(out, "\\-");
        else if (c == '\'')
            vls_buf_add_text(out, "\\(aq");
        else if (c == '"')
            vls_buf_add_text(out, "\\(dq");
        else if (c == '^')
            vls_buf_add_text(out, "\\(ha");
        else if (c == '~')
            vls_buf_add_text(out, "\\(ti");
        else if (c == '`')
            vls_buf_add_text(out, "\\(ga");
        else
            vls_buf_add_byte(out, c);
    }
}

static void add_upper(vls_buf *out, const char *text)
{
    for (; *text; text++)
        vls_buf_add_byte(out, *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text);
}

/* No hyphens: an option that is broken into "--ex-" and "pect" is found by nobody. No wide blanks.
 */
static void man_begin(cli_page *page, const char *name, const char *brief, const char *usage)
{
    valise_str line = valise_str_of(brief);

    vls_buf_add_text(page->out, ".TH \"");
    add_upper(page->out, name);
    vls_buf_printf(page->out, "\" \"1\" \"\" \"Valise %s\" \"Valise\"\n.nh\n.ad l\n.SH NAME\n",
                   VALISE_VERSION);
    add_roff(page->out, valise_str_of(name), true);
    vls_buf_add_text(page->out, " \\- ");
    /* "One line with a period", which a NAME line has not. */
    if (vls_str_ends(line, VLS_STR(".")))
        line.len--;
    add_roff(page->out, line, false);
    vls_buf_add_text(page->out, "\n.SH SYNOPSIS\n");
    add_roff(page->out, valise_str_of(usage), true);
    vls_buf_add_byte(page->out, '\n');
}

static void man_section(cli_page *page, const char *title)
{
    vls_buf_add_text(page->out, ".SH ");
    add_upper(page->out, title);
    vls_buf_add_byte(page->out, '\n');
    page->begun = true;
}

/* A heading is followed by text, without a paragraph in between. */
static void man_next(cli_page *page)
{
    if (!page->begun)
        vls_buf_add_text(page->out, ".PP\n");
    page->begun = false;
}

static void man_paragraph(cli_page *page, valise_str paragraph)
{
    man_next(page);
    add_roff(page->out, paragraph, true);
    vls_buf_add_byte(page->out, '\n');
}

static void man_paragraphs(cli_page *page, const char *text)
{
    each_paragraph(page, text, man_paragraph);
}

static void add_about(cli_page *page, const char *about)
{
    char sentence[160];

    if (!about)
        return;
    (void)snprintf(sentence, sizeof(sentence), "%s.", about);
    if (sentence[0] >= 'a' && sentence[0] <= 'z')
        sentence[0] = (char)(sentence[0] - 'a' + 'A');
    page->format->paragraphs(page, sentence);
}

static void man_group(cli_page *page, const char *name, const char *about)
{
    vls_buf_add_text(page->out, ".SS ");
    add_roff(page->out, valise_str_of(name), false);
    vls_buf_add_byte(page->out, '\n');
    page->begun = true;
    add_about(page, about);
}

static void man_entry(cli_page *page, const char *term, const char *text)
{
    page->begun = false;
    vls_buf_add_text(page->out, ".TP\n\\fB");
    add_roff(page->out, valise_str_of(term), false);
    vls_buf_add_text(page->out, "\\fR\n");
    add_roff(page->out, valise_str_of(text), true);
    vls_buf_add_byte(page->out, '\n');
}

static void man_code(cli_page *page, const char *text)
{
    man_next(page);
    vls_buf_add_text(page->out, ".nf\n.RS 4\n");
    add_roff(page->out, valise_str_of(text), true);
    vls_buf_add_text(page->out, "\n.RE\n.fi\n");
}

const cli_page_format cli_page_man = {
    man_begin, man_section, man_group, man_paragraphs, man_entry, man_code, text_end,
};

/* ---- Markdown ---- */

static void end_entries(cli_page *page)
{
    page->in_entries = false;
}

static void markdown_begin(cli_page *page, const char *name, const char *brief, const char *usage)
{
    (void)name;
    vls_buf_printf(page->out, "\n%s\n\n```text\n%s\n```\n", brief, usage);
}

static void markdown_section(cli_page *page, const char *title)
{
    end_entries(page);
    vls_buf_add_text(page->out, "\n**");
    vls_buf_add_byte(page->out,
                     title[0] >= 'a' && title[0] <= 'z' ? (char)(title[0] - 'a' + 'A') : title[0]);
    vls_buf_printf(page->out, "%s**\n", title + 1);
}

static void markdown_group(cli_page *page, const char *name, const char *about)
{
    markdown_section(page, name);
    add_about(page, about);
}

static void markdown_paragraph(cli_page *page, valise_str paragraph)
{
    vls_buf_printf(page->out, "\n%.*s\n", (int)paragraph.len, paragraph.ptr);
}

static void markdown_paragraphs(cli_page *page, const char *text)
{
    end_entries(page);
    each_paragraph(page, text, markdown_paragraph);
}

/* '|' divides the columns of a table. */
static void add_cell_text(vls_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            vls_buf_add_byte(out, '\\');
        vls_buf_add_byte(out, *text);
    }
}

static void markdown_entry(cli_page *page, const char *term, const char *text)
{
    if (!page->in_entries)
        vls_buf_add_text(page->out, "\n| | |\n|---|---|\n");
    page->in_entries = true;
    vls_buf_add_text(page->out, "| `");
    add_cell_text(page->out, term);
    vls_buf_add_text(page->out, "` | ");
    add_cell_text(page->out, text);
    vls_buf_add_text(page->out, " |\n");
}

static void markdown_code(cli_page *page, const char *text)
{
    end_entries(page);
    vls_buf_printf(page->out, "\n```sh\n%s\n```\n", text);
}

static void markdown_end(cli_page *page)
{
    end_entries(page);
}

const cli_page_format cli_page_markdown = {
    markdown_begin, markdown_section, markdown_group, markdown_paragraphs,
    markdown_entry, markdown_code,    markdown_end,
};
