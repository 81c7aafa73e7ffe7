/* blame.c -- every byte of a prompt has a source, and the source has that byte. [P8]
 *
 * Random sessions of all kinds of sources are built. The spans of the neutral prompt lie side by
 * side; each is what its part's source says, rendered here once more and by other means. */
#include "prompt/kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "json/make.h"
#include "store/view.h"

TEST_PARAMS(blame, "memory", "sqlite")

/* ---- random sessions ---- */

static test_rng rng;

static uint64_t draw(void)
{
    return test_random(&rng);
}

static const char *const words[] = {
    "parcel",        "van",          "Gr\\u00fc\\u00dfe", "\\u4f60\\u597d", "q\\\"uote",
    "back\\\\slash", "line\\nbreak", "\\ud83d\\ude00",    "tab\\t",         "{}[],:"};

static const char *some_words(void)
{
    const char *text = "";
    int count = 1 + (int)(draw() % 6);

    for (int i = 0; i < count; i++)
        text = test_format("%s%s%s", text, i > 0 ? " " : "", words[draw() % VLS_COUNT(words)]);
    return text;
}

static const char *blob(pot *p)
{
    char data[9];

    for (size_t i = 0; i < 8; i++)
        data[i] = (char)('a' + draw() % 26);
    data[8] = '\0';
    return talk_member(
        p->k, pot_do(p, "blob:register", "{'data':'%s','mediaType':'image/png'}", data), "sha256");
}

static void one_turn(pot *p, const char *s, int number)
{
    switch (draw() % 6) {
    case 0:
        pot_say(
            p, s, "assistant",
            test_format("[{'type':'thinking','text':'%s','signature':'x'},{'type':'text','text':"
                        "'%s'}]",
                        some_words(), some_words()));
        break;
    case 1:
        pot_say(p, s, "assistant",
                test_format("[{'type':'tool_use','callId':'c%d','name':'ls','args':{'n':%d}}]",
                            number, number));
        pot_say(p, s, "tool",
                test_format("[{'type':'tool_result','callId':'c%d','content':'%0200d %s'}]", number,
                            number, some_words()));
        break;
    case 2:
        pot_say(p, s, "user",
                test_format("[{'type':'image','blob':'%s','mediaType':'image/png'},{'type':'text',"
                            "'text':'%s'}]",
                            blob(p), some_words()));
        break;
    default:
        pot_say(p, s, number % 2 ? "assistant" : "user", some_words());
        break;
    }
}

static void fill_memory(pot *p, const char *when)
{
    for (int i = 0, count = (int)(draw() % 4); i < count; i++)
        (void)pot_do(p, "context:add", "{'key':'%s%d','text':'%s','topics':['a']}", when, i,
                     some_words());
    if (draw() % 2)
        (void)pot_do(p, "context:add", "{'key':'%s-file','blob':'%s','topics':['a']}", when,
                     blob(p));
}

static void note(pot *p)
{
    static const valise_str paths[] = {POT_STR("a.c")};
    const char *path = test_format("%s/a.c", p->k->path);
    FILE *f;

    if (strcmp(p->k->path, ":memory:") == 0)
        return; /* a tree needs a folder */
    f = fopen(path, "w");
    CHECK(f && fputs("int a;", f) >= 0 && fclose(f) == 0);
    (void)pot_do(p, "tree:scan", "{}");
    (void)pot_do(p, "frame:put", "{'node':'a.c','type':'summary','content':'emVk'}");
    p->ask.paths = (valise_list){paths, 1};
}

static const char *random_session(pot *p)
{
    static const valise_str tools[] = {
        POT_STR("{\"name\":\"ls\",\"inputSchema\":{\"type\":\"object\"}}"),
        POT_STR("{\"description\":\"x\",\"name\":\"rm\",\"inputSchema\":{\"type\":\"object\"}}")};
    static const vls_policy_results clear = {.keep = 1};
    const char *s;

    (void)pot_do(p, "role:add",
                 "{'name':'coder','persona':'%s','topics':['a'],'constraints':{'temperature':0.5,"
                 "'maxTokens':9}}",
                 some_words());
    for (int i = 0, count = (int)(draw() % 4); i < count; i++)
        (void)pot_do(p, "preference:add", "{'content':'%s'}", some_words());
    fill_memory(p, "old");
    s = talk_member(p->k, pot_do(p, "session:create", "{'role':'coder'}"), "id");
    for (int i = 0, count = 1 + (int)(draw() % 12); i < count; i++)
        one_turn(p, s, i);
    pot_say(p, s, "user", "and now?");
    fill_memory(p, "new");
    (void)pot_do(p, "backpack:create", "{'name':'bag','items':{'x':'%s','y':[1,2.5]}}",
                 some_words());
    (void)pot_do(p, "backpack:permit", "{'backpack':'bag','nodeId':'n','read':['*']}");
    note(p);
    p->ask.backpack = VLS_STR("bag");
    p->ask.node = VLS_STR("n");
    p->ask.asked = VLS_STR("{\"backpack\":\"bag\",\"node\":\"n\"}");
    p->ask.tools = (valise_list){tools, draw() % 3};
    if (draw() % 2)
        p->ask.params = VLS_STR("{\"maxTokens\":100}");
    if (draw() % 2)
        p->ask.policies.clear_results = &clear;
    p->ask.thinking = (int64_t)(draw() % 2);
    return s;
}

/* ---- what a source says ---- */

typedef struct checking {
    pot *p;
    vls_manifest m;
    size_t *told; /* bytes of each part */
    int *kinds;   /* how many parts of each there were */
} checking;

static const char *canonical(test *t, vls_json value)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_json_write_around(&text, value, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

/* The object of a part, as it is in the store; what came with the request is in the test's hand. */
static valise_str object_of(test *t, valise_view *view, const vls_part *part)
{
    valise_str text = {NULL, 0};

    if (part->kind != VLS_PART_GIVEN)
        CHECK_OK(valise_view_object(&text, view, &part->id, &t->err));
    return text;
}

/* A stretch of a turn: its blocks as they are, one of them as an edit made it, or its role. */
static void check_turn(checking *c, const vls_part *part, valise_str object, const char *text,
                       bool edited)
{
    const char *role = test_format(",\"role\":\"%s\"}", vls_says[part->says]);
    vls_arena arena;
    vls_json blocks;
    bool found = strcmp(text, role) == 0 || edited;
    size_t with = strlen(text) > strlen(role) ? strlen(text) - strlen(role) : 0;
    test *t = c->p->t;

    /* Blocks and role are one stretch where nothing stands between them. */
    if (!found && strcmp(text + with, role) == 0 && part->edits.len == 0)
        found = vls_str_equal(object, vls_str(text, with));
    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_json_parse(&blocks, &arena, object, NULL, &t->err));
    for (uint32_t i = 0; i < blocks.len && !found; i++)
        found = strcmp(text, canonical(t, blocks.items[i])) == 0;
    for (size_t i = 0; i < part->edits.len && !found; i++) { /* media: size, and the same blob */
        const vls_prompt_edit *edit = &part->edits.ptr[i];

        found =
            edit->kind == VLS_EDIT_ASSET &&
            strstr(text,
                   test_format("\"blob\":\"%.*s\"",
                               VALISE_STR_ARG(vls_text_of(blocks.items[edit->block], "blob")))) &&
            strstr(text, test_format("\"size\":%lld", (long long)edit->a));
    }
    CHECK_MSG(found, "not of turn %.*s: %s", VALISE_STR_ARG(part->name), text);
    vls_arena_release(&arena);
}

/* Words and text as one text block; or the blob. */
static void check_told(checking *c, const vls_part *part, valise_str object, const char *text)
{
    static const valise_id none = {{0}};
    test *t = c->p->t;
    const char *all = test_format("%.*s%.*s", VALISE_STR_ARG(part->words), VALISE_STR_ARG(object));
    vls_arena arena;
    vls_json block;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(VLS_PAIRS(&block, &arena, &t->err,
                       {"text", vls_json_string(valise_str_of(all)), false},
                       {"type", vls_json_string(VLS_STR("text")), false}));
    CHECK_MSG(
        strcmp(text, canonical(t, block)) == 0 ||
            (memcmp(&part->blob, &none, sizeof(none)) != 0 &&
             strstr(text, test_format("{\"blob\":\"%s\"", vls_id_hex(&part->blob).s)) == text),
        "not of %.*s: %s", VALISE_STR_ARG(part->name), text);
    vls_arena_release(&arena);
}

static void check_span(checking *c, valise_view *view, const vls_span *span, const char *text)
{
    static const valise_id none = {{0}};
    const vls_part *part = &c->m.parts.ptr[span->part];
    valise_str object = {"", 0};

    if (memcmp(&part->id, &none, sizeof(none)) != 0)
        object = object_of(c->p->t, view, part);
    c->told[span->part] += span->length;
    if (part->kind == VLS_PART_TURN)
        check_turn(c, part, object, text, span->reason != NULL);
    else if (part->section == VLS_SECTION_PARAMS && part->kind == VLS_PART_ROLE) /* a member */
        CHECK_MSG(vls_str_find(object, valise_str_of(text)) < object.len, "%s", text);
    else if (part->kind == VLS_PART_GIVEN && part->section == VLS_SECTION_TOOLS)
        CHECK_MSG(strstr(text, "\"inputSchema\""), "%s", text);
    else if (part->kind == VLS_PART_GIVEN)
        CHECK_HAS(text, "100");
    else
        check_told(c, part, object, text);
}

/* What is the builder's own: nothing that anybody said. */
static void check_own(const char *text)
{
    static const char *const letters[] = {"messages", "blocks",    "role",       "user",   "params",
                                          "sections", "context",   "history",    "system", "tools",
                                          "version",  "maxTokens", "temperature"};

    for (const char *at = text; *at; at++) {
        bool known = strchr("{}[],:\"0123456789", *at) != NULL;

        for (size_t i = 0; i < VLS_COUNT(letters) && !known; i++)
            if (strncmp(at, letters[i], strlen(letters[i])) == 0) {
                at += strlen(letters[i]) - 1;
                known = true;
            }
        CHECK_MSG(known, "whose is '%s' in: %s", at, text);
    }
}

static int check_all(void *arg, valise_view *view, valise_error *err)
{
    checking *c = arg;
    test *t = c->p->t;
    size_t at = 0;
    int rc = vls_manifest_read(&c->m, &view->arena, valise_str_of(c->p->manifest), err);

    CHECK_OK(rc);
    c->told = test_alloc((c->m.parts.len + 1) * sizeof(*c->told));
    for (size_t i = 0; i < c->m.spans.len && rc == 0; i++) {
        const vls_span *span = &c->m.spans.ptr[i];
        const char *text = test_format("%.*s", (int)span->length, c->p->neutral + at);

        at += span->length;
        if (span->part < 0)
            check_own(text);
        else
            check_span(c, view, span, text);
    }
    CHECK_INT(strlen(c->p->neutral), at);
    /* No part is without a byte, but for a turn of which nothing is left, or params that others
     * have said again. */
    for (size_t i = 0; i < c->m.parts.len; i++)
        c->kinds[c->m.parts.ptr[i].kind]++;
    for (size_t i = 0; i < c->m.parts.len; i++)
        CHECK(c->told[i] > 0 || c->m.parts.ptr[i].kind == VLS_PART_TURN ||
              c->m.parts.ptr[i].section == VLS_SECTION_PARAMS);
    return rc;
}

TEST(blame, every_byte_has_a_source_that_says_it)
{
    int kinds[VLS_PART_BUILDER + 1] = {0};

    rng = test_rng_new(test_seed());
    for (int round = 0; round < 12; round++) {
        pot *p = pot_open_another(t, round);
        checking c = {.p = p, .kinds = kinds};

        pot_build(p, random_session(p));
        CHECK_OK(vls_with_view(p->k->v, NULL, check_all, &c, &t->err));
        valise_close(p->k->v);
    }
    for (int kind = 0; kind < VLS_PART_BUILDER; kind++)
        CHECK_MSG(kinds[kind] > 0 || (kind == VLS_PART_FRAME && strcmp(t->param, "memory") == 0),
                  "no %s was there", vls_part_kinds[kind]);
}
