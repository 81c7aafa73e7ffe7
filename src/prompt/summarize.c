/* summarize.c -- sentences are gathered, scored, chosen and put together. */
#include "prompt/summarize.h"

#include "base/map.h"
#include "base/tokens.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "json/make.h"
#include "prompt/rank.h"

#define TOOLS_LISTED 12
#define TOOL_NAME_MAX 64
#define COMMON_OF 4   /* a word that is in more than every fourth sentence says little, */
#define COMMON_FROM 8 /* if there are so many of them */

typedef struct term {
    valise_str word;
    int64_t said;      /* how often */
    int64_t sentences; /* in how many */
    size_t last;       /* the last of them, plus 1 */
} term;

typedef struct tool {
    valise_str name;
    int64_t calls;
    size_t place; /* of the first call among the tools */
} tool;

typedef struct sentence {
    valise_str text;
    const char *who;
    size_t turn;
    size_t place; /* among all */
    int64_t score, cost;
    uint32_t words;
    bool opens; /* the first one of a turn */
    bool taken;
} sentence;

typedef struct working {
    vls_arena *arena;
    vls_map terms, known, by_name; /* words; sentences; tools */
    vls_vec(sentence) sentences;
    vls_vec(tool *) tools;
    size_t turn;
    const char *who;
    bool first; /* of the turn at hand no sentence was taken yet */
} working;

static bool is_term(const void *item, const void *key)
{
    return vls_str_equal(((const term *)item)->word, *(const valise_str *)key);
}

static bool is_tool(const void *item, const void *key)
{
    return vls_str_equal(((const tool *)item)->name, *(const valise_str *)key);
}

/* ---- gathering ---- */

static int count_words(working *w, sentence *s, size_t number, valise_error *err)
{
    char room[VLS_RANK_WORD];
    valise_str rest = s->text;
    size_t len;

    while ((len = vls_rank_word(room, &rest)) > 0) {
        valise_str word = {room, len};
        uint64_t hash = vls_str_hash(word, 0);
        term *t = vls_map_get(&w->terms, hash, &word);

        s->words++;
        if (!t) {
            t = vls_arena_zalloc(w->arena, sizeof(*t));
            if (!t)
                return vls_arena_fail(w->arena, err);
            if (vls_arena_dup(&t->word, w->arena, word, err) < 0)
                return VALISE_E_NO_MEMORY;
            if (vls_map_put(NULL, &w->terms, hash, &t->word, t) < 0)
                return vls_fail_memory(err);
        }
        t->said++;
        if (t->last != number + 1)
            t->sentences++;
        t->last = number + 1;
    }
    return 0;
}

/* In one line: white space is one blank, what a terminal would obey is gone. */
static void fold(vls_buf *out, valise_str text)
{
    bool blank = false;

    while (text.len > 0) {
        uint32_t code = 0xFFFD;
        size_t n = vls_utf8_decode(&code, text.ptr, text.len);
        bool bad = n == 0;

        n = bad ? 1 : n;
        if (bad || code == ' ' || vls_utf8_is_control(code)) {
            blank = out->len > 0;
        } else {
            if (blank)
                vls_buf_add_byte(out, ' ');
            blank = false;
            vls_buf_add(out, vls_str(text.ptr, n));
        }
        text = vls_str_from(text, n);
    }
}

static int keep_sentence(working *w, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    valise_str *copy;
    sentence s = {.who = w->who, .turn = w->turn, .place = w->sentences.len, .opens = w->first};
    valise_str all;
    uint64_t hash;
    int rc;

    vls_buf_init(&line, w->arena->env, VLS_RANK_LOOK + 8);
    fold(&line, text);
    rc = vls_buf_check(&line, err);
    if (rc < 0)
        return rc;
    all = vls_buf_str(&line);
    hash = vls_str_hash(all, 0);
    if (all.len == 0 || vls_str_equal(all, VLS_STR(VLS_SUMMARY_HEAD)) ||
        vls_map_get(&w->known, hash, &all))
        return 0;
    if (w->sentences.len >= VLS_SUMMARY_SENTENCES)
        return vls_fail(err, VALISE_E_LIMIT, "more than %zu sentences cannot be summarized at once",
                        VLS_SUMMARY_SENTENCES);
    copy = vls_arena_alloc(w->arena, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(w->arena, err);
    rc = vls_arena_dup(copy, w->arena, all, err);
    if (rc == 0 && vls_map_put(NULL, &w->known, hash, copy, copy) < 0)
        rc = vls_fail_memory(err);
    s.text = *copy;
    if (rc == 0)
        rc = count_words(w, &s, w->sentences.len, err);
    if (rc == 0 && s.words > 0 && !vls_vec_push_in(&w->sentences, w->arena, s))
        rc = vls_arena_fail(w->arena, err);
    w->first = w->first && s.words == 0;
    return rc;
}

/* The bytes up to the end of the first sentence: a line's end, or a full stop before a blank. */
static size_t sentence_end(valise_str text)
{
    size_t at = 0;

    while (at < text.len) {
        uint32_t code = 0;
        size_t n = vls_utf8_decode(&code, text.ptr + at, text.len - at);

        n = n > 0 ? n : 1;
        at += n;
        if (code == '\n' || code == 0x3002 || code == 0xFF01 || code == 0xFF1F)
            return at;
        if ((code == '.' || code == '!' || code == '?') &&
            (at == text.len || text.ptr[at] == ' ' || text.ptr[at] == '\n'))
            return at;
    }
    return at;
}

static int split_text(working *w, valise_str text, valise_error *err)
{
    int rc = 0;

    text = vls_utf8_head(text, VLS_RANK_LOOK);
    while (text.len > 0 && rc == 0) {
        size_t end = sentence_end(text);

        rc = keep_sentence(w, vls_str_head(text, end), err);
        text = vls_str_from(text, end);
    }
    return rc;
}

static int count_call(working *w, valise_str given, valise_error *err)
{
    VLS_AUTO(buf) vls_buf line = {0};
    valise_str name;
    tool *t;
    int rc;

    vls_buf_init(&line, w->arena->env, VLS_RANK_LOOK + 8);
    fold(&line, vls_utf8_head(given, TOOL_NAME_MAX));
    rc = vls_buf_check(&line, err);
    name = vls_buf_str(&line);
    if (rc < 0 || name.len == 0)
        return rc;
    t = vls_map_get(&w->by_name, vls_str_hash(name, 0), &name);
    if (!t) {
        t = vls_arena_zalloc(w->arena, sizeof(*t));
        if (!t)
            return vls_arena_fail(w->arena, err);
        t->place = w->tools.len;
        rc = vls_arena_dup(&t->name, w->arena, name, err);
        if (rc == 0 && (!vls_vec_push_in(&w->tools, w->arena, t) ||
                        vls_map_put(NULL, &w->by_name, vls_str_hash(name, 0), &name, t) < 0))
            rc = vls_fail_memory(err);
    }
    if (rc == 0)
        t->calls++;
    return rc;
}

static int gather_turn(working *w, const vls_summary_turn *turn, valise_error *err)
{
    static const char *const who[] = {"User", "Assistant", "System", "Tool"};
    int rc = 0;

    w->first = true;
    for (uint32_t i = 0; turn->blocks.type == VLS_JSON_ARRAY && i < turn->blocks.len && rc == 0;
         i++) {
        vls_json block = turn->blocks.items[i];
        valise_str type = vls_text_of(block, "type");

        w->who = who[turn->says & 3];
        if (vls_str_equal(type, VLS_STR("tool_use")))
            rc = count_call(w, vls_text_of(block, "name"), err);
        if (vls_str_equal(type, VLS_STR("summary")))
            w->who = "Earlier";
        if (vls_str_equal(type, VLS_STR("text")) || vls_str_equal(type, VLS_STR("summary")))
            rc = split_text(w, vls_text_of(block, "text"), err);
    }
    return rc;
}

/* ---- scoring ---- */

static void score(working *w)
{
    int64_t all = (int64_t)w->sentences.len;
    bool user = false;

    for (size_t i = 0; i < w->sentences.len; i++) {
        sentence *s = &w->sentences.ptr[i];
        char room[VLS_RANK_WORD];
        valise_str rest = s->text;
        size_t len;

        while ((len = vls_rank_word(room, &rest)) > 0) {
            valise_str word = {room, len};
            term *t = vls_map_get(&w->terms, vls_str_hash(word, 0), &word);

            /* Each word of a sentence counts once: `last` goes up again, behind the first pass. */
            if (!t || t->last == w->sentences.len + 1 + i)
                continue;
            t->last = w->sentences.len + 1 + i;
            if (all < COMMON_FROM || t->sentences * COMMON_OF <= all)
                s->score += t->said * 1024;
        }
        s->score /= 16 + (int64_t)s->words;
        if (s->opens)
            s->score += s->score / 4;
        /* What it began with is most often what it is about. */
        if (s->opens && !user && vls_str_equal(valise_str_of(s->who), VLS_STR("User"))) {
            s->score = s->score * 2 + 1024;
            user = true;
        }
    }
}

/* The best first; of equal ones what was said earlier. */
static int compare_scores(const void *a, const void *b)
{
    const sentence *const *x = a, *const *y = b;

    if ((*x)->score != (*y)->score)
        return (*x)->score > (*y)->score ? -1 : 1;
    return (*x)->place < (*y)->place ? -1 : (*x)->place > (*y)->place;
}

static int compare_tools(const void *a, const void *b)
{
    const tool *const *x = a, *const *y = b;

    if ((*x)->calls != (*y)->calls)
        return (*x)->calls > (*y)->calls ? -1 : 1;
    return (*x)->place < (*y)->place ? -1 : (*x)->place > (*y)->place;
}

/* ---- choosing ---- */

static int write_tools(valise_str *out, working *w, valise_error *err)
{
    vls_buf line;

    *out = VLS_STR("");
    if (w->tools.len == 0)
        return 0;
    if (w->tools.len > 1)
        qsort(w->tools.ptr, w->tools.len, sizeof(*w->tools.ptr), compare_tools);
    vls_buf_init_in(&line, w->arena, VLS_RANK_LOOK);
    vls_buf_add_text(&line, "Tools called: ");
    for (size_t i = 0; i < w->tools.len && i < TOOLS_LISTED; i++) {
        vls_buf_add_text(&line, i > 0 ? ", " : "");
        vls_buf_add(&line, w->tools.ptr[i]->name);
        if (w->tools.ptr[i]->calls > 1)
            vls_buf_printf(&line, " (%lld times)", (long long)w->tools.ptr[i]->calls);
    }
    if (w->tools.len > TOOLS_LISTED)
        vls_buf_printf(&line, " and %zu more", w->tools.len - TOOLS_LISTED);
    return vls_buf_keep(out, &line, err);
}

/* As much of a sentence as is shown. */
static valise_str shown(const sentence *s)
{
    return s->text.len > VLS_SUMMARY_SENTENCE ? vls_utf8_head(s->text, VLS_SUMMARY_SENTENCE)
                                              : s->text;
}

static void write_sentence(vls_buf *out, const sentence *s, const sentence *before)
{
    if (before && before->turn == s->turn && before->who == s->who)
        vls_buf_add_byte(out, ' ');
    else
        vls_buf_printf(out, "\n%s: ", s->who);
    vls_buf_add(out, shown(s));
    if (s->text.len > VLS_SUMMARY_SENTENCE)
        vls_buf_add_text(out, "...");
}

static void write_all(vls_buf *out, const working *w, valise_str tools)
{
    const sentence *before = NULL;

    vls_buf_clear(out);
    vls_buf_add_text(out, VLS_SUMMARY_HEAD);
    for (size_t i = 0; i < w->sentences.len; i++) {
        if (!w->sentences.ptr[i].taken)
            continue;
        write_sentence(out, &w->sentences.ptr[i], before);
        before = &w->sentences.ptr[i];
    }
    if (tools.len > 0)
        vls_buf_add_byte(out, '\n');
    vls_buf_add(out, tools);
}

static void take(sentence **order, size_t count, int64_t room)
{
    for (size_t i = 0; i < count; i++) {
        sentence *s = order[i];

        s->taken = s->cost <= room;
        room -= s->taken ? s->cost : 0;
    }
}

static int choose(valise_str *out, working *w, int64_t target, valise_error *err)
{
    sentence **order = vls_arena_array(w->arena, w->sentences.len + 1, sizeof(sentence *));
    valise_str tools;
    vls_buf text;
    int64_t room = target - vls_tokens(VLS_STR(VLS_SUMMARY_HEAD)), over = 0;
    int rc = write_tools(&tools, w, err);

    if (!order)
        return vls_arena_fail(w->arena, err);
    if (rc < 0)
        return rc;
    if (vls_tokens(tools) > room / 2)
        tools = VLS_STR("");
    room -= vls_tokens(tools);
    for (size_t i = 0; i < w->sentences.len; i++) {
        order[i] = &w->sentences.ptr[i];
        order[i]->cost = vls_tokens(shown(order[i])) + 4; /* who said it, and the seam */
    }
    if (w->sentences.len > 1)
        qsort(order, w->sentences.len, sizeof(*order), compare_scores);
    vls_buf_init_in(&text, w->arena, VLS_JSON_MAX_BYTES);
    /* Counted together they may be a little more than one by one. */
    for (int round = 0; rc == 0 && (round == 0 || over > 0); round++) {
        room = round < 8 ? room - over : room / 2;
        take(order, w->sentences.len, room);
        write_all(&text, w, tools);
        rc = vls_buf_check(&text, err);
        over = vls_tokens(vls_buf_str(&text)) - target;
        if (room <= 0 && over > 0) {
            if (tools.len == 0)
                break; /* the head alone is more than the target */
            tools = VLS_STR("");
        }
    }
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}

int vls_summarize(valise_str *out, vls_arena *arena, const vls_summary_turn *turns, size_t count,
                  int64_t target, valise_error *err)
{
    working w = {.arena = arena};
    int rc = 0;

    vls_map_init(&w.terms, arena->env, is_term);
    vls_map_init(&w.known, arena->env, vls_str_is);
    vls_map_init(&w.by_name, arena->env, is_tool);
    for (size_t i = 0; i < count && rc == 0; i++) {
        w.turn = i;
        rc = gather_turn(&w, &turns[i], err);
    }
    if (rc == 0) {
        score(&w);
        rc = choose(out, &w, VLS_MAX(target, VLS_SUMMARY_TARGET_MIN), err);
    }
    vls_map_release(&w.terms);
    vls_map_release(&w.known);
    vls_map_release(&w.by_name);
    return rc;
}
