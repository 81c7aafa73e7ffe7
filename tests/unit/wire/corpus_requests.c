/* corpus_requests.c -- every conversation as a request of every adapter. [P5] [P13]
 *
 * tests/data/prompts/golden/ADAPTER.txt has for each of them its name, the repairs and the body:
 *
 *     == tool-loop
 *     -- R9.2@1.1(call_1)
 *     {"model":...}
 *
 * An adapter without a golden file fails. */
#include "harness/fault.h"
#include "wire/corpus.h"

TEST(corpus, has_enough_to_say)
{
    size_t common = 0;
    const corpus *c = corpus_of(t);

    for (size_t i = 0; i < c->count; i++)
        common += !c->all[i].only;
    CHECK_MSG(common >= 50, "%zu conversations", common);
}

TEST(corpus, requests_are_as_they_were)
{
    const corpus *c = corpus_of(t);

    for (size_t a = 0; vls_adapters[a]; a++) {
        const vls_adapter *adapter = vls_adapters[a];
        VLS_AUTO(buf) vls_buf text = {.env = NULL};
        vls_buf_init(&text, t->env, (size_t)1 << 24);
        for (size_t i = 0; i < c->count; i++) {
            request made;
            if (!is_for(&c->all[i], adapter))
                continue;
            test_context("%s, %s", adapter->name, c->all[i].name);
            made = write_prompt(t, adapter, models_of(adapter)[0], c->all[i].prompt, 0);
            vls_buf_printf(&text, "== %s\n", c->all[i].name);
            if (made.repairs[0])
                vls_buf_printf(&text, "-- %s\n", made.repairs);
            vls_buf_printf(&text, "%s\n", made.body);
            test_context_end();
        }
        CHECK_OK(vls_buf_check(&text, &t->err));
        CHECK_GOLDEN(test_format("data/prompts/golden/%s.txt", adapter->name), vls_buf_str(&text));
    }
}

/* Other models demand other things; a stream is asked for, or not. */
TEST(corpus, lint_finds_nothing_whatever_the_model)
{
    const corpus *c = corpus_of(t);

    for (size_t a = 0; vls_adapters[a]; a++) {
        for (const char *const *model = models_of(vls_adapters[a]); *model; model++) {
            for (size_t i = 0; i < c->count; i++) {
                if (!is_for(&c->all[i], vls_adapters[a]))
                    continue;
                test_context("%s, %s, %s", vls_adapters[a]->name, *model, c->all[i].name);
                (void)write_prompt(t, vls_adapters[a], *model, c->all[i].prompt,
                                   STREAMED | UNMARKED);
                test_context_end();
            }
        }
    }
}

/* Nothing is too large for a body, and nothing takes longer than it is long. */
TEST(corpus, a_result_of_megabytes)
{
    static const size_t len = (size_t)4 << 20;
    char *huge = test_alloc(len + 1);
    const char *prompt;

    for (size_t i = 0; i < len; i++)
        huge[i] = i % 80 == 79 ? ' ' : (char)('a' + i % 26);
    prompt = test_format("{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":"
                         "\"text\",\"text\":\"Go\"}]},{\"role\":\"assistant\",\"blocks\":[{"
                         "\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"read\",\"args\":{}}]}"
                         ",{\"role\":\"tool\",\"blocks\":[{\"type\":\"tool_result\",\"callId\":"
                         "\"c1\",\"content\":\"%s\"}]}]}",
                         huge);
    for (size_t a = 0; vls_adapters[a]; a++) {
        request made = write_prompt(t, vls_adapters[a], models_of(vls_adapters[a])[0],
                                    valise_str_of(prompt), 0);
        CHECK(strstr(made.body, huge));
    }
}

/* ---- without memory ---- */

typedef struct errand {
    const vls_adapter *adapter;
    const char *model;
    valise_str prompt;
} errand;

static int there_and_back(fault *f, const errand *e, vls_arena *arena, vls_wire *wire)
{
    vls_neutral prompt = {.context = 0};
    vls_plan plan = {.arena = arena};
    vls_findings found = VLS_VEC_INIT;
    vls_json body = vls_json_null();
    int rc = vls_neutral_read(&prompt, arena, e->prompt, &f->err);

    if (rc == 0)
        rc = vls_plan_make(&plan, arena, e->adapter, &prompt, valise_str_of(e->model), &f->err);
    if (rc == 0)
        rc = e->adapter->write(wire, &plan, &(vls_wire_write){.stream = true}, &f->err);
    if (rc == 0)
        rc = vls_json_parse(&body, arena, vls_buf_str(&wire->text), NULL, &f->err);
    return rc < 0 ? rc : vls_lint_request(&found, arena, e->adapter, body, &f->err);
}

static int errand_once(fault *f, void *arg)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};

    vls_wire_init(&wire, f->env);
    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    return there_and_back(f, arg, &arena, &wire);
}

TEST(corpus, every_allocation_fails_in_turn)
{
    const corpus *c = corpus_of(t);

    for (size_t a = 0; vls_adapters[a]; a++) {
        for (size_t i = 0; i < c->count; i++) {
            errand e = {vls_adapters[a], models_of(vls_adapters[a])[0], c->all[i].prompt};
            if (!is_for(&c->all[i], vls_adapters[a]))
                continue;
            test_context("%s, %s", vls_adapters[a]->name, c->all[i].name);
            (void)fault_each_alloc(t, 0, errand_once, &e);
            test_context_end();
        }
    }
}
