/* model.c -- random rows and random queries, against a search that reads all of them. An index that
 * followed equals one that is built at once, in hits and in their order. [W14] [Q21] */
#include "search/kit.h"

#include <unistd.h>

#include "base/str.h"

TEST_PARAMS(model, "memory", "sqlite")

#define DOCS 60u
#define WORDS 12u

static const char *const words[WORDS] = {"ape",  "bear", "cat",  "dog", "eel",  "fox",
                                         "goat", "hen",  "ibex", "jay", "kite", "catfish"};

typedef struct doc {
    bool there;
    unsigned len;
    unsigned words[8];
} doc;

/* Does it have the words one after the other (a word alone is a phrase of one)? */
static bool has_phrase(const doc *d, const unsigned *phrase, unsigned len, bool prefix)
{
    for (unsigned i = 0; i + len <= d->len; i++) {
        unsigned n = 0;
        while (n < len &&
               (d->words[i + n] == phrase[n] ||
                (prefix && n == len - 1 &&
                 strncmp(words[d->words[i + n]], words[phrase[n]], strlen(words[phrase[n]])) == 0)))
            n++;
        if (n == len)
            return true;
    }
    return false;
}

static const char *text_of(const doc *d)
{
    const char *text = "";

    for (unsigned i = 0; i < d->len; i++)
        text = test_format("%s%s%s", text, i ? " " : "", words[d->words[i]]);
    return text;
}

static void change(desk *k, doc *docs, test_rng *rng)
{
    unsigned n = (unsigned)(test_random(rng) % DOCS);
    doc *d = &docs[n];

    if (n % 2 && d->there) { /* turns never change */
        (void)desk_run(k, "toy:drop", test_format("\"turn\":\"018f0000-0000-7000-8000-%012u\"", n));
        d->there = false;
        return;
    }
    if (n % 2 == 0 && d->there && test_random(rng) % 3 == 0) {
        (void)desk_run(k, "toy:drop", test_format("\"key\":\"%u\"", n));
        d->there = false;
        return;
    }
    *d = (doc){.there = true, .len = 1 + (unsigned)(test_random(rng) % 8)};
    for (unsigned i = 0; i < d->len; i++)
        d->words[i] = (unsigned)(test_random(rng) % WORDS);
    if (n % 2)
        desk_say(k, n, text_of(d));
    else
        desk_note(k, test_format("%u", n), text_of(d), "");
}

static void ask(desk *k, const doc *docs, test_rng *rng)
{
    unsigned a = (unsigned)(test_random(rng) % WORDS), b = (unsigned)(test_random(rng) % WORDS);
    unsigned both[2] = {a, b}, how = (unsigned)(test_random(rng) % 3), found = 0, hits = 0;
    const char *query = how == 0   ? test_format("%s %s", words[a], words[b])
                        : how == 1 ? test_format("\"%s %s\"", words[a], words[b])
                                   : test_format("%s*", words[a]);
    const char *got = test_format(" %s ", desk_find(k, query, "\"limit\":1000"));

    for (unsigned n = 0; n < DOCS; n++) {
        const doc *d = &docs[n];
        bool want =
            d->there && (how == 0   ? has_phrase(d, &a, 1, false) && has_phrase(d, &b, 1, false)
                         : how == 1 ? has_phrase(d, both, 2, false)
                                    : has_phrase(d, &a, 1, true));
        const char *name = n % 2 ? test_format(" t%u ", n) : test_format(" e:%u ", n);
        CHECK_INT(want, strstr(got, name) != NULL);
        found += want;
    }
    for (const char *at = got; *at; at++)
        hits += *at == ' ' && at[1] != '\0' && at[1] != ' ';
    CHECK_INT(found, hits);
}

TEST(model, random_rows_and_queries)
{
    static const char *const queries[] = {"cat*", "dog", "fox ape", "\"hen goat\"", "eel"};
    desk *k = desk_open(t);
    doc *docs = test_alloc(DOCS * sizeof(*docs));
    const char *before[5];
    test_rng rng = test_rng_new(test_seed());

    memset(docs, 0, DOCS * sizeof(*docs));
    for (unsigned i = 0; i < 300; i++) {
        change(k, docs, &rng);
        if (i % 3 == 0)
            ask(k, docs, &rng);
    }
    for (int i = 0; i < 5; i++)
        before[i] = desk_run(k, "search:query",
                             test_format("\"query\":\"%s\",\"limit\":1000",
                                         i == 3 ? "\\\"hen goat\\\"" : queries[i]));
    if (k->memory)
        return;
    CHECK_INT(0, unlink(desk_path(k, "search.db")));
    for (int i = 0; i < 5; i++)
        CHECK_TEXT(before[i], desk_run(k, "search:query",
                                       test_format("\"query\":\"%s\",\"limit\":1000",
                                                   i == 3 ? "\\\"hen goat\\\"" : queries[i])));
}
