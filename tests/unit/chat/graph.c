/* graph.c -- order, paths, two heads, what lies below: by hand, and what it costs. [W7] [W8] [P1]
 */
#include "chat/graph_kit.h"

TEST_PARAMS(graph, "memory", "sqlite")

static vls_turn_row up(bed *b, const vls_turn_row *turn, int64_t depth)
{
    test *t = b->t;
    vls_turn_row out = {0};

    CHECK_OK(vls_turn_up(&out, &b->view, turn, depth, &t->err));
    return out;
}

TEST(graph, jumps_are_those_of_a_skew_binary_counter)
{
    static const int64_t jumps[] = {0, 0, 1, 0, 3, 4, 3, 0, 7, 8, 7, 10, 11, 10, 7, 0};
    vls_turn_row row = {0};
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    for (size_t i = 0; i < VLS_COUNT(jumps); i++) {
        row = shrub_put(&b, &(shoot){.id = i + 1, .first = i == 0 ? NULL : &row});
        CHECK_INT(i, row.place.depth);
        CHECK_INT(jumps[i], row.jump_depth);
        CHECK_INT(i > 0, row.jump.version);
    }
    (void)shrub_session(&b, 1, "it", &row);
    bed_end(&b);
    bed_close(&b);
}

/* "Walking from a head to the root is linear in the path and needs no query per turn". [W8] */
TEST(graph, a_long_path_is_one_scan)
{
    enum { LONG = 3000 };
    vls_trail trail = {.env = NULL};
    vls_turn_row head, at;
    reads r;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    head = shrub_line(&b, 1, LONG, NULL);
    bed_end(&b);
    bed_begin(&b, false);
    (void)shrub_reads();
    at = up(&b, &head, 1);
    CHECK_TEXT("2", shrub_name(&at.ref));
    r = shrub_reads();
    CHECK_MSG(r.gets <= 36 && r.scans == 0, "%lld gets", (long long)r.gets);
    CHECK_INT(1, vls_turn_is_before(&b.view, &at, &head, &t->err));
    CHECK_INT(0, vls_turn_is_before(&b.view, &head, &at, &t->err));
    CHECK_OK(vls_trail_make(&trail, &b.view, &head, NULL, false, &t->err));
    CHECK_INT(LONG, trail.count);
    CHECK_INT(1, trail.pieces.len);
    (void)shrub_reads();
    CHECK(shrub_text(&b, &trail, 0, false)[0] == '1');
    r = shrub_reads();
    CHECK_INT(1, r.scans);
    CHECK_MSG(r.gets <= 2 && r.rows <= LONG + 1, "%lld gets, %lld rows", (long long)r.gets,
              (long long)r.rows);
    /* From the end on: what is left out is not read. */
    CHECK_TEXT("2999 3000", shrub_text(&b, &trail, LONG - 2, false));
    CHECK_TEXT("3 2 1", shrub_text(&b, &trail, LONG - 3, true));
    CHECK_TEXT("", shrub_text(&b, &trail, LONG, true));
    r = shrub_reads();
    CHECK_MSG(r.gets + r.rows < 100, "%lld gets, %lld rows", (long long)r.gets, (long long)r.rows);
    vls_trail_release(&trail);
    bed_end(&b);
    bed_close(&b);
}

/* Where each turn is an edit every lane has one version: no scan is opened for it. */
TEST(graph, short_lanes_are_read_by_key)
{
    enum { LONG = 200 };
    vls_turn_row old = {0}, head = {0};
    vls_trail trail = {.env = NULL};
    const char *text;
    reads r;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    for (uint64_t i = 0; i < LONG; i++) {
        const vls_turn_row *parent = i == 0 ? NULL : &head;
        old = shrub_put(&b, &(shoot){.id = i + 1, .first = parent});
        head = shrub_put(&b, &(shoot){.id = i + 1, .version = 2, .first = parent});
    }
    bed_end(&b);
    bed_begin(&b, false);
    (void)shrub_reads();
    CHECK_OK(vls_trail_make(&trail, &b.view, &head, NULL, false, &t->err));
    CHECK_INT(LONG, trail.count);
    CHECK_INT(LONG, trail.pieces.len);
    text = shrub_text(&b, &trail, 0, true);
    CHECK(strncmp(text, "200@2 199@2 198@2 ", 18) == 0);
    r = shrub_reads();
    CHECK_INT(0, r.scans);
    CHECK_MSG(r.gets < 4 * LONG, "%lld gets", (long long)r.gets);
    CHECK_INT(0, vls_turn_is_before(&b.view, &old, &head, &t->err));
    vls_trail_release(&trail);
    bed_end(&b);
    bed_close(&b);
}

/*     1 - 2 - 3 - 4 - 5 ---------- 9 - 10
 *          \- 6 - 7 ------------/ /
 *                  \- 8 ---------/            9 = merge of 5, 7, 8 */
TEST(graph, a_merge_is_walked_by_its_parents_in_their_order)
{
    vls_turn_row two, seven, eight, nine, ten;
    vls_turn_diff diff;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    two = shrub_line(&b, 1, 2, NULL);
    ten = shrub_line(&b, 3, 3, &two);
    seven = shrub_line(&b, 6, 2, &two);
    eight = shrub_line(&b, 8, 1, &seven);
    {
        const vls_turn_row *more[] = {&eight, &seven};
        nine = shrub_put(
            &b, &(shoot){.id = 9, .first = &ten, .more = more, .more_count = VLS_COUNT(more)});
    }
    ten = shrub_line(&b, 10, 1, &nine);
    bed_end(&b);
    bed_begin(&b, false);
    CHECK_TEXT("1 2 3 4 5 6 7 8 9 10", shrub_walk(&b, &ten, NULL, false));
    CHECK_TEXT("1 2 3 4 5 9 10", shrub_walk(&b, &ten, NULL, true));
    CHECK_TEXT("3 4 5 8 9 10", shrub_walk(&b, &ten, &seven, false));
    CHECK_TEXT("", shrub_walk(&b, &seven, &ten, false));
    CHECK_INT(1, vls_turn_is_before(&b.view, &seven, &ten, &t->err));
    CHECK_INT(0, vls_turn_is_before(&b.view, &ten, &seven, &t->err));
    CHECK_OK(vls_turn_diff_make(&diff, &b.view, &ten, &eight, &t->err));
    CHECK(diff.related);
    CHECK_TEXT("8", shrub_name(&diff.common.ref));
    CHECK_TEXT("3 4 5 9 10", shrub_text(&b, &diff.only_a, 0, false));
    CHECK_INT(0, diff.only_b.count);
    vls_turn_diff_release(&diff);
    bed_end(&b);
    bed_close(&b);
}

TEST(graph, heads_without_anything_in_common)
{
    vls_turn_row a, c;
    vls_turn_diff diff;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    a = shrub_line(&b, 1, 2, NULL);
    c = shrub_line(&b, 3, 2, NULL);
    CHECK_OK(vls_turn_diff_make(&diff, &b.view, &a, &c, &t->err));
    CHECK(!diff.related);
    CHECK_TEXT("1 2", shrub_text(&b, &diff.only_a, 0, false));
    CHECK_TEXT("3 4", shrub_text(&b, &diff.only_b, 0, false));
    vls_turn_diff_release(&diff);
    bed_end(&b);
    bed_close(&b);
}

/* Two copies of a workspace went on in one lane, and met again. */
TEST(graph, two_versions_at_one_place_of_a_lane)
{
    vls_turn_row base, mine, theirs;
    vls_turn_diff diff;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    base = shrub_line(&b, 1, 4, NULL);
    mine = shrub_line(&b, 100, 5, &base);
    theirs = base;
    for (uint64_t i = 0; i < 7; i++)
        theirs = shrub_put(&b, &(shoot){.id = 50 + i, .first = &theirs, .crowd = true});
    bed_end(&b);
    bed_begin(&b, false);
    CHECK(vls_uuid_equal(&mine.place.lane, &theirs.place.lane));
    CHECK_TEXT("1 2 3 4 100 101 102 103 104", shrub_walk(&b, &mine, NULL, false));
    CHECK_TEXT("1 2 3 4 50 51 52 53 54 55 56", shrub_walk(&b, &theirs, NULL, false));
    CHECK_INT(0, vls_turn_is_before(&b.view, &mine, &theirs, &t->err));
    CHECK_OK(vls_turn_diff_make(&diff, &b.view, &mine, &theirs, &t->err));
    CHECK_TEXT("4", shrub_name(&diff.common.ref));
    CHECK_TEXT("104 103 102 101 100", shrub_text(&b, &diff.only_a, 0, true));
    CHECK_TEXT("51 52 53 54 55 56", shrub_text(&b, &diff.only_b, 1, false));
    vls_turn_diff_release(&diff);
    bed_end(&b);
    bed_close(&b);
}

/* Rows of other programs may lead nowhere: that is told, and ends. */
TEST(graph, what_is_missing_is_told)
{
    vls_turn_row head, out = {0};
    vls_trail trail = {.env = NULL};
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    head = shrub_line(&b, 1, 6, NULL);
    bed_end(&b);
    bed_begin(&b, false);
    head.parent.id = head.jump.id = shrub_id(99);
    CHECK_RC(VALISE_E_CORRUPT, vls_turn_up(&out, &b.view, &head, 2, &t->err));
    CHECK(strstr(t->err.message, "is missing") != NULL);
    CHECK_INT(0, out.ref.version);
    CHECK_RC(VALISE_E_CORRUPT, vls_trail_make(&trail, &b.view, &head, NULL, false, &t->err));
    head.parent = head.jump = head.ref;
    head.jump_depth = 2;
    CHECK_RC(VALISE_E_CORRUPT, vls_turn_up(&out, &b.view, &head, 2, &t->err));
    bed_end(&b);
    bed_close(&b);
}

static int add_holder(void *arg, const vls_session_row *session, const vls_tip_row *tip,
                      valise_error *err)
{
    const char **out = arg;
    vls_turn_ref name = {session->id, 1};

    (void)err;
    *out = test_format("%s %s%s", *out, shrub_name(&name), tip ? "t" : "");
    return 0;
}

static const char *below(bed *b, const vls_turn_row *turn)
{
    test *t = b->t;
    const char *out = "";

    CHECK_OK(vls_below_each(&b->view, turn, add_holder, &out, &t->err));
    return out;
}

TEST(graph, whose_heads_lie_below)
{
    vls_turn_row one, three, five, six, eight;
    bed b;

    shrub_open(&b, t, t->param);
    bed_begin(&b, true);
    one = shrub_line(&b, 1, 1, NULL);
    three = shrub_line(&b, 2, 2, &one);
    five = shrub_line(&b, 4, 2, &three);
    six = shrub_line(&b, 6, 2, &one);
    {
        const vls_turn_row *more[] = {&six};
        eight = shrub_put(&b, &(shoot){.id = 8, .first = &three, .more = more, .more_count = 1});
    }
    (void)shrub_session(&b, 20, "five", &five);
    (void)shrub_session(&b, 21, "six", &six);
    (void)shrub_session(&b, 22, "eight", &eight);
    (void)shrub_session(&b, 23, "empty", NULL);
    shrub_tip(&b, 21, &three);
    bed_end(&b);
    bed_begin(&b, false);
    CHECK_TEXT(" 20", below(&b, &five));
    CHECK_TEXT(" 22", below(&b, &eight));
    CHECK_TEXT(" 20 21t 22", below(&b, &three));
    CHECK_TEXT(" 21 22", below(&b, &six));
    bed_end(&b);
    bed_close(&b);
}
