/* report_write.c -- reports as documents for other programs: Markdown, and the XML that programs
 * read which show test results. */
#include "base/str.h"
#include "base/text.h"
#include "context/report.h"

static const char *const titles[] = {"Stale", "Invalidated", "Orphaned", "Needs its author",
                                     "Corrupt"};

static const char *state_of(const vls_report_item *item)
{
    return item->state == VALISE_NONE ? "corrupt" : vls_state_names[item->state];
}

/* "50 %", rounded down: only all is all. */
static void add_share(vls_buf *out, int64_t part, int64_t all)
{
    vls_buf_printf(out, "%lld of %lld", (long long)part, (long long)all);
    if (all > 0)
        vls_buf_printf(out, " (%lld %%)", (long long)(part * 100 / all));
}

/* ---- Markdown ---- */

/* Any bytes as one line that means nothing to Markdown. */
static void add_plain(vls_buf *out, valise_str text)
{
    static const char special[] = "\\`*_{}[]()<>#+-.!|~&";

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\0' || !strchr(special, c)) {
            size_t from = i;
            while (i + 1 < text.len &&
                   (text.ptr[i + 1] == '\0' || !strchr(special, text.ptr[i + 1])))
                i++;
            vls_text_neutralize(out, vls_str(text.ptr + from, i + 1 - from), 0);
            continue;
        }
        vls_buf_add_byte(out, '\\');
        vls_buf_add_byte(out, c);
    }
}

static void add_path(vls_buf *out, valise_str path, void (*add)(vls_buf *out, valise_str text))
{
    add(out, path.len > 0 ? path : VLS_STR("."));
}

static void add_lines(vls_buf *out, const char *what, const valise_list *list)
{
    const vls_report_line *const *lines = list->items;

    if (list->count == 0)
        return;
    vls_buf_printf(out,
                   "\n| %s | heads | fresh | stale | invalidated | orphaned | files | directories |"
                   "\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
                   what);
    for (size_t i = 0; i < list->count; i++) {
        const vls_report_line *l = lines[i];
        vls_buf_add_text(out, "| ");
        add_plain(out, l->name);
        vls_buf_printf(out, " | %lld | %lld | %lld | %lld | %lld | %lld | %lld |\n",
                       (long long)l->heads, (long long)l->fresh, (long long)l->stale,
                       (long long)l->invalidated, (long long)l->orphaned, (long long)l->files,
                       (long long)l->dirs);
    }
}

static void add_kind(vls_buf *out, const char *title, const vls_report_kind *kind)
{
    const vls_report_item *const *items = kind->first.items;

    if (kind->count == 0)
        return;
    vls_buf_printf(out, "\n## %s: %lld\n\n", title, (long long)kind->count);
    for (size_t i = 0; i < kind->first.count; i++) {
        vls_buf_add_text(out, "- ");
        add_path(out, items[i]->path, add_plain);
        vls_buf_add_text(out, ", ");
        add_plain(out, items[i]->type);
        vls_buf_add_text(out, " by ");
        add_plain(out, items[i]->agent);
        vls_buf_printf(out, " (%s)\n", state_of(items[i]));
    }
    if (kind->count > (int64_t)kind->first.count)
        vls_buf_printf(out, "- and %lld more\n",
                       (long long)(kind->count - (int64_t)kind->first.count));
}

void vls_report_markdown(vls_buf *out, const vls_context_report *report)
{
    vls_buf_add_text(out, "# Context\n\n- files with something fresh: ");
    add_share(out, report->covered_files, report->files);
    vls_buf_add_text(out, "\n- directories with something fresh: ");
    add_share(out, report->covered_dirs, report->dirs);
    vls_buf_add_text(out, "\n- heads that are fresh: ");
    add_share(out, report->fresh, report->heads);
    vls_buf_add_byte(out, '\n');
    add_lines(out, "type", &report->types);
    add_lines(out, "agent", &report->agents);
    for (size_t i = 0; i < VLS_REPORT_KINDS; i++)
        add_kind(out, titles[i], report->kinds[i]);
}

/* ---- XML ---- */

/* Control characters are escapes by then; what is left that XML cannot have are two characters. */
static void add_xml_char(vls_buf *out, valise_str *rest)
{
    size_t len = 1;

    if (vls_str_starts(*rest, VLS_STR("\xef\xbf\xbe")) ||
        vls_str_starts(*rest, VLS_STR("\xef\xbf\xbf"))) {
        vls_buf_add_byte(out, '?');
        len = 3;
    } else if (rest->ptr[0] == '&') {
        vls_buf_add_text(out, "&amp;");
    } else if (rest->ptr[0] == '<') {
        vls_buf_add_text(out, "&lt;");
    } else if (rest->ptr[0] == '>') {
        vls_buf_add_text(out, "&gt;");
    } else if (rest->ptr[0] == '"') {
        vls_buf_add_text(out, "&quot;");
    } else {
        vls_buf_add_byte(out, rest->ptr[0]);
    }
    *rest = vls_str_from(*rest, len);
}

static void add_xml(vls_buf *out, valise_str text)
{
    char room[4 * VLS_PATH_MAX + 1];
    vls_buf plain = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    valise_str rest;

    vls_text_neutralize(&plain, text, 0);
    rest = vls_buf_str(&plain);
    while (rest.len > 0)
        add_xml_char(out, &rest);
}

static void add_case(vls_buf *out, const vls_report_item *item, bool fails)
{
    vls_buf_add_text(out, "    <testcase classname=\"");
    add_xml(out, item->type);
    vls_buf_add_text(out, "\" name=\"");
    add_path(out, item->path, add_xml);
    vls_buf_printf(out, "\">\n      <%s message=\"%s, by ", fails ? "failure" : "skipped",
                   state_of(item));
    add_xml(out, item->agent);
    vls_buf_add_text(out, "\"/>\n    </testcase>\n");
}

/* A suite has a case that passes where nothing is wrong. */
static void add_suite(vls_buf *out, const char *name, const vls_report_kind *kind, bool fails)
{
    const vls_report_item *const *items = kind->first.items;
    size_t listed = kind->first.count;
    long long more = (long long)kind->count - (long long)listed;
    size_t cases = VLS_MAX(listed + (more > 0), (size_t)1), bad = listed + (more > 0);

    vls_buf_printf(out,
                   "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
                   name, cases, fails ? bad : 0, fails ? 0 : bad);
    for (size_t i = 0; i < listed; i++)
        add_case(out, items[i], fails);
    if (more > 0)
        vls_buf_printf(out,
                       "    <testcase classname=\"%s\" name=\"and %lld more\">\n"
                       "      <%s message=\"only the first are listed\"/>\n    </testcase>\n",
                       name, more, fails ? "failure" : "skipped");
    if (bad == 0)
        vls_buf_printf(out, "    <testcase classname=\"%s\" name=\"none\"/>\n", name);
    vls_buf_add_text(out, "  </testsuite>\n");
}

void vls_report_junit(vls_buf *out, const vls_context_report *report, unsigned fails)
{
    vls_buf_add_text(out,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"context\">\n");
    for (size_t i = 0; i < VLS_REPORT_KINDS; i++)
        add_suite(out, vls_report_kinds[i], report->kinds[i], fails & 1u << i);
    vls_buf_add_text(out, "</testsuites>\n");
}
