/* flow.c -- the nodes of a run as they are shown: lines that stay, lines that move. [F12 F15] */
#include "cli/kit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/flow_live.h"
#include "harness/fault.h"

/* ---- a run that somebody watches ---- */

typedef struct shown {
    cli *c;
    cli_flow_live live;
} shown;

/* moves: as on a terminal. What is written goes into a file. */
static void begin(test *t, shown *s, bool moves)
{
    s->c = kit_new(t);
    s->c->out->fd = memfd_create("out", MFD_CLOEXEC);
    s->c->out->terminal = moves;
    CHECK(s->c->out->fd >= 0);
    CHECK_OK(cli_flow_live_begin(&s->live, s->c, &t->err));
    s->live.moves = moves;
}

static const char *end(test *t, shown *s)
{
    off_t size;
    char *text;

    cli_flow_live_end(&s->live);
    cli_flow_live_release(&s->live);
    CHECK(cli_out_flush(s->c->out, &t->err) == 0);
    size = lseek(s->c->out->fd, 0, SEEK_END);
    text = test_alloc((size_t)size + 1);
    CHECK_INT(size, pread(s->c->out->fd, text, (size_t)size, 0));
    (void)close(s->c->out->fd);
    return text;
}

static int tell(cli_flow_live *live, const char *type, const char *node, const char *payload)
{
    const valise_event event = {.size = sizeof(event),
                                .type = valise_str_of(type),
                                .node_id = valise_str_of(node),
                                .run_id = VLS_STR("0190a5f0-1234-7abc-8def-0123456789ab"),
                                .payload = valise_str_of(payload)};
    valise_error err = VALISE_ERROR_INIT;

    return cli_flow_live_event(live, &event, &err);
}

#define TELL(type, node, payload) CHECK_INT(0, tell(&s.live, "flow:" type, node, payload))

/* Without what a clock says: "done       1.2 ms  a" is "done # a". */
static const char *timeless(const char *text)
{
    char *out = test_alloc(strlen(text) + 1), *to = out;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        size_t len = strcspn(line, "\n"), word = strcspn(line, " \n");
        bool timed = len > 17 && word > 0 && (line[16] == 's');

        if (timed) {
            memcpy(to, line, word);
            to += word;
            memcpy(to, " #", 2);
            to += 2;
            memcpy(to, line + 17, len - 17);
            to += len - 17;
        } else {
            memcpy(to, line, len);
            to += len;
        }
        *to++ = '\n';
    }
    return out;
}

/* ---- where nothing moves ---- */

TEST(flow, a_line_for_each_node_with_its_path)
{
    shown s;

    begin(t, &s, false);
    TELL("FLOW_START", "", "{\"backpack\":\"b\",\"nodes\":3}");
    TELL("NODE_START", "a", "{\"type\":\"SetNode\",\"visit\":1}");
    TELL("NODE_END", "a", "{\"action\":\"go\",\"failed\":false,\"next\":\"sub\"}");
    TELL("NODE_START", "sub", "{\"type\":\"SubflowNode\"}");
    TELL("NODE_START", "sub/b", "{\"type\":\"ChatNode\"}");
    TELL("STREAM_CHUNK", "sub/b", "{\"kind\":\"text\",\"text\":\"not here\",\"block\":0}");
    TELL("TOOL_CALL", "sub/b", "{\"tool\":\"x\",\"failed\":true,\"durationNs\":1500000}");
    TELL("ERROR", "sub/b", "{\"attempt\":1,\"message\":\"no\",\"retry\":true}");
    TELL("ERROR", "sub/b", "{\"attempt\":2,\"code\":\"IO\",\"message\":\"no\",\"retry\":false}");
    TELL("ERROR", "sub", "{\"code\":\"IO\",\"message\":\"node 'sub/b': no\",\"retry\":false}");
    TELL("WARNING", "sub", "{\"message\":\"odd\"}");
    TELL("FLOW_END", "", "{\"status\":\"failed\",\"steps\":3,\"durationNs\":7}");
    CHECK_INT(3, s.live.steps);
    CHECK_STR(VLS_STR("failed"), vls_buf_str(&s.live.status));
    CHECK_TEXT("done #  a -> sub (go)\n"
               "failed #  sub/b  tool x\n"
               "retry #  sub/b  attempt 1: no\n"
               "failed #  sub/b  no\n"
               "warning            sub  odd\n"
               "failed #  sub\n",
               timeless(end(t, &s)));
}

TEST(flow, with_json_an_event_is_a_line)
{
    shown s;

    begin(t, &s, false);
    s.live.json = true;
    TELL("NODE_START", "a/b", "{\"type\":\"SetNode\"}");
    CHECK_TEXT("{\"id\":\"00000000-0000-0000-0000-000000000000\",\"nodeId\":\"a/b\","
               "\"payload\":{\"type\":\"SetNode\"},\"runId\":"
               "\"0190a5f0-1234-7abc-8def-0123456789ab\",\"time\":\"1970-01-01T00:00:00.000Z\","
               "\"type\":\"flow:NODE_START\"}\n",
               end(t, &s));
}

/* Of other areas, of the log, and what makes no sense. */
TEST(flow, what_is_none_of_its_events_changes_nothing)
{
    shown s;
    valise_event logged = {.size = sizeof(logged), .seq = 3, .type = VLS_STR("flow:NODE_START")};

    begin(t, &s, false);
    CHECK_INT(0, tell(&s.live, "turn.added", "a", "{}"));
    CHECK_OK(cli_flow_live_event(&s.live, &logged, &t->err));
    TELL("NODE_END", "nobody", "{\"action\":\"x\"}");
    TELL("ERROR", "nobody", "{}");
    TELL("SOMETHING", "nobody", "{}");
    CHECK(tell(&s.live, "flow:NODE_START", "a", "no JSON") < 0);
    TELL("NODE_START", "", "[]");
    TELL("NODE_END", "", "7");
    CHECK_TEXT("", end(t, &s));
}

/* ---- a terminal ---- */

typedef struct screen {
    char cells[4000][120];
    size_t rows, columns, top; /* the first row that is on the screen */
    size_t row, column;
    bool full; /* the last column is written: the next character wraps */
} screen;

static void new_line(screen *s)
{
    s->row++;
    CHECK(s->row < VLS_COUNT(s->cells));
    if (s->row - s->top >= s->rows)
        s->top = s->row - s->rows + 1;
}

static void put(screen *s, char c)
{
    if (s->full) {
        s->column = 0;
        s->full = false;
        new_line(s);
    }
    s->cells[s->row][s->column] = c;
    s->full = s->column + 1 == s->columns;
    s->column += !s->full;
}

static void wipe(screen *s, size_t row, size_t column)
{
    memset(s->cells[row] + column, 0, sizeof(s->cells[row]) - column);
}

/* The sequences that are used; any other one is a mistake. */
static const char *control(screen *s, const char *text)
{
    size_t n = 0;

    CHECK(*text == '[');
    for (text++; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (size_t)(*text - '0');
    if (*text == 'A') {
        size_t most = s->row - s->top;
        s->row -= VLS_MIN(n, most);
    } else if (*text == 'K' || *text == 'J') {
        wipe(s, s->row, s->column + s->full);
        for (size_t i = s->row + 1; *text == 'J' && i < VLS_COUNT(s->cells) && i < s->top + s->rows;
             i++)
            wipe(s, i, 0);
    } else {
        CHECK_MSG(*text == 'm', "a sequence with '%c'", *text);
    }
    if (*text == 'A')
        s->full = false;
    return text;
}

/* What stands there at last, without lines that are empty. */
static const char *played(const char *text, size_t columns, size_t rows)
{
    screen *s = test_alloc(sizeof(*s));
    char *out = test_alloc(sizeof(s->cells)), *to = out;

    s->columns = columns;
    s->rows = rows;
    for (; *text; text++) {
        if (*text == '\033') {
            text = control(s, text + 1);
        } else if (*text == '\r') {
            s->column = 0;
            s->full = false;
        } else if (*text == '\n') {
            s->column = 0; /* a terminal gets a return with it */
            s->full = false;
            new_line(s);
        } else {
            put(s, *text);
        }
    }
    for (size_t i = 0; i < VLS_COUNT(s->cells); i++) {
        size_t len = strlen(s->cells[i]);

        memcpy(to, s->cells[i], len);
        to += len;
        if (len > 0)
            *to++ = '\n';
    }
    return out;
}

TEST(flow, on_a_terminal_it_is_a_tree)
{
    shown s;

    begin(t, &s, true);
    TELL("NODE_START", "sub", "{\"type\":\"SubflowNode\"}");
    cli_flow_draw(&s.live);
    TELL("NODE_START", "sub/b", "{\"type\":\"ChatNode\"}");
    TELL("STREAM_CHUNK", "sub/b",
         "{\"kind\":\"text\",\"text\":\"a\\tline\\nand \\u001b[2J\",\"block\":0}");
    cli_flow_draw(&s.live);
    TELL("STREAM_CHUNK", "sub/b", "{\"kind\":\"thinking\",\"text\":\"hm\",\"block\":1}");
    TELL("STREAM_CHUNK", "sub/b", "{\"kind\":\"text\",\"text\":\"another\",\"block\":2}");
    TELL("TOOL_CALL", "sub/b", "{\"tool\":\"x\",\"failed\":false,\"durationNs\":1500000}");
    cli_flow_draw(&s.live);
    TELL("NODE_END", "sub/b", "{\"action\":\"default\",\"failed\":false}");
    TELL("NODE_START", "sub/c", "{\"type\":\"SetNode\"}");
    cli_flow_draw(&s.live);
    TELL("NODE_END", "sub/c", "{\"action\":\"default\",\"failed\":false}");
    TELL("NODE_END", "sub", "{\"action\":\"default\",\"failed\":false}");
    CHECK_TEXT("                   sub\n"
               "                     b\n"
               "called #      tool x\n"
               "done #    b\n"
               "                     | a    line\n"
               "                     | and \\x1b[2J\n"
               "                     | another\n"
               "done #    c\n"
               "done #  sub\n",
               timeless(played(end(t, &s), 80, 24)));
}

TEST(flow, a_try_that_failed_takes_its_text_along)
{
    shown s;

    begin(t, &s, true);
    TELL("NODE_START", "a", "{\"type\":\"ChatNode\"}");
    TELL("STREAM_CHUNK", "a", "{\"kind\":\"text\",\"text\":\"1\\n2\\n3\\n4\\n5\\n6\"}");
    cli_flow_draw(&s.live);
    TELL("ERROR", "a", "{\"attempt\":1,\"message\":\"no\",\"retry\":true}");
    cli_flow_draw(&s.live);
    TELL("NODE_END", "a", "{\"action\":\"default\"}");
    CHECK_TEXT("retry #  a  attempt 1: no\ndone #  a\n", timeless(played(end(t, &s), 80, 24)));
}

/* Elements side by side: each line says where it belongs. */
TEST(flow, what_alternates_has_as_much_of_its_path_as_it_needs)
{
    shown s;

    begin(t, &s, true);
    TELL("NODE_START", "map", "{}");
    TELL("NODE_START", "map/0/sub", "{}");
    TELL("NODE_START", "map/1/sub", "{}");
    TELL("NODE_START", "map/0/sub/a", "{}");
    TELL("NODE_START", "map/1/sub/a", "{}");
    TELL("NODE_END", "map/0/sub/a", "{\"action\":\"default\"}");
    TELL("NODE_END", "map/1/sub/a", "{\"action\":\"default\"}");
    TELL("NODE_START", "map/0/sub/b", "{}");
    TELL("NODE_END", "map/0/sub/b", "{\"action\":\"default\"}");
    TELL("NODE_END", "map/0/sub", "{\"action\":\"default\"}");
    CHECK_TEXT("                   map\n"
               "                     0/sub\n"
               "done #      a\n"
               "                     1/sub\n"
               "done #      a\n"
               "done #    0/sub/b\n"
               "done #    0/sub\n"
               "left #    1/sub\n"
               "left #  map\n",
               timeless(played(end(t, &s), 80, 24)));
}

/* ---- whatever comes ---- */

#define NODES 60

typedef struct storm {
    test_rng rng;
    bool open[NODES];
    size_t done;
} storm;

static void blow(shown *s, storm *w)
{
    size_t i = (size_t)test_random_below(&w->rng, NODES);
    const char *path = test_format("m/%zu/n%zu", i / 3, i);

    if (!w->open[i]) {
        CHECK_INT(0, tell(&s->live, "flow:NODE_START", path, "{\"type\":\"T\"}"));
        w->open[i] = true;
    } else if (test_random_below(&w->rng, 3) == 0) {
        CHECK_INT(0, tell(&s->live, "flow:STREAM_CHUNK", path,
                          "{\"kind\":\"text\",\"text\":\"some words and\\nmore of them \"}"));
    } else {
        CHECK_INT(0, tell(&s->live, "flow:NODE_END", path, "{\"action\":\"default\"}"));
        w->open[i] = false;
        w->done++;
    }
    if (test_random_below(&w->rng, 4) == 0) {
        (void)pthread_mutex_lock(&s->live.lock);
        cli_flow_draw(&s->live);
        (void)pthread_mutex_unlock(&s->live.lock);
    }
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        count += strncmp(line, word, strlen(word)) == 0;
    return count;
}

/* Nothing that moved is left, and nothing that stays is lost, on a terminal of any size. */
TEST(flow, nothing_is_left_of_what_moved)
{
    static const size_t sizes[][2] = {{80, 24}, {40, 10}, {110, 50}, {34, 4}, {80, 2}, {60, 1}};

    for (size_t k = 0; k < VLS_COUNT(sizes); k++) {
        storm w = {.rng = test_rng_new(test_seed() + k)};
        size_t left = 1;
        const char *text;
        shown s;

        begin(t, &s, true);
        s.c->out->columns = sizes[k][0];
        s.c->out->rows = sizes[k][1];
        TELL("NODE_START", "m", "{}");
        for (size_t i = 0; i < 400; i++)
            blow(&s, &w);
        for (size_t i = 0; i < NODES; i++)
            left += w.open[i];
        text = played(end(t, &s), sizes[k][0], sizes[k][1]);
        CHECK_INT(w.done, count_of(text, "done "));
        CHECK_INT(left, count_of(text, "left "));
        CHECK_INT(0, count_of(text, "|   ") + count_of(text, "/   ") + count_of(text, "-   ") +
                         count_of(text, "\\   ") + count_of(text, "and "));
    }
}

static void blow_alone(size_t index, void *arg)
{
    shown *s = arg;
    const char *path = test_format("m/%zu/n", index);

    for (size_t i = 0; i < 200; i++) {
        CHECK_INT(0, tell(&s->live, "flow:NODE_START", path, "{\"type\":\"T\"}"));
        CHECK_INT(0, tell(&s->live, "flow:NODE_END", path, "{\"action\":\"default\"}"));
    }
}

TEST(flow, events_may_come_from_any_thread)
{
    shown s;

    begin(t, &s, false);
    test_threads(4, blow_alone, &s);
    CHECK_INT(800, count_of(end(t, &s), "done "));
}

/* ---- without memory ---- */

static int watch(fault *f, void *arg)
{
    shown *s = arg;
    test *t = f->t;
    int rc = 0;

    fault_off(f);
    begin(t, s, true);
    s->c->env = f->env;
    cli_flow_live_end(&s->live);
    cli_flow_live_release(&s->live);
    fault_on(f);
    if (cli_flow_live_begin(&s->live, s->c, &f->err) == 0) {
        s->live.moves = true;
        rc = tell(&s->live, "flow:NODE_START", "a", "{\"type\":\"T\"}");
        (void)tell(&s->live, "flow:STREAM_CHUNK", "a", "{\"kind\":\"text\",\"text\":\"x\"}");
        cli_flow_draw(&s->live);
        (void)tell(&s->live, "flow:NODE_START", "a/b", "{\"type\":\"T\"}");
        (void)tell(&s->live, "flow:ERROR", "a/b", "{\"message\":\"no\",\"retry\":false}");
        (void)tell(&s->live, "flow:NODE_END", "a", "{\"action\":\"default\"}");
        cli_flow_live_end(&s->live);
        cli_flow_live_release(&s->live);
    }
    fault_off(f);
    (void)close(s->c->out->fd);
    f->recovered = true; /* the run goes on, whatever of it can be shown */
    CHECK(rc == 0 || rc == VALISE_E_NO_MEMORY);
    return 0;
}

TEST(flow, without_memory_less_is_shown_and_nothing_else_happens)
{
    shown s;

    CHECK(fault_each_alloc(t, 0, watch, &s) > 5);
}
