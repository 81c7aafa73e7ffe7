/* corpus_prefix.c -- one more turn leaves what stands before it, byte for byte. [P14]
 *
 * Every conversation is cut behind each message of a user or a tool at which no call waits for its
 * result. The request of a cut and that of any longer cut:
 *
 *     {"model":...,"tools":[...],"system":...,"messages":[{...},{...},{the last one}]}
 *     |---------------- the same bytes in both ----------------|
 *
 * So tools, system text, params and all messages of the shorter one but its last are the same. And
 * where the assistant goes on, the last one is, too: nothing of the shorter request changes but the
 * brackets that close it. A tail, which is another one in each request, changes nothing before the
 * last message of the history. Marks for caches are nothing but put in.
 *
 * Two rules say that they look further (docs/prompt.md): R8.4, where there are too many files, and
 * R11.1, where tools are made up of calls. */
#include "json/make.h"
#include "wire/corpus.h"

typedef struct cutting {
    test *t;
    const vls_adapter *adapter;
    const char *model;
    vls_neutral prompt;
    size_t pairs; /* that were compared */
} cutting;

/* ---- what a cut is ---- */

static valise_str role_of(const vls_neutral *prompt, size_t at)
{
    return vls_text_of(prompt->messages.items[at], "role");
}

static bool is_role(const vls_neutral *prompt, size_t at, const char *role)
{
    return vls_str_equal(role_of(prompt, at), valise_str_of(role));
}

static int64_t count_blocks(const vls_neutral *prompt, size_t at, const char *type)
{
    vls_json blocks = vls_member_of(prompt->messages.items[at], "blocks");
    int64_t count = 0;

    for (uint32_t i = 0; i < blocks.len; i++)
        count += vls_str_equal(vls_text_of(blocks.items[i], "type"), valise_str_of(type));
    return count;
}

/* Whether the first `count` messages are a conversation that can be sent as it is. */
static bool is_turn(const vls_neutral *prompt, size_t count)
{
    int64_t waiting = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_role(prompt, i, "assistant") && (i == 0 || !is_role(prompt, i - 1, "assistant")))
            waiting = 0;
        if (is_role(prompt, i, "assistant"))
            waiting += count_blocks(prompt, i, "tool_use");
        waiting -= count_blocks(prompt, i, "tool_result");
        waiting = VLS_MAX(waiting, (int64_t)0);
    }
    return waiting == 0 && !is_role(prompt, count - 1, "assistant") &&
           !is_role(prompt, count - 1, "system");
}

/* Whether something of the message is sent, whatever the adapter: words, calls, files. */
static bool is_sent(const vls_neutral *prompt, size_t at)
{
    vls_json blocks = vls_member_of(prompt->messages.items[at], "blocks");

    for (uint32_t i = 0; i < blocks.len; i++) {
        valise_str text = vls_text_of(blocks.items[i], "text");
        if (vls_str_equal(vls_text_of(blocks.items[i], "type"), VLS_STR("text")) && text.len > 0 &&
            text.ptr[0] > ' ')
            return true;
    }
    return count_blocks(prompt, at, "tool_use") + count_blocks(prompt, at, "tool_result") +
               count_blocks(prompt, at, "image") + count_blocks(prompt, at, "document") >
           0;
}

static bool any_is_sent(const vls_neutral *prompt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_sent(prompt, i))
            return true;
    }
    return false;
}

/* The request of the first `count` messages; tail: with another message behind them. */
static request request_of(const cutting *c, size_t count, const char *tail, unsigned how)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_neutral cut = c->prompt;
    vls_json *messages = test_alloc((count + 1) * sizeof(*messages));
    test *t = c->t;

    vls_arena_init(&arena, t->env, (size_t)1 << 20);
    memcpy(messages, cut.messages.items, count * sizeof(*messages));
    if (tail)
        CHECK_OK(vls_json_parse(&messages[count], &arena,
                                valise_str_of(test_format("{\"role\":\"user\",\"blocks\":[{\"type\""
                                                          ":\"text\",\"text\":\"%s\"}]}",
                                                          tail)),
                                NULL, &t->err));
    cut.messages = vls_json_array(messages, count + (tail ? 1 : 0));
    cut.context = VLS_MIN(cut.context, count);
    cut.history = count - cut.context;
    return write_neutral(t, c->adapter, c->model, &cut, how);
}

/* ---- what a request is ---- */

/* Where the last item of the last member begins, which is the conversation. */
static size_t last_item(const char *body)
{
    size_t depth = 0, at = 0;
    bool quoted_now = false;

    for (size_t i = 0; body[i]; i++) {
        if (quoted_now) {
            quoted_now = body[i] != '"';
            i += body[i] == '\\';
            continue;
        }
        quoted_now = body[i] == '"';
        if (body[i] == '{' && depth == 2)
            at = i;
        if (body[i] == '{' || body[i] == '[')
            depth++;
        if (body[i] == '}' || body[i] == ']')
            depth--;
    }
    CHECK(depth == 0 && at > 0);
    return at;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Whether a rule that looks further has done more here than there. */
static bool looked_further(request a, request b)
{
    return count_of(a.repairs, "R8.4") != count_of(b.repairs, "R8.4") ||
           count_of(a.repairs, "R11.1") != count_of(b.repairs, "R11.1");
}

static void check_begins(const char *whole, const char *part, size_t len)
{
    size_t same = 0;

    while (same < len && whole[same] == part[same])
        same++;
    CHECK_MSG(same == len, "byte %zu of %zu is another one:\n%.*s\n%s", same, len, (int)len, part,
              whole);
}

/* ---- the comparison ---- */

static void compare(cutting *c, size_t shorter, size_t longer)
{
    request a = request_of(c, shorter, NULL, UNMARKED), b = request_of(c, longer, NULL, UNMARKED);
    bool goes_on = is_role(&c->prompt, shorter, "assistant") && is_sent(&c->prompt, shorter);

    if (looked_further(a, b))
        return;
    test_context("%zu messages, and %zu", shorter, longer);
    check_begins(b.body, a.body, goes_on ? strlen(a.body) - strlen("]}") : last_item(a.body));
    check_begins(request_of(c, longer, "Later.", UNMARKED).body, a.body, last_item(a.body));
    check_begins(request_of(c, shorter, "Now.", UNMARKED).body, a.body, last_item(a.body));
    test_context_end();
    c->pairs++;
}

static void try_cuts(cutting *c)
{
    size_t count = c->prompt.messages.len;

    for (size_t shorter = VLS_MAX(c->prompt.context, 1u); shorter < count; shorter++) {
        if (!is_turn(&c->prompt, shorter) || !any_is_sent(&c->prompt, shorter))
            continue;
        for (size_t longer = shorter + 1; longer <= count; longer++)
            compare(c, shorter, longer);
    }
}

TEST(corpus, one_more_turn_leaves_the_bytes_before_it)
{
    const corpus *all = corpus_of(t);

    for (size_t a = 0; vls_adapters[a]; a++) {
        size_t pairs = 0;
        for (size_t i = 0; i < all->count; i++) {
            cutting c = {.t = t, .adapter = vls_adapters[a]};
            VLS_AUTO(arena) vls_arena arena = {.env = NULL};
            if (!is_for(&all->all[i], c.adapter))
                continue;
            vls_arena_init(&arena, t->env, (size_t)1 << 26);
            CHECK_OK(vls_neutral_read(&c.prompt, &arena, all->all[i].prompt, &t->err));
            for (const char *const *model = models_of(c.adapter); *model; model++) {
                test_context("%s, %s, %s", c.adapter->name, *model, all->all[i].name);
                c.model = *model;
                try_cuts(&c);
                test_context_end();
            }
            pairs += c.pairs;
        }
        CHECK_MSG(pairs > 100, "%s: %zu pairs", vls_adapters[a]->name, pairs);
        test_note("%s: %zu pairs", vls_adapters[a]->name, pairs);
    }
}

/* ---- marks ---- */

static const char *without(const char *text, const char *part)
{
    char *copy = test_alloc(strlen(text) + 1);
    size_t len = strlen(part), to = 0;

    for (size_t i = 0; text[i];) {
        if (strncmp(text + i, part, len) == 0)
            i += len;
        else
            copy[to++] = text[i++];
    }
    return copy;
}

TEST(corpus, marks_are_nothing_but_put_in)
{
    const corpus *all = corpus_of(t);

    for (size_t a = 0; vls_adapters[a]; a++) {
        const vls_adapter *adapter = vls_adapters[a];
        for (size_t i = 0; i < all->count; i++) {
            for (const char *const *model = models_of(adapter); *model; model++) {
                const char *marked, *plain;
                if (!is_for(&all->all[i], adapter))
                    continue;
                test_context("%s, %s, %s", adapter->name, *model, all->all[i].name);
                marked = write_prompt(t, adapter, *model, all->all[i].prompt, 0).body;
                plain = write_prompt(t, adapter, *model, all->all[i].prompt, UNMARKED).body;
                marked = without(marked, ",\"cache_control\":{\"type\":\"ephemeral\"}");
                marked = without(marked, ",{\"cachePoint\":{\"type\":\"default\"}}");
                CHECK_TEXT(plain, marked);
                test_context_end();
            }
        }
    }
}
