/* plan_random.c -- random conversations, all kinds of demands: what holds of every plan. [P13]
 * [P14]
 *
 * No rule finds anything in a plan; a prompt in which no rule finds anything is not touched; no
 * block is gone without a word; and one more message leaves what is before it as it was. */
#include "harness/fault.h"
#include "wire/plan_kit.h"

#define ALL_DEMANDS 32767u
#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *pick(test_rng *rng, const char *const *from)
{
    size_t count = 0;

    while (from[count])
        count++;
    return from[test_random_below(rng, count)];
}

/* ---- prompts ---- */

static const char *const texts[] = {"",  " ", "a", "b ", "\\u00a0", "long enough to be told apart",
                                    "x", "y", NULL};
static const char *const ids[] = {"a", "b", "c", "abcDEF123", "fn.x:0", "call_1", "\\u00e4", NULL};
static const char *const tools[] = {"ls", "a.b", "a_b", "a b", "cat", NULL};
static const char *const metas[] = {"",
                                    "",
                                    "",
                                    ",\"meta\":{\"toys\":{\"k\":1}}",
                                    ",\"meta\":{\"other\":{\"k\":1}}",
                                    ",\"meta\":{\"vendor\":\"toys\",\"toys\":{\"model\":\"m2\"}}",
                                    ",\"meta\":{\"vendor\":\"toys\"}",
                                    NULL};
static const char *const signs[] = {"", ",\"signature\":\"s\"", ",\"redacted\":true", NULL};
static const char *const files[] = {
    "\"type\":\"image\",\"blob\":\"" ID64 "\",\"mediaType\":\"image/png\",\"size\":5",
    "\"type\":\"image\",\"blob\":\"" ID64 "\",\"mediaType\":\"image/bmp\"",
    "\"type\":\"image\",\"blob\":\"" ID64 "\",\"fileId\":\"f\"",
    "\"type\":\"document\",\"blob\":\"" ID64 "\",\"mediaType\":\"application/pdf\",\"size\":500",
    "\"type\":\"document\",\"text\":\"body\",\"filename\":\"n\"",
    "\"type\":\"document\",\"text\":\"\"",
    NULL};

static void add_inner(vls_buf *out, test_rng *rng)
{
    switch (test_random_below(rng, 4)) {
    case 0:
        vls_buf_printf(out, "{%s%s}", pick(rng, files), pick(rng, metas));
        return;
    case 1:
        vls_buf_add_text(out, "{\"type\":\"odd\"}");
        return;
    default:
        vls_buf_printf(out, "{\"type\":\"text\",\"text\":\"%s\"}", pick(rng, texts));
        return;
    }
}

static void add_result(vls_buf *out, test_rng *rng)
{
    vls_buf_printf(out, "{\"type\":\"tool_result\",\"callId\":\"%s\",\"content\":", pick(rng, ids));
    if (test_random_below(rng, 2)) {
        vls_buf_printf(out, "\"%s\"}", pick(rng, texts));
        return;
    }
    vls_buf_add_byte(out, '[');
    for (uint64_t i = 0, count = test_random_below(rng, 4); i < count; i++) {
        if (i > 0)
            vls_buf_add_byte(out, ',');
        add_inner(out, rng);
    }
    vls_buf_add_text(out, "]}");
}

static void add_block(vls_buf *out, test_rng *rng, const char *role)
{
    uint64_t kind = test_random_below(rng, 14);

    /* What one expects of a role, mostly. */
    if (role[0] == 't' && kind < 11)
        kind = 4;
    if (role[0] == 'a' && kind == 4)
        kind = 3;
    switch (kind) {
    case 0:
        vls_buf_printf(out, "{%s%s}", pick(rng, files), pick(rng, metas));
        return;
    case 1:
        vls_buf_printf(out, "{\"type\":\"thinking\",\"text\":\"%s\"%s%s}", pick(rng, texts),
                       pick(rng, signs), pick(rng, metas));
        return;
    case 2:
    case 3:
        vls_buf_printf(out,
                       "{\"type\":\"tool_use\",\"callId\":\"%s\",\"name\":\"%s\",\"args\":{}%s}",
                       pick(rng, ids), pick(rng, tools), pick(rng, metas));
        return;
    case 4:
    case 5:
        add_result(out, rng);
        return;
    case 6:
        vls_buf_add_text(out, test_random_below(rng, 2)
                                  ? "{\"type\":\"summary\",\"text\":\"sum\"}"
                                  : "{\"type\":\"role:transition\",\"to\":\"critic\"}");
        return;
    case 7:
        vls_buf_add_text(out, "{\"type\":\"odd\"}");
        return;
    default:
        vls_buf_printf(out, "{\"type\":\"text\",\"text\":\"%s\"%s}", pick(rng, texts),
                       pick(rng, metas));
        return;
    }
}

static void add_message(vls_buf *out, test_rng *rng)
{
    static const char *const roles[] = {"user", "assistant", "assistant", "tool",
                                        "tool", "system",    NULL};
    const char *role = pick(rng, roles);
    uint64_t count = test_random_below(rng, 10) == 0 ? 0 : 1 + test_random_below(rng, 3);

    vls_buf_printf(out, "{\"role\":\"%s\",\"blocks\":[", role);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0)
            vls_buf_add_byte(out, ',');
        add_block(out, rng, role);
    }
    vls_buf_add_text(out, "]}");
}

static void random_media(vls_media *media, test_rng *rng)
{
    media->images = (uint32_t)test_random_below(rng, 8);
    media->documents = (uint32_t)test_random_below(rng, 8);
    media->max_document = test_random_below(rng, 2) ? 100 : 0;
    media->max_images = media->max_documents = 0;
}

/* Plausible sets are tried more often than 1 in 32768. */
static uint32_t random_demands(test_rng *rng)
{
    uint32_t some = (uint32_t)test_random(rng) & ALL_DEMANDS;

    switch (test_random_below(rng, 4)) {
    case 0:
        return some & (uint32_t)test_random(rng);
    case 1:
        return VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_USER_FIRST | VLS_DEMANDS_RESULTS_IN_USER |
               VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_SYSTEM_AT_TOP | (some & VLS_DEMANDS_BRIDGE);
    default:
        return some;
    }
}

/* ---- what holds ---- */

static bool is_told(const vls_plan *plan, int64_t message, int64_t block)
{
    for (size_t i = 0; i < plan->repairs.len; i++) {
        if (plan->repairs.ptr[i].message == message && plan->repairs.ptr[i].block == block)
            return true;
    }
    return false;
}

static bool is_said(const vls_plan *plan, int32_t message, int32_t block)
{
    for (size_t i = 0; i < plan->messages.len; i++) {
        for (size_t j = 0; j < plan->messages.ptr[i].blocks.len; j++) {
            const vls_plan_block *said = &plan->messages.ptr[i].blocks.ptr[j];
            if (said->at == message && said->block == block)
                return true;
            for (size_t k = 0; k < said->inner_count; k++) {
                if (said->inner[k].at == message && said->inner[k].block == block)
                    return true;
            }
        }
    }
    return false;
}

static void check_nothing_is_gone(const plan_bed *bed)
{
    vls_json messages = bed->prompt.messages;

    for (uint32_t i = 0; i < messages.len; i++) {
        vls_json blocks = *vls_json_get(messages.items[i], VLS_STR("blocks"));
        if (blocks.len == 0)
            CHECK(is_told(&bed->plan, i, -1));
        for (uint32_t j = 0; j < blocks.len; j++)
            CHECK_MSG(is_said(&bed->plan, (int32_t)i, (int32_t)j) || is_told(&bed->plan, i, j),
                      "messages[%u].blocks[%u] is gone", i, j);
    }
}

static bool has_repairs(const vls_plan *plan)
{
    for (size_t i = 0; i < plan->repairs.len; i++) {
        if (strcmp(plan->repairs.ptr[i].rule, VLS_R_TAIL) != 0)
            return true;
    }
    return false;
}

static void check_lint(plan_bed *bed)
{
    test *t = bed->t;
    vls_findings found = VLS_VEC_INIT;

    CHECK_OK(vls_lint_plan(&found, &bed->arena, &bed->adapter, &bed->plan, NULL, &t->err));
    CHECK_MSG(found.len == 0, "%s: %s (%.*s), plan %s", found.ptr[0].rule, found.ptr[0].what,
              VALISE_STR_ARG(found.ptr[0].more), plan_text(bed, &bed->plan));
    CHECK_OK(vls_lint_neutral(&found, &bed->arena, &bed->adapter, &bed->prompt, &t->err));
    CHECK_MSG((found.len > 0) == has_repairs(&bed->plan), "found %s, repaired %s, plan %s",
              found.len > 0 ? found.ptr[0].rule : "nothing", repairs_text(&bed->plan),
              plan_text(bed, &bed->plan));
    for (size_t i = 0; i < found.len; i++)
        CHECK_MSG(found.ptr[i].mended, "%s is not mended", found.ptr[i].rule);
}

/* Whether there is a plan: nothing may be left of it. */
static bool make(plan_bed *bed, const char *text)
{
    test *t = bed->t;
    int rc;

    CHECK_OK(vls_neutral_read(&bed->prompt, &bed->arena, valise_str_of(text), &t->err));
    rc =
        vls_plan_make(&bed->plan, &bed->arena, &bed->adapter, &bed->prompt, VLS_STR("m1"), &t->err);
    if (rc == 0)
        return true;
    CHECK_INT(VALISE_E_INVALID, rc);
    t->err = (valise_error)VALISE_ERROR_INIT;
    return false;
}

TEST(plan_random, every_plan_obeys_every_rule)
{
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    plan_bed bed;

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    for (int round = 0; round < 3000; round++) {
        uint64_t count = 1 + test_random_below(&rng, 10);
        uint64_t context = test_random_below(&rng, count);
        plan_bed_init(&bed, t);
        random_media(&bed.adapter.media, &rng);
        bed.adapter.media.max_images = (int64_t)test_random_below(&rng, 4);
        bed.adapter.demands = random_demands(&rng);
        vls_buf_clear(&text);
        vls_buf_add_text(&text, "{\"version\":1,\"params\":{\"model\":\"m1\"},\"messages\":[");
        for (uint64_t i = 0; i < count; i++) {
            if (i > 0)
                vls_buf_add_byte(&text, ',');
            add_message(&text, &rng);
        }
        vls_buf_add_byte(&text, ']');
        if (test_random_below(&rng, 2))
            vls_buf_printf(&text, ",\"sections\":{\"context\":%d,\"history\":%d}", (int)context,
                           (int)test_random_below(&rng, count - context + 1));
        vls_buf_add_byte(&text, '}');
        test_context("demands %u, images %u, documents %u, prompt %s", bed.adapter.demands,
                     bed.adapter.media.images, bed.adapter.media.documents, vls_buf_cstr(&text));
        if (make(&bed, vls_buf_cstr(&text))) {
            check_nothing_is_gone(&bed);
            check_lint(&bed);
        }
        plan_bed_release(&bed);
        test_context_end();
    }
}

/* ---- one more message ---- */

/* Each block on a line, with its role, and where a message begins; without what stands at the end
 * only because it is the end. */
static const char *stable_text(plan_bed *bed, const vls_plan *plan)
{
    const char *text = "";
    size_t calls_at = 0;
    bool waits = false;

    for (size_t i = 0; i < plan->messages.len; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len; j++) {
            const vls_plan_block *block = &message->blocks.ptr[j];
            vls_plan_message one = {.role = message->role};
            vls_plan alone = {.arena = NULL};
            one.blocks.ptr = &message->blocks.ptr[j];
            one.blocks.len = 1;
            alone.messages.ptr = &one;
            alone.messages.len = 1;
            if (block->made && block->at < 0 && i + 1 == plan->messages.len &&
                vls_str_equal(block->text, VLS_STR(VLS_PLAN_CONTINUE)))
                break;
            if (message->role == VLS_SAYS_ASSISTANT && block->at >= 0)
                waits = false;
            text = test_format("%s%s%s\n", text, j == 0 ? "- " : "  ", plan_text(bed, &alone));
            if (block->kind == VLS_SAID_CALL)
                calls_at = strlen(text);
            if (block->kind == VLS_SAID_RESULT && block->made)
                waits = true;
        }
    }
    return waits ? test_format("%.*s", (int)calls_at, text) : text;
}

TEST(plan_random, one_more_message_changes_nothing_before_it)
{
    test_rng rng = test_rng_new(test_seed());
    VLS_AUTO(buf) vls_buf text = {.env = NULL};

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    for (int round = 0; round < 400; round++) {
        uint32_t demands = random_demands(&rng) & ~VLS_DEMANDS_TOOLS;
        const char *before = "";
        vls_media media = {.images = 0};
        random_media(&media, &rng);
        vls_buf_clear(&text);
        for (int i = 0; i < 10; i++) {
            plan_bed bed;
            const char *prompt, *now;
            plan_bed_init(&bed, t);
            media.image_types = bed.adapter.media.image_types;
            media.document_types = bed.adapter.media.document_types;
            bed.adapter.media = media;
            bed.adapter.demands = demands;
            if (i > 0)
                vls_buf_add_byte(&text, ',');
            add_message(&text, &rng);
            prompt = test_format("{\"version\":1,\"messages\":[%s]}", vls_buf_cstr(&text));
            test_context("demands %u, prompt %s", demands, prompt);
            if (make(&bed, prompt)) {
                bool trimmed = strstr(repairs_text(&bed.plan), VLS_R_LAST_SPACE);
                now = stable_text(&bed, &bed.plan);
                CHECK_MSG(strncmp(before, now, strlen(before)) == 0, "before:\n%s\nnow:\n%s",
                          before, now);
                if (!trimmed)
                    before = now;
            }
            plan_bed_release(&bed);
            test_context_end();
        }
    }
}

/* ---- speed [Q9] ---- */

TEST(plan_random, ten_thousand_turns_are_nothing)
{
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    plan_bed bed;
    int64_t start;

    plan_bed_init(&bed, t);
    bed.adapter.demands = VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_USER_LAST;
    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    vls_buf_add_text(&text, "{\"version\":1,\"messages\":[");
    for (int i = 0; i < 10000; i++) {
        vls_buf_printf(&text, "%s{\"role\":\"%s\",\"blocks\":[{\"type\":\"text\",\"text\":\"",
                       i > 0 ? "," : "", i % 2 ? "assistant" : "user");
        for (int j = 0; j < 64; j++)
            vls_buf_add_text(&text,
                             "sixty-four bytes of text, the same as in all the other lines..  ");
        vls_buf_add_text(&text, "\"}]}");
    }
    vls_buf_add_text(&text, "]}");
    CHECK_OK(vls_neutral_read(&bed.prompt, &bed.arena, vls_buf_str(&text), &t->err));
    start = t->env->ticks_ns(t->env->self);
    CHECK_OK(vls_plan_make(&bed.plan, &bed.arena, &bed.adapter, &bed.prompt, (valise_str){NULL, 0},
                           &t->err));
    test_note("a plan of 10,000 turns took %lld us",
              (long long)(t->env->ticks_ns(t->env->self) - start) / 1000);
    CHECK_INT(10001, bed.plan.messages.len);
    CHECK(bed.plan.messages.ptr[7].blocks.ptr[0].text.ptr > text.ptr &&
          bed.plan.messages.ptr[7].blocks.ptr[0].text.ptr < text.ptr + text.len);
    plan_bed_release(&bed);
}

/* ---- no memory ---- */

static int plan_with_faults(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    static const vls_model_rule rules[] = {{NULL, 0, 0}};
    vls_adapter toy = {.name = "toy", .vendor = "toys", .models = rules};
    vls_findings found = VLS_VEC_INIT;
    vls_neutral prompt = {.context = 0};
    vls_plan plan = {.arena = NULL};
    int rc;

    vls_arena_init(&arena, f->env, (size_t)1 << 26);
    toy.demands = (VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_TOOLS |
                   VLS_DEMANDS_BRIDGE | VLS_DEMANDS_SYSTEM_AT_TOP | VLS_DEMANDS_USER_LAST);
    toy.media.images = VLS_MEDIA_USER;
    rc = vls_neutral_read(&prompt, &arena, valise_str_of(arg), &f->err);
    if (rc == 0)
        rc = vls_plan_make(&plan, &arena, &toy, &prompt, VLS_STR("m"), &f->err);
    CHECK((rc == 0) == (plan.messages.len > 0));
    if (rc == 0)
        rc = vls_lint_neutral(&found, &arena, &toy, &prompt, &f->err);
    CHECK((rc == 0) == (found.len > 0));
    return rc;
}

TEST(plan_random, no_memory_is_told)
{
    test_rng rng = test_rng_new(7);
    VLS_AUTO(buf) vls_buf text = {.env = NULL};

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    vls_buf_add_text(&text, "{\"version\":1,\"tools\":[{\"name\":\"a.b\",\"inputSchema\":{}}],"
                            "\"messages\":[");
    for (int i = 0; i < 30; i++) {
        if (i > 0)
            vls_buf_add_byte(&text, ',');
        add_message(&text, &rng);
    }
    vls_buf_add_text(&text, "],\"sections\":{\"history\":28}}");
    CHECK(fault_each_alloc(t, 0, plan_with_faults, (void *)(uintptr_t)vls_buf_cstr(&text)) > 10);
}
