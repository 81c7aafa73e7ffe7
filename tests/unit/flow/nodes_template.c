/* nodes_template.c -- texts with places for items. [F9] */
#include "nodes_kit.h"

#include "flow/template.h"
#include "json/make.h"

TEST_PARAMS(template, "ephemeral", "sqlite")

typedef struct page {
    desk *d;
    valise_backpack *bag;
    vls_arena arena;
    vls_renderer r;
} page;

static void begin(page *p, test *t, const valise_permissions *permissions)
{
    p->d = desk_open(t);
    p->bag = bag_of(p->d, "b");
    vls_arena_init(&p->arena, t->env, (size_t)256 << 20);
    p->r = (vls_renderer){.arena = &p->arena,
                          .view = node_of(p->d, p->bag, "n", "test.n", permissions)};
    CHECK_OK(pack(p->bag, "name", "\"Ada\"", p->d->err));
    CHECK_OK(pack(p->bag, "order", quoted("{'id':7,'lines':['a','b'],'x/y':'s','none':null}"),
                  p->d->err));
    CHECK_OK(pack(p->bag, "evil", quoted("'{{name}} ${HOME}'"), p->d->err));
}

static void end(page *p)
{
    vls_arena_release(&p->arena);
}

static const char *text(page *p, const char *of)
{
    valise_str out = {NULL, 0};
    int rc = vls_template_text(&out, &p->r, valise_str_of(of), p->d->err);

    return rc < 0 ? test_format("(%s) %s", valise_error_name(rc), p->d->err->message)
                  : test_format("%.*s", VALISE_STR_ARG(out));
}

static const char *value(page *p, const char *of)
{
    vls_json in, out;
    valise_str json;
    int rc = vls_json_parse(&in, &p->arena, valise_str_of(quoted(of)), NULL, p->d->err);

    if (rc == 0)
        rc = vls_template_value(&out, &p->r, in, p->d->err);
    if (rc < 0)
        return test_format("(%s) %s: %s", valise_error_name(rc), p->d->err->path,
                           p->d->err->message);
    CHECK(vls_json_text(&json, &p->arena, out, p->d->err) == 0);
    return test_format("%.*s", VALISE_STR_ARG(json));
}

TEST(template, puts_items_into_texts)
{
    page p;

    begin(&p, t, NULL);
    CHECK_TEXT("", text(&p, ""));
    CHECK_TEXT("plain } text }}", text(&p, "plain } text }}"));
    CHECK_TEXT("Hello Ada!", text(&p, "Hello {{name}}!"));
    CHECK_TEXT("AdaAda", text(&p, "{{name}}{{ name }}"));
    CHECK_TEXT("7 [\"a\",\"b\"] b s null",
               text(&p, "{{order#/id}} {{order#/lines}} {{order#/lines/1}} {{order#/x~1y}} "
                        "{{order#/none}}"));
    CHECK_TEXT("a {{name}} b", text(&p, "a {{{{name}} b"));
    CHECK_TEXT("[]", text(&p, "[{{nobody?}}{{order#/nothing?}}]"));
    end(&p);
}

TEST(template, never_reads_what_an_item_says)
{
    page p;

    begin(&p, t, NULL);
    CHECK_TEXT("say: {{name}} ${HOME}", text(&p, "say: {{evil}}"));
    CHECK_TEXT("\"{{name}} ${HOME}\"", value(&p, "'{{evil}}'"));
    end(&p);
}

TEST(template, says_what_is_missing)
{
    page p;

    begin(&p, t, NULL);
    CHECK_TEXT("(NOT_FOUND) there is no item 'nobody'", text(&p, "{{nobody}}"));
    CHECK(strstr(p.d->err->hint, "{{key?}}"));
    CHECK_TEXT("(NOT_FOUND) item 'order' has nothing at /lines/9", text(&p, "{{order#/lines/9}}"));
    CHECK_TEXT("(NOT_FOUND) a[1]: there is no item 'nobody'", value(&p, "{'a':[1,'{{nobody}}']}"));
    end(&p);
}

TEST(template, is_bound_to_what_the_node_may_read)
{
    valise_permissions only = {.read = NAMES("order")};
    page p;

    begin(&p, t, &only);
    CHECK_TEXT("7", text(&p, "{{order#/id}}"));
    CHECK(strstr(text(&p, "{{name}}"), "(DENIED)"));
    CHECK(strstr(text(&p, "{{name?}}"), "(DENIED)"));
    end(&p);
}

TEST(template, gives_values_where_values_are_wanted)
{
    page p;

    begin(&p, t, NULL);
    CHECK_TEXT(quoted("{'all':{'id':7,'lines':['a','b'],'none':null,'x/y':'s'},'id':7,"
                      "'list':['Ada',1,true,null],'text':'n7','{{name}}':'x'}"),
               value(&p, "{'all':'{{order}}','id':'{{order#/id}}','list':['{{name}}',1,true,null],"
                         "'text':'n{{order#/id}}','{{name}}':'x'}"));
    CHECK_TEXT("null", value(&p, "'{{nobody?}}'"));
    CHECK_TEXT("\"\"", value(&p, "'{{nobody?}}{{nobody?}}'"));
    end(&p);
}

TEST(template, refuses_what_is_none)
{
    static const char *const bad[] = {"{{",         "a {{name", "{{}}",        "{{ ? }}",
                                      "{{name#x}}", "{{#/a}}",  "{{na\x01me}}"};
    page p;

    begin(&p, t, NULL);
    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK(strstr(text(&p, bad[i]), "(INVALID)"));
    (void)text(&p, "abc {{name");
    CHECK_INT(4, p.d->err->offset);
    end(&p);
}

TEST(template, has_an_end)
{
    size_t count = VLS_TEMPLATE_PARTS_MAX + 1;
    char *many = test_alloc(count * 5 + 1);
    page p;

    for (size_t i = 0; i < count * 5; i++)
        many[i] = "{{a}}"[i % 5];
    many[count * 5] = '\0';
    begin(&p, t, NULL);
    CHECK_OK(pack(p.bag, "a", "1", p.d->err));
    CHECK(strstr(text(&p, many), "(LIMIT)"));
    end(&p);
}
