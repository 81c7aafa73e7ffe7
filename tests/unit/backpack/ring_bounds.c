/* ring_bounds.c -- what a ring drops, and what it keeps all the same. */
#include "backpack/ring_impl.h"
#include "harness/test.h"
#include "kit/ledger.h"
#include "kit/ring_check.h"

static vls_ring *open_ring(test *t, int64_t max_commits, int64_t max_bytes, bool archive)
{
    vls_ring_options options = {.id = ledger_uuid(1),
                                .name = VLS_STR("bag"),
                                .max_commits = max_commits,
                                .max_bytes = max_bytes,
                                .archive = archive};
    vls_ring *ring = NULL;

    CHECK_OK(vls_ring_new(&ring, t->env, &options, &t->err));
    return ring;
}

static void pack_many(vls_ring *ring, test *t, int count)
{
    vls_ledger ledger = vls_ring_ledger(ring);

    for (int i = 0; i < count; i++)
        ledger_pack(&ledger, t->env, test_format("k%02d", i % 50), test_format("%d", i));
}

/* [B8] */
TEST(ring_bounds, drop_the_oldest_fifth)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 500, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring);
    vls_ring_pruned pruned = {0};

    pack_many(ring, t, 500);
    vls_ring_take_pruned(&pruned, ring);
    CHECK_INT(0, pruned.commits);
    pack_many(ring, t, 1);
    vls_ring_take_pruned(&pruned, ring);
    CHECK_INT(100, pruned.commits);
    CHECK_INT(100, pruned.edge);
    CHECK_INT(100, ledger_head(&ledger).edge);
    vls_ring_take_pruned(&pruned, ring);
    CHECK_INT(0, pruned.commits); /* told once */
    pack_many(ring, t, 2000);
    ring_check(ring);
    CHECK(ring->last - ring->edge <= 500 && ring->last - ring->edge >= 400);
}

/* [B8] the newest 100 stay, whatever the bound says. */
TEST(ring_bounds, never_take_the_newest_hundred)
{
    VLS_AUTO(ring) vls_ring *few = open_ring(t, 7, 0, false);
    VLS_AUTO(ring) vls_ring *small = open_ring(t, 0, 1, false);

    pack_many(few, t, 350);
    CHECK_INT(100, few->last - few->edge);
    pack_many(small, t, 350);
    CHECK_INT(100, small->last - small->edge);
    ring_check(small);
}

/* [B8] 128 bytes a commit and the values that only history has; state does not count. */
TEST(ring_bounds, count_bytes_of_history_alone)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 0, 300 * 128 + 5000, false);
    vls_ledger ledger = vls_ring_ledger(ring);
    char big[3001];
    vls_ring_pruned pruned = {0};

    memset(big, '7', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    for (int i = 0; i < 250; i++) /* each large value is an item */
        ledger_pack(&ledger, t->env, test_format("k%d", i), test_format("%d%s", i, big));
    vls_ring_take_pruned(&pruned, ring);
    CHECK_INT(0, pruned.commits);
    for (int i = 0; i < 5; i++) /* now history has them */
        ledger_pack(&ledger, t->env, test_format("k%d", i), "0");
    vls_ring_take_pruned(&pruned, ring);
    CHECK(pruned.commits > 0);
    ring_check(ring);
}

/* [B8] a state inside of the window is exact, though the packs that made it are long gone. */
TEST(ring_bounds, keep_the_edge_exact)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 200, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring), s;

    ledger_pack(&ledger, t->env, "old", "1");
    ledger_pack(&ledger, t->env, "deleted", "2");
    ledger_delete(&ledger, t->env, "deleted");
    pack_many(ring, t, 1000);
    CHECK(ring->edge > 3);
    s = ledger_freeze(&ledger, ring->edge);
    CHECK_TEXT("old@1=1 ", ledger_newest(&s, "old"));
    CHECK_TEXT("", ledger_newest(&s, "deleted"));
    CHECK_TEXT("old@1=1 ", ledger_versions(&ledger, "old"));
    CHECK_INT(51, s.ops ? ((const vls_ring_lens *)s.self)->state->items : 0);
    ledger_release_frozen(&s);
    CHECK_RC(VALISE_E_LIMIT, ledger.ops->freeze(&s, ledger.self, ring->edge - 1, &t->err));
    CHECK(t->err.hint[0]);
    /* [B2] its count begins anew: no commit of it is kept. */
    VLS_AUTO(ledger_text) ledger_text text = {0};
    ledger_text_init(&text, t->env, true);
    ledger_pack(&ledger, t->env, "deleted", "3");
    ledger_show_newest(&text, &ledger, "deleted");
    CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"version\":1")) < text.buf.len);
}

TEST(ring_bounds, leave_held_states_alone)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 150, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring), held, named;
    vls_bag_checkpoint_row row = {.backpack = ring->id, .name = VLS_STR("here")};

    ledger_pack(&ledger, t->env, "a", "1");
    ledger_quarantine(&ledger, t->env, "a");
    ledger_pack(&ledger, t->env, "a", "3");
    ledger_checkpoint(&ledger, "here", 3);
    held = ledger_freeze(&ledger, 2);
    pack_many(ring, t, 600);
    CHECK(ring->edge > 3);
    CHECK_TEXT("", ledger_items(&held));
    CHECK_TEXT("a@2! ", ledger_newest(&held, "a"));
    named = ledger_freeze(&ledger, 3);
    CHECK_TEXT("a@3=3 ", ledger_items(&named));
    ledger_release_frozen(&named);
    ledger_release_frozen(&held);
    ledger.ops->enter(ledger.self);
    CHECK_INT(1, ledger.ops->row_delete(ledger.self, &vls_bag_checkpoints, &row, &t->err));
    ledger.ops->leave(ledger.self);
    CHECK_RC(VALISE_E_LIMIT, ledger.ops->freeze(&named, ledger.self, 3, &t->err));
    ring_check(ring);
}

/* The same name at another commit lets go of the first. */
TEST(ring_bounds, move_a_checkpoint)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 0, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring);

    pack_many(ring, t, 10);
    ledger_checkpoint(&ledger, "here", 3);
    ledger_checkpoint(&ledger, "here", 7);
    ledger_checkpoint(&ledger, "there", 7);
    CHECK_INT(7, ring->roots.ptr[0].state->seq);
    CHECK_INT(2, ring->roots.ptr[0].holds);
    ring_check(ring);
}

/* A quarantine entry holds its item beyond the edge; once it was released and that is before the
 * edge, the row goes. */
TEST(ring_bounds, drop_quarantine_that_was_released)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 150, 0, false);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    vls_ledger ledger = vls_ring_ledger(ring), before;
    int64_t entry;

    ledger_pack(&ledger, t->env, "q", "\"held\"");
    entry = ledger_quarantine(&ledger, t->env, "q");
    pack_many(ring, t, 600);
    ring_check(ring);
    ledger_text_init(&text, t->env, false);
    CHECK_INT(1, ledger_show_at(&text, &ledger, &ring->id, 1));
    CHECK_INT(1, ledger_show_at(&text, &ledger, &ring->id, 2)); /* and who put it there */
    CHECK_STR(VLS_STR("q@1=\"held\" q@2! "), vls_buf_str(&text.buf));
    before = ledger_freeze(&ledger, ring->last);
    CHECK_INT(603, ledger_release(&ledger, t->env, entry));
    CHECK_TEXT("q@603=\"held\" ", ledger_newest(&ledger, "q"));
    pack_many(ring, t, 600);
    CHECK_INT(0, ring->rows[0].len);
    CHECK_INT(0, ring->held.len);
    ring_check(ring);

    /* In the state before, it is still there and not released. */
    vls_quarantine_row row = {.backpack = ring->id, .seq = entry};
    before.ops->enter(before.self);
    CHECK_INT(1, before.ops->row_get(&row, before.self, &vls_bag_quarantines, &t->err));
    CHECK_INT(0, row.released);
    valise_commit item;
    CHECK_INT(1, before.ops->commit(&item, before.self, &row.item_backpack, row.item, &t->err));
    before.ops->leave(before.self);
    ledger_release_frozen(&before);
}

/* States show quarantine as it was then. */
TEST(ring_bounds, show_quarantine_of_the_past)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 0, 0, false);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    vls_ledger ledger = vls_ring_ledger(ring), one, two, three;

    ledger_pack(&ledger, t->env, "q", "1");
    ledger_quarantine(&ledger, t->env, "q");
    ledger_release(&ledger, t->env, 2);
    one = ledger_freeze(&ledger, 1);
    two = ledger_freeze(&ledger, 2);
    three = ledger_freeze(&ledger, 3);
    ledger_text_init(&text, t->env, true);
    ledger_show_rows(&text, &one, &vls_bag_quarantines);
    CHECK_INT(0, text.buf.len);
    ledger_show_rows(&text, &two, &vls_bag_quarantines);
    CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"released\"")) == text.buf.len ||
          vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"released\":0")) < text.buf.len);
    CHECK(text.buf.len > 0);
    ledger_text_clear(&text);
    ledger_show_rows(&text, &three, &vls_bag_quarantines);
    CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"released\":3")) < text.buf.len);
    ledger_release_frozen(&one);
    ledger_release_frozen(&two);
    ledger_release_frozen(&three);
}

/* ---- the archive ---- */

typedef struct archive {
    int64_t next, fail_at;
    int done;
} archive;

static int take(void *arg, const valise_commit *commit, valise_blob *value, valise_error *err)
{
    archive *a = arg;

    CHECK(value && (int64_t)vls_blob_bytes(value).len == commit->value_size);
    CHECK_INT(a->next, commit->seq);
    if (commit->seq == a->fail_at)
        return vls_fail(err, VALISE_E_IO, "disk full");
    a->next++;
    return 0;
}

static int finish(void *arg, valise_error *err)
{
    (void)err;
    ((archive *)arg)->done++;
    return 0;
}

/* [B8] what is dropped waits until somebody has it. */
TEST(ring_bounds, hand_dropped_commits_to_an_archive)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 200, 0, true);
    archive a = {.next = 1, .fail_at = 30};

    CHECK_OK(vls_ring_dropped(ring, false, take, finish, &a, &t->err));
    CHECK_INT(0, a.done);
    pack_many(ring, t, 300);
    CHECK_RC(VALISE_E_IO, vls_ring_dropped(ring, false, take, finish, &a, &t->err));
    CHECK_INT(30, a.next);
    a = (archive){.next = 1}; /* all of them again */
    CHECK_OK(vls_ring_dropped(ring, false, take, finish, &a, &t->err));
    CHECK_INT(1, a.done);
    CHECK_INT(ring->edge + 1, a.next);
    pack_many(ring, t, 300); /* these are left to be freed with the ring */
    CHECK(ring->dropped.len > 0);
}

static int refuse(void *arg, valise_error *err)
{
    (void)arg;
    return vls_fail(err, VALISE_E_IO, "disk full");
}

static int take_any(void *arg, const valise_commit *commit, valise_blob *value, valise_error *err)
{
    (void)err;
    CHECK(value != NULL);
    *(int64_t *)arg = commit->seq;
    return 0;
}

/* [B8] no more wait than history may hold, in number and in bytes. */
TEST(ring_bounds, lose_what_an_archive_does_not_take)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 200, 0, true);
    VLS_AUTO(ring) vls_ring *small = open_ring(t, 0, 150 * 128, true);
    int64_t seq = 0;

    pack_many(ring, t, 1000); /* nobody has tried yet */
    CHECK(ring->dropped.len >= 800);
    CHECK_RC(VALISE_E_IO, vls_ring_dropped(ring, true, take_any, refuse, &seq, &t->err));
    CHECK_INT(200, ring->dropped.len);
    CHECK_INT(ring->edge - 200 + 1, ring->dropped.ptr[0]->seq);
    pack_many(ring, t, 500);
    CHECK_INT(200, ring->dropped.len);
    CHECK_INT(ring->edge - 200, vls_ring_take_lost(ring));
    CHECK_INT(0, vls_ring_take_lost(ring));
    ring_check(ring);
    CHECK_OK(vls_ring_dropped(ring, true, take_any, finish, &(archive){0}, &t->err));
    CHECK_INT(0, ring->dropped.len);

    pack_many(small, t, 1000);
    CHECK_RC(VALISE_E_IO, vls_ring_dropped(small, true, take_any, refuse, &seq, &t->err));
    CHECK(small->dropped.len > 100 && small->dropped.len < 150);
}

/* ---- memory ---- */

/* Keys that come and go leave nothing behind, not in the table and not in the trees. */
TEST(ring_bounds, forget_keys_that_were_deleted)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 100, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring);
    size_t level = 0;

    for (int i = 0; i < 3000; i++) {
        const char *key = test_format("key-%d", i);
        ledger_put(&ledger, t->env, &(ledger_write){.key = key, .value = "1", .space = key});
        ledger_delete(&ledger, t->env, key);
        if (i % 20 == 0) {
            vls_ledger s = ledger_freeze(&ledger, ring->last - i % 3);
            ledger_release_frozen(&s);
        }
        if (i == 1000)
            level = test_bytes_in_use(t);
    }
    ring_check(ring);
    CHECK(ring->live.len <= 101);
    CHECK(ring->space_map.len <= 101);
    CHECK(ring->roots.ptr[ring->roots.len - 1].state->map.len <= 150);
    CHECK(test_bytes_in_use(t) < level + level / 10);
}

/* One old checkpoint costs what it holds, however long the ring lives. */
TEST(ring_bounds, stay_level_with_an_old_checkpoint)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 200, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring);
    size_t level;

    pack_many(ring, t, 300);
    ledger_checkpoint(&ledger, "old", ring->last);
    pack_many(ring, t, 2000);
    vls_ring_lock(ring);
    vls_ring_drain(ring);
    vls_ring_unlock(ring);
    level = test_bytes_in_use(t);
    pack_many(ring, t, 4000);
    vls_ring_lock(ring);
    vls_ring_drain(ring);
    vls_ring_unlock(ring);
    CHECK(test_bytes_in_use(t) < level + level / 10);
}

/* A key that the fork deleted stays hidden, whatever the fork drops. */
TEST(ring_bounds, keep_what_hides_a_base)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 0, 0, false);
    VLS_AUTO(ring) vls_ring *fork = NULL;
    vls_ring_options options = {.id = ledger_uuid(2), .name = VLS_STR("f"), .max_commits = 100};
    vls_ledger ledger = vls_ring_ledger(ring), forked;

    ledger_pack(&ledger, t->env, "base", "1");
    ledger_pack(&ledger, t->env, "stays", "2");
    CHECK_OK(vls_ring_fork(&fork, &ledger, &options, &t->err));
    vls_ring_unref(VLS_TAKE(ring)); /* the fork keeps it alive */
    forked = vls_ring_ledger(fork);
    ledger_delete(&forked, t->env, "base");
    pack_many(fork, t, 500);
    CHECK_TEXT("", ledger_newest(&forked, "base"));
    CHECK_TEXT("stays@2=2 ", ledger_newest(&forked, "stays"));
    CHECK_INT(51, fork->items);
    ring_check(fork);
    vls_ledger s = ledger_freeze(&forked, fork->edge);
    CHECK_TEXT("", ledger_newest(&s, "base"));
    ledger_release_frozen(&s);
}

TEST(ring_bounds, refuse_what_makes_no_sense)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 0, 0, false);
    vls_ring_options options = {.name = VLS_STR("x"), .max_commits = -1};
    vls_ledger ledger = vls_ring_ledger(ring), old;
    valise_commit commit = {.key = VLS_STR("k"), .seq = 1};
    vls_bag_row other = {.name = VLS_STR("x")};
    vls_ring *none = NULL;

    CHECK_RC(VALISE_E_INVALID, vls_ring_new(&none, t->env, &options, &t->err));
    pack_many(ring, t, 3);
    old = ledger_freeze(&ledger, 2);
    CHECK_RC(VALISE_E_LIMIT, ledger.ops->freeze(&old, ledger.self, 9, &t->err));
    CHECK_RC(VALISE_E_LIMIT, old.ops->freeze(&old, old.self, 3, &t->err));
    ledger.ops->enter(ledger.self);
    CHECK_RC(VALISE_E_INVALID, ledger.ops->append(ledger.self, &commit, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, ledger.ops->set_edge(ledger.self, 2, &t->err));
    CHECK_RC(VALISE_E_INVALID, ledger.ops->row_put(ledger.self, &vls_bags, &other, &t->err));
    CHECK_RC(VALISE_E_INVALID, ledger.ops->row_get(&other, ledger.self, &vls_bags, &t->err));
    CHECK_RC(VALISE_E_INVALID, ledger.ops->row_delete(ledger.self, &vls_bags, &other, &t->err));
    ledger.ops->leave(ledger.self);
    CHECK_RC(VALISE_E_INVALID, ledger.ops->each_row(ledger.self, &vls_bags, NULL, NULL, &t->err));
    old.ops->enter(old.self);
    commit.seq = 0;
    CHECK_RC(VALISE_E_UNSUPPORTED, old.ops->append(old.self, &commit, NULL, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, old.ops->set_edge(old.self, 9, &t->err));
    vls_run_row run = {.backpack = ring->id, .number = 1};
    CHECK_RC(VALISE_E_UNSUPPORTED, old.ops->row_put(old.self, &vls_bag_runs, &run, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, old.ops->row_delete(old.self, &vls_bag_runs, &run, &t->err));
    old.ops->leave(old.self);
    ledger_release_frozen(&old);
}

TEST(ring_bounds, limit_forks_of_forks)
{
    vls_ring *ring = open_ring(t, 0, 0, false), *next = NULL;
    int depth = 1, rc = 0;

    while (rc == 0) {
        vls_ring_options options = {.id = ledger_uuid((unsigned)depth + 1), .name = VLS_STR("f")};
        vls_ledger ledger = vls_ring_ledger(ring);
        rc = vls_ring_fork(&next, &ledger, &options, &t->err);
        if (rc == 0) {
            vls_ring_unref(ring);
            ring = next;
            depth++;
        }
    }
    CHECK_INT(VALISE_E_LIMIT, rc);
    CHECK_INT(VLS_BAG_DEPTH_MAX, depth);
    vls_ring_unref(ring); /* and all of them, without recursion */
}

/* The ring may let go of it before who looks at a state of the past leaves. */
TEST(ring_bounds, a_state_does_not_tell_the_newest_node)
{
    VLS_AUTO(ring) vls_ring *ring = open_ring(t, 7, 0, false);
    vls_ledger ledger = vls_ring_ledger(ring), state;
    vls_ledger_head head;

    ledger_pack(&ledger, t->env, "k", "1");
    state = ledger_freeze(&ledger, 1);
    ledger_put(&ledger, t->env, &(ledger_write){.key = "k", .value = "2", .node = "newest"});
    state.ops->enter(state.self);
    CHECK_OK(state.ops->head(&head, state.self, &t->err));
    ledger_pack(&ledger, t->env, "k", "3");
    pack_many(ring, t, 300);
    CHECK_STR(VLS_STR(""), head.last_node);
    state.ops->leave(state.self);
    ledger_release_frozen(&state);
}
