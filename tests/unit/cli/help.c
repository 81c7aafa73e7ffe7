/* help.c -- pages of help, and examples that are command lines. [K6 L4 L8] */
#include "cli/kit.h"

#include "cli/help.h"

static valise_str page(test *t, const cli_page_format *format, const char *name)
{
    cli *c = kit_new(t);
    cli_page p = {.out = &c->out->text, .format = format};
    const char *words[] = {name};
    cli_name called = cli_name_typed(name ? 1 : 0, words);
    size_t used;

    if (!name)
        cli_help_all(&p, c);
    else if (strcmp(name, "demo") == 0)
        cli_help_group(&p, c, name);
    else
        cli_help_command(&p, c, cli_catalog_find(&used, c->catalog, 1, words), &called);
    CHECK_OK(vls_buf_check(&c->out->text, &t->err));
    return vls_buf_str(&c->out->text);
}

TEST(help, as_text)
{
    CHECK_GOLDEN("unit/cli/golden/put.txt", page(t, &cli_page_text, "demo:put"));
    CHECK_GOLDEN("unit/cli/golden/note.txt", page(t, &cli_page_text, "demo:note"));
    CHECK_GOLDEN("unit/cli/golden/demo.txt", page(t, &cli_page_text, "demo"));
    CHECK_GOLDEN("unit/cli/golden/all.txt", page(t, &cli_page_text, NULL));
}

TEST(help, as_a_man_page)
{
    CHECK_GOLDEN("unit/cli/golden/put.1", page(t, &cli_page_man, "demo:put"));
    CHECK_GOLDEN("unit/cli/golden/all.1", page(t, &cli_page_man, NULL));
}

TEST(help, as_markdown)
{
    cli *c = kit_new(t);

    cli_help_reference(&c->out->text, c);
    CHECK_GOLDEN("unit/cli/golden/reference.md", vls_buf_str(&c->out->text));
}

static const char *names(const valise_op *op)
{
    const char *all = "";
    cli_name name;

    for (size_t i = 0; cli_name_at(&name, op, i); i++)
        all = test_format("%s%s;", all, name.s);
    return all;
}

TEST(help, a_command_has_several_names)
{
    CHECK_TEXT("demo put;", names(kit_op("demo:put")));
    CHECK_TEXT("demos;demo list;", names(kit_op("demo:list")));
    CHECK_TEXT("init;", names(&(valise_op){.name = "init"}));
    CHECK_TEXT("backpack pack;bp pack;", names(&(valise_op){.name = "backpack:pack"}));
    CHECK_TEXT("pack;backpack pack;bp pack;",
               names(&(valise_op){.name = "backpack:pack", .alias = "pack"}));
}

/* The name that was typed stands in usage and example, the others behind it. */
TEST(help, is_of_the_name_that_was_typed)
{
    cli *c = kit_new(t);
    const char *words[] = {"demo", "list"};
    cli_page p = {.out = &c->out->text, .format = &cli_page_text};
    size_t used;
    const cli_command *command = cli_catalog_find(&used, c->catalog, 2, words);
    cli_name called = cli_name_typed(used, words);

    cli_help_command(&p, c, command, &called);
    CHECK(vls_str_find(vls_buf_str(p.out), VLS_STR("usage: valise demo list ")) < p.out->len);
    CHECK(vls_str_find(vls_buf_str(p.out), VLS_STR("Also `valise demos`.")) < p.out->len);
    CHECK(vls_str_find(vls_buf_str(p.out), VLS_STR("  valise demo list\n")) < p.out->len);
}

/* Of a man page no text becomes a request. */
TEST(help, a_man_page_is_text_only)
{
    valise_str text = page(t, &cli_page_man, "demo:put"), line;

    while (text.len > 0) {
        (void)vls_str_cut(&line, &text, text, '\n');
        CHECK_MSG(!vls_str_starts(line, VLS_STR(".The")), "a text begins with a dot");
        CHECK(line.len == 0 || line.ptr[0] != '\'');
    }
}

/* ---- examples ---- */

static const char *example(test *t, const char *name)
{
    cli *c = kit_new(t);
    cli_name called = cli_name_of(kit_op(name));

    cli_add_example(&c->out->text, c, kit_op(name), &called);
    return test_format("%.*s", (int)c->out->text.len, c->out->text.ptr);
}

TEST(help, examples_are_command_lines)
{
    CHECK_TEXT("valise demo put --tag 'a b' --tag c --force --limit -3 --note @@home --raw hello "
               "--turn '{\"role\":\"user\"}' run-1 'it'\\''s' '\"What is AI?\"'",
               example(t, "demo:put"));
    CHECK_TEXT("valise grab -- -x y", example(t, "demo:take"));
    CHECK_TEXT("VALISE_SECRET_TOKEN=... valise demo note --second s --must m",
               example(t, "demo:note"));
    CHECK_TEXT("valise demos", example(t, "demo:list"));
    CHECK_TEXT("", example(t, "demo:admit"));
}

/* Split what example() made as a shell would: quotes and \' only. */
static size_t shell_split(char *text, const char **words)
{
    size_t count = 0;
    char *to = text;

    for (char *at = text; *at;) {
        words[count++] = to;
        while (*at && *at != ' ') {
            if (*at == '\\')
                *to++ = at[1], at += 2;
            else if (*at == '\'')
                for (at++; *at != '\'' || (at++, false);)
                    *to++ = *at++;
            else
                *to++ = *at++;
        }
        if (*at)
            at++;
        *to++ = '\0';
    }
    return count;
}

/* The words of an example make the payload it came from. */
TEST(help, examples_lead_back_to_their_json)
{
    for (size_t i = 0; kit_ops[i]; i++) {
        const valise_op *op = kit_ops[i];
        cli *c = kit_new(t);
        const char *words[64];
        char *text = (char *)(uintptr_t)example(t, op->name);
        cli_words split;
        vls_json payload, expected;
        if (!op->example || strcmp(op->name, "demo:note") == 0)
            continue; /* its secret comes from elsewhere */
        size_t count = shell_split(text, words);
        CHECK_OK(cli_words_split(&split, c, count - 1, words + 1, &t->err));
        CHECK_OK(cli_words_payload(&payload, c, &split, &t->err));
        CHECK_OK(vls_json_parse(&expected, &c->arena, valise_str_of(op->example), NULL, &t->err));
        CHECK_MSG(vls_json_equal(payload, expected), "%s", op->name);
    }
}
