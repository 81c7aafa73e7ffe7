/* kit.c -- inputs for policies. */
#include "derive/kit.h"

#include "base/utf8.h"

#define MAX_BYTES ((size_t)64 << 20)

static int content(valise_str *out, void *self, size_t i, valise_error *err)
{
    kit *k = self;

    k->reads++;
    if (k->reads == k->fails_at)
        return vls_fail(err, VALISE_E_NOT_FOUND, "input %zu is gone", i);
    *out = k->inputs[i].content;
    return 0;
}

valise_making kit_making(kit *k, vls_arena *arena, vls_buf *out)
{
    k->given = test_alloc((k->count + 1) * sizeof(*k->given));
    for (size_t i = 0; i < k->count; i++) {
        const kit_input *in = &k->inputs[i];
        k->given[i] = (valise_policy_input){
            .name = valise_str_of(in->name),
            .directory = in->directory,
            .type = valise_str_of(in->type ? in->type : "summary"),
            .agent = valise_str_of(in->agent ? in->agent : "local"),
            .size = (int64_t)in->content.len,
        };
    }
    return (valise_making){.inputs = k->given,
                           .count = k->count,
                           .is_empty = k->empty,
                           .content = content,
                           .self = k,
                           .arena = arena,
                           .out = out};
}

int kit_run(vls_buf *out, kit *k, const valise_env *env, const valise_policy *policy,
            valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_policy_params params = {.budget = k->budget};
    valise_making making;

    vls_arena_init(&arena, env, (size_t)1 << 30);
    vls_buf_init(out, env, MAX_BYTES);
    making = kit_making(k, &arena, out);
    return policy->make(&making, &params, err);
}

valise_str kit_make(test *t, kit *k, const valise_policy *policy)
{
    VLS_AUTO(buf) vls_buf out = {0};
    char *copy;

    CHECK_OK(kit_run(&out, k, t->env, policy, &t->err));
    copy = test_alloc(out.len + 1);
    if (out.len > 0)
        memcpy(copy, out.ptr, out.len);
    return vls_str(copy, out.len);
}

/* ---- at random ---- */

static void add_word(vls_buf *b, test_rng *rng)
{
    static const char *const words[] = {
        "parser",
        "Buffer",
        "the",
        "of",
        "is",
        "\xc3\xa9t\xc3\xa9",
        "\xe6\x97\xa5\xe6\x9c\xac",
        "state",
        "e.g.",
        "42",
        "a",
        "Queue",
        "reads",
        "\xf0\x9f\x98\x80",
        "(x)",
        "\t",
        "\r\n",
        "\n",
        "\n\n",
        "- ",
        "# ",
        "```\n",
        "## a (summary, local, 5 bytes)\n",
        "[empty directory]",
        "|",
        "1. ",
    };
    static const char *const ends[] = {" ", " ", " ", ". ", "! ", "\n", ".\n", "\xe3\x80\x82"};

    vls_buf_add_text(b, words[test_random_below(rng, VLS_COUNT(words))]);
    vls_buf_add_text(b, ends[test_random_below(rng, VLS_COUNT(ends))]);
}

static valise_str random_content(test_rng *rng, bool text)
{
    VLS_AUTO(buf) vls_buf b = {0};
    size_t words =
        test_random_below(rng, 4) == 0 ? test_random_below(rng, 2000) : test_random_below(rng, 40);
    char *copy;

    vls_buf_init(&b, valise_env_default(), MAX_BYTES);
    for (size_t i = 0; i < words; i++)
        add_word(&b, rng);
    if (!text && test_random_below(rng, 4) == 0)
        vls_buf_add(&b, VLS_STR("\xff\x00\x80"));
    copy = test_alloc(b.len + 1);
    if (b.len > 0)
        memcpy(copy, b.ptr, b.len);
    return vls_str(copy, b.len);
}

kit kit_random(test_rng *rng, bool text)
{
    size_t count =
        test_random_below(rng, 8) == 0 ? test_random_below(rng, 60) : test_random_below(rng, 6);
    kit_input *inputs = test_alloc((count + 1) * sizeof(*inputs));

    for (size_t i = 0; i < count; i++)
        inputs[i] = (kit_input){
            .name = test_format("n%zu%s", i, test_random_below(rng, 5) == 0 ? "\n(\x01)" : ".c"),
            .content = random_content(rng, text),
            .directory = test_random_below(rng, 3) == 0,
        };
    return (kit){.inputs = inputs,
                 .count = count,
                 .empty = count == 0 && test_random_below(rng, 2) == 0,
                 .budget = (int64_t)(256 + test_random_below(rng, 3000))};
}
