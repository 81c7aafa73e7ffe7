/* rows.c -- a ledger of rows: states, forks, walks, values. [B7] [B12] [B13] [B15] [B24] */
#include "backpack/rows.h"
#include "base/blob.h"
#include "base/uuid.h"
#include "kit/bed.h"
#include "rows_kit.h"

TEST_PARAMS(rows, "memory", "sqlite")

/* "key=value" packs, "-key" deletes; each in a command of its own. */
static void write_all(bed *b, const valise_uuid *id, const char *const *words)
{
    test *t = b->t;

    for (; *words; words++) {
        VLS_AUTO(rows) vls_rows rows = {0};
        vls_ledger ledger;
        char key[64] = "";
        const char *value = strchr(*words, '=');
        bed_begin(b, true);
        CHECK_OK(vls_rows_open_id(&rows, &b->view, id, &t->err));
        ledger = vls_rows_ledger(&rows);
        if (value)
            (void)snprintf(key, sizeof(key), "%.*s", (int)(value - *words), *words);
        bed_pack(b, &ledger, value ? key : *words + 1, value ? value + 1 : NULL, NULL);
        vls_rows_close(&rows);
        bed_end(b);
    }
}

/* A ledger on the newest state; rows is closed by the caller. */
static vls_ledger look_at(bed *b, vls_rows *rows, const valise_uuid *id)
{
    test *t = b->t;

    bed_look(b, -1);
    CHECK_OK(vls_rows_open_id(rows, &b->view, id, &t->err));
    return vls_rows_ledger(rows);
}

static void look_away(bed *b, vls_rows *rows)
{
    vls_rows_close(rows);
    bed_end(b);
}

static valise_uuid fork_at(bed *b, const valise_uuid *from, int64_t upto, const char *name)
{
    test *t = b->t;
    vls_rows rows = {0};
    vls_ledger ledger, state;
    vls_bag_row fork;

    bed_begin(b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b->view, from, &t->err));
    ledger = vls_rows_ledger(&rows);
    state = freeze_at(t, &ledger, upto);
    CHECK_OK(vls_rows_fork(&fork, &state, valise_str_of(name), &t->err));
    thaw(&state);
    vls_rows_close(&rows);
    bed_end(b);
    return fork.id;
}

TEST(rows, the_columns_are_where_they_are_thought_to_be)
{
    CHECK_TEXT("seq", vls_bag_commits.fields[VLS_COMMIT_SEQ].name);
    CHECK_TEXT("key", vls_bag_commits.fields[VLS_COMMIT_KEY].name);
}

TEST(rows, show_states)
{
    static const char *const words[] = {"a=1", "b=2", "a=3", "-b", "c=4", NULL};
    vls_rows rows = {0};
    vls_ledger ledger, old;
    vls_ledger_head head;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    write_all(&b, &bag.id, words);
    ledger = look_at(&b, &rows, &bag.id);
    head = show_head(t, &ledger);
    CHECK_INT(5, head.last);
    CHECK_INT(0, head.edge);
    CHECK(head.generation != 0);
    CHECK(strstr(show_items(t, &ledger), ".3 c@") && !strstr(show_items(t, &ledger), "b@"));
    old = freeze_at(t, &ledger, 2);
    CHECK(strstr(show_items(t, &old), "a@") && strstr(show_items(t, &old), ".1 b@"));
    CHECK_INT(2, show_head(t, &old).last);
    CHECK(strstr(show_newest(t, &ledger, "b"), ".4-"));
    CHECK_TEXT("", show_newest(t, &ledger, "z"));
    thaw(&old);
    old = freeze_at(t, &ledger, 0);
    CHECK_TEXT("", show_items(t, &old));
    CHECK_TEXT("", show_commits(t, &old, 0, INT64_MAX, false));
    thaw(&old);
    look_away(&b, &rows);
    bed_check(&b);
    bed_close(&b);
}

TEST(rows, an_unknown_name_says_who_may_be_meant)
{
    vls_rows rows = {0};
    valise_uuid id = {{7}};
    bed b;

    bed_open(&b, t, t->param);
    (void)bed_make(&b, "research");
    bed_begin(&b, false);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_rows_open(&rows, &b.view, VLS_STR("reserch"), &t->err));
    CHECK(strstr(t->err.hint, "research"));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_rows_open(&rows, &b.view, VLS_STR("zzz"), &t->err));
    CHECK(strstr(t->err.hint, "bp list"));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_rows_open_id(&rows, &b.view, &id, &t->err));
    CHECK_OK(vls_rows_open(&rows, &b.view, VLS_STR("research"), &t->err));
    vls_rows_close(&rows);
    bed_end(&b);
    bed_close(&b);
}

TEST(rows, a_name_is_given_once)
{
    vls_bag_row row = {.name = VLS_STR("run")};
    bed b;

    bed_open(&b, t, t->param);
    (void)bed_make(&b, "run");
    bed_begin(&b, true);
    CHECK_RC(VALISE_E_EXISTS, vls_rows_make(&row, &b.view, &t->err));
    row.name = VLS_STR("");
    CHECK_RC(VALISE_E_INVALID, vls_rows_make(&row, &b.view, &t->err));
    bed_end(&b);
    bed_close(&b);
}

TEST(rows, a_command_sees_what_it_appends)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_rows rows = {0};
    vls_ledger ledger;
    valise_commit commit;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    for (int i = 0; i < 20; i++)
        bed_pack(&b, &ledger, i % 2 ? "odd" : "even", test_format("%d", i), "s.x");
    CHECK(strstr(show_items(t, &ledger), ".19s.x odd@"));
    CHECK(strstr(show_named(t, &ledger, "s.*"), ".19s.x odd@"));
    ledger.ops->enter(ledger.self);
    CHECK_INT(1, ledger.ops->newest(&commit, ledger.self, VLS_STR("odd"), &t->err));
    CHECK_INT(20, commit.seq);
    CHECK_INT(b.view.stamp.seq, commit.log_seq);
    CHECK_OK(ledger.ops->value(&value, ledger.self, &commit, &t->err));
    CHECK_STR(VLS_STR("19"), vls_blob_bytes(value));
    ledger.ops->leave(ledger.self);
    vls_rows_close(&rows);
    bed_end(&b);

    ledger = look_at(&b, &rows, &bag.id);
    ledger.ops->enter(ledger.self);
    CHECK_INT(1, ledger.ops->commit(&commit, ledger.self, &bag.id, 7, &t->err));
    CHECK_INT(2, commit.log_seq);
    CHECK(vls_commit_seq_of(&bag.id, &commit.id) == 7);
    CHECK_INT(0, ledger.ops->commit(&commit, ledger.self, &bag.id, 21, &t->err));
    commit.value = (valise_id){{0}};
    CHECK_RC(VALISE_E_NOT_FOUND, ledger.ops->value(&value, ledger.self, &commit, &t->err));
    ledger.ops->leave(ledger.self);
    look_away(&b, &rows);
    bed_check(&b);
    bed_close(&b);
}

/* [B33] what quarantine is about may be gone: then there is nothing to count. */
TEST(rows, usage_with_an_entry_whose_item_is_gone)
{
    vls_quarantine_row entry = {.seq = 2, .key = VLS_STR("k"), .item = 99};
    valise_usage usage = {.size = sizeof(usage)};
    vls_rows rows = {0};
    vls_ledger ledger;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    entry.backpack = entry.item_backpack = bag.id;
    bed_begin(&b, true);
    CHECK_OK(valise_view_put(&b.view, &vls_bag_quarantines, &entry, &t->err));
    bed_end(&b);
    ledger = look_at(&b, &rows, &bag.id);
    CHECK_OK(ledger.ops->usage(&usage, ledger.self, &t->err));
    CHECK_INT(0, usage.items);
    CHECK_INT(1, usage.quarantined);
    look_away(&b, &rows);
    bed_close(&b);
}

TEST(rows, a_value_that_its_id_does_not_name_is_refused)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_rows rows = {0};
    vls_ledger ledger;
    valise_commit commit = {.key = VLS_STR("k"), .time = 2000};
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    value = bed_value(&b, &commit, "1");
    commit.value.bytes[0] ^= 1;
    CHECK_RC(VALISE_E_INVALID, ledger.ops->append(ledger.self, &commit, value, &t->err));
    vls_rows_close(&rows);
    bed_end(&b);
    bed_close(&b);
}

TEST(rows, a_query_changes_nothing)
{
    vls_permission_row row = {.node_id = VLS_STR("n")};
    valise_commit commit = {.key = VLS_STR("k")};
    vls_rows rows = {0};
    vls_ledger ledger, frozen;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    row.backpack = bag.id;
    ledger = look_at(&b, &rows, &bag.id);
    CHECK_RC(VALISE_E_UNSUPPORTED,
             ledger.ops->row_put(ledger.self, &vls_bag_permissions, &row, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED,
             ledger.ops->row_delete(ledger.self, &vls_bag_permissions, &row, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, ledger.ops->set_edge(ledger.self, 3, &t->err));
    look_away(&b, &rows);

    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    frozen = freeze_at(t, &ledger, 0);
    CHECK_RC(VALISE_E_UNSUPPORTED, frozen.ops->append(frozen.self, &commit, NULL, &t->err));
    thaw(&frozen);
    vls_rows_close(&rows);
    bed_end(&b);
    bed_close(&b);
}

static int count_row(void *arg, const void *row, valise_error *err)
{
    (void)row, (void)err;
    ++*(int *)arg;
    return 0;
}

TEST(rows, permissions_and_rules_have_a_generation) /* [B18] [B19] */
{
    vls_permission_row row = {.node_id = VLS_STR("n")};
    vls_rule_row rule = {.tag = VLS_STR("pii")}, found = {.tag = VLS_STR("pii")};
    vls_rows rows = {0};
    vls_ledger ledger;
    uint64_t first, second;
    int count = 0;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    row.backpack = bag.id;
    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    first = show_head(t, &ledger).generation;
    CHECK_OK(ledger.ops->row_put(ledger.self, &vls_bag_permissions, &row, &t->err));
    second = show_head(t, &ledger).generation;
    CHECK(first != second);
    CHECK_OK(ledger.ops->row_put(ledger.self, &vls_bag_rules, &rule, &t->err)); /* workspace's */
    rule.backpack = bag.id;
    CHECK_OK(ledger.ops->row_put(ledger.self, &vls_bag_rules, &rule, &t->err));
    vls_rows_close(&rows);
    bed_end(&b);

    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    first = show_head(t, &ledger).generation;
    CHECK_INT(1, ledger.ops->row_get(&found, ledger.self, &vls_bag_rules, &t->err));
    CHECK_OK(ledger.ops->each_row(ledger.self, &vls_bag_rules, count_row, &count, &t->err));
    CHECK_INT(2, count);
    CHECK_INT(0, ledger.ops->row_delete(ledger.self, &vls_bag_checkpoints,
                                        &(vls_bag_checkpoint_row){.backpack = bag.id}, &t->err));
    CHECK(show_head(t, &ledger).generation == first);
    CHECK_INT(1, ledger.ops->row_delete(ledger.self, &vls_bag_rules, &rule, &t->err));
    CHECK(show_head(t, &ledger).generation != first);
    vls_rows_close(&rows);
    bed_end(&b);

    ledger = look_at(&b, &rows, &bag.id);
    CHECK(show_head(t, &ledger).generation != first);
    look_away(&b, &rows);
    bed_close(&b);
}

TEST(rows, forks_go_on_from_a_state) /* [B13] */
{
    static const char *const words[] = {"a=1", "b=2", "c=3", "a=4", NULL};
    static const char *const more[] = {"b=5", "-c", "d=6", NULL};
    static const char *const last[] = {"a=7", NULL};
    vls_rows rows = {0}, other = {0};
    vls_ledger ledger, forked;
    valise_uuid one, two;
    valise_commit commit;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    write_all(&b, &bag.id, words);
    one = fork_at(&b, &bag.id, 3, "one");
    write_all(&b, &one, more);
    two = fork_at(&b, &one, 2, "two");
    write_all(&b, &two, last);
    write_all(&b, &bag.id, last); /* does not show in the forks */
    bed_look(&b, -1);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &two, &t->err));
    CHECK_INT(3, rows.segment_count);
    ledger = vls_rows_ledger(&rows);
    const char *shown = show_items(t, &ledger);
    CHECK_MSG(strncmp(shown, "a@", 2) == 0 && strstr(shown, ".1 b@"), "%s", shown);
    CHECK(!strstr(shown, "c@") && !strstr(shown, "d@"));
    CHECK(strstr(show_newest(t, &ledger, "c"), "-")); /* deleted in one, up to 2 */

    /* A commit of the origin by its own number; not one that the fork does not start with. */
    ledger.ops->enter(ledger.self);
    CHECK_INT(1, ledger.ops->commit(&commit, ledger.self, &bag.id, 3, &t->err));
    CHECK_INT(0, ledger.ops->commit(&commit, ledger.self, &bag.id, 4, &t->err));
    CHECK_INT(0, ledger.ops->commit(&commit, ledger.self, &(valise_uuid){{1}}, 1, &t->err));
    ledger.ops->leave(ledger.self);
    CHECK_OK(vls_rows_open_id(&other, &b.view, &bag.id, &t->err));
    forked = vls_rows_ledger(&other);
    shown = show_difference(t, &ledger, &forked);
    CHECK_MSG(strstr(shown, "a@") && strstr(shown, "b@") && strstr(shown, "c@"), "%s", shown);
    CHECK_TEXT("", show_difference(t, &ledger, &ledger));
    vls_rows_close(&other);
    look_away(&b, &rows);
    bed_check(&b);
    bed_close(&b);
}

TEST(rows, what_is_not_related_is_compared_item_by_item)
{
    vls_rows a = {0}, c = {0};
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row one = bed_make(&b, "one"), two = bed_make(&b, "two");
    bed_look(&b, -1);
    CHECK_OK(vls_rows_open_id(&a, &b.view, &one.id, &t->err));
    CHECK_OK(vls_rows_open_id(&c, &b.view, &two.id, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_rows_each_difference(&a, &c, NULL, NULL, &t->err));
    vls_rows_close(&a);
    vls_rows_close(&c);
    bed_end(&b);
    bed_close(&b);
}

static int put_bag(bed *b, const vls_bag_row *row)
{
    test *t = b->t;
    int rc;

    bed_begin(b, true);
    rc = valise_view_put(&b->view, &vls_bags, row, &t->err);
    bed_end(b);
    return rc;
}

/* Nothing that a command does makes these; a damaged store may have them. */
TEST(rows, a_lineage_without_end_is_refused) /* [Q20] */
{
    vls_bag_row circle = {.id = {{1}}, .name = VLS_STR("o"), .origin = {{1}}};
    vls_bag_row orphan = {.id = {{2}}, .name = VLS_STR("p"), .origin = {{9}}};
    vls_rows rows = {0};
    bed b;

    bed_open(&b, t, t->param);
    CHECK_OK(put_bag(&b, &circle));
    CHECK_OK(put_bag(&b, &orphan));
    bed_look(&b, -1);
    CHECK_RC(VALISE_E_LIMIT, vls_rows_open_id(&rows, &b.view, &circle.id, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_rows_open_id(&rows, &b.view, &orphan.id, &t->err));
    bed_end(&b);
    bed_close(&b);
}

TEST(rows, what_is_restored_keeps_its_numbers) /* [B27] */
{
    vls_rows rows = {0};
    vls_ledger ledger;
    valise_commit commit = {.key = VLS_STR("k"), .time = 5, .seq = 4, .version = 2};
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    bed_begin(&b, true);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    ledger = vls_rows_ledger(&rows);
    CHECK_OK(ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_INT(4, commit.seq);
    CHECK_RC(VALISE_E_INVALID, ledger.ops->set_edge(ledger.self, 3, &t->err));
    CHECK_OK(ledger.ops->set_edge(ledger.self, 10, &t->err));
    commit = (valise_commit){.key = VLS_STR("l"), .time = 6, .seq = 10};
    CHECK_RC(VALISE_E_CONFLICT, ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    commit.seq = 0;
    CHECK_OK(ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_INT(11, commit.seq);
    vls_rows_close(&rows);
    bed_end(&b);

    ledger = look_at(&b, &rows, &bag.id);
    CHECK_INT(10, show_head(t, &ledger).edge);
    CHECK_INT(11, show_head(t, &ledger).last);
    CHECK(strstr(show_items(t, &ledger), "k@") == show_items(t, &ledger) ||
          strstr(show_items(t, &ledger), ".4 l@"));
    CHECK(strstr(show_commits(t, &ledger, 0, INT64_MAX, true), ".11 "));
    CHECK(!strstr(show_commits(t, &ledger, 0, INT64_MAX, true), "k@"));
    look_away(&b, &rows);
    bed_close(&b);
}

TEST(rows, the_state_of_an_earlier_entry_of_the_log) /* [K9] */
{
    static const char *const words[] = {"a=1", "a=2", "b=3", NULL};
    vls_rows rows = {0};
    vls_ledger ledger;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run"); /* 1 */
    write_all(&b, &bag.id, words);         /* 2, 3, 4 */
    bed_look(&b, 2);
    CHECK_OK(vls_rows_open(&rows, &b.view, VLS_STR("run"), &t->err));
    ledger = vls_rows_ledger(&rows);
    CHECK(strstr(show_items(t, &ledger), ".1 "));
    CHECK(!strstr(show_items(t, &ledger), "b@"));
    CHECK_INT(1, show_head(t, &ledger).last);
    look_away(&b, &rows);
    bed_look(&b, 0);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_rows_open(&rows, &b.view, VLS_STR("run"), &t->err));
    bed_end(&b);
    bed_close(&b);
}

static int stop(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)commit, (void)err;
    return ++*(int *)arg == 2 ? 42 : 0;
}

TEST(rows, a_walk_ends_when_its_callback_says_so)
{
    static const char *const words[] = {"a=1", "b=2", "c=3", "a=4", "a=5", NULL};
    vls_rows rows = {0};
    vls_ledger ledger;
    int n = 0;
    bed b;

    bed_open(&b, t, t->param);
    vls_bag_row bag = bed_make(&b, "run");
    write_all(&b, &bag.id, words);
    ledger = look_at(&b, &rows, &bag.id);
    CHECK_INT(42, ledger.ops->each_item(ledger.self, stop, &n, &t->err));
    n = 0;
    CHECK_INT(42, ledger.ops->each_version(ledger.self, VLS_STR("a"), stop, &n, &t->err));
    n = 0;
    CHECK_INT(42, ledger.ops->each_commit(ledger.self, 2, 5, true, stop, &n, &t->err));
    look_away(&b, &rows);
    bed_close(&b);
}

/* Such rows could once come with a bundle: nothing is counted on from there. */
TEST(rows, numbers_that_no_command_gives)
{
    const valise_commit last = {.seq = INT64_MAX, .key = VLS_STR("k"), .node_id = VLS_STR("n")};
    vls_rows rows = {0};
    vls_ledger_head head;
    vls_bag_row bag;
    valise_commit commit;
    bed b;

    bed_open(&b, t, t->param);
    bag = bed_make(&b, "run");
    commit = last;
    commit.backpack = bag.id;
    bed_begin(&b, true);
    CHECK_OK(valise_view_put(&b.view, &vls_bag_commits, &commit, &t->err));
    bed_end(&b);
    bed_look(&b, -1);
    CHECK_OK(vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_rows_ledger(&rows).ops->head(&head, &rows, &t->err));
    CHECK(strstr(t->err.message, "'run' is damaged"));
    look_away(&b, &rows);
    for (int64_t edge = -1; edge != 0; edge = edge < 0 ? INT64_MAX : 0) {
        bag.edge = edge;
        bed_begin(&b, true);
        CHECK_OK(valise_view_put(&b.view, &vls_bags, &bag, &t->err));
        bed_end(&b);
        bed_look(&b, -1);
        t->err = (valise_error)VALISE_ERROR_INIT;
        CHECK_RC(VALISE_E_CORRUPT, vls_rows_open_id(&rows, &b.view, &bag.id, &t->err));
        bed_end(&b);
    }
    bed_close(&b);
}
