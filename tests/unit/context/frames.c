/* frames.c -- frames are put, and never changed: the first two components of the seed, by their own
 * words, and what the specification says beside. [C7] [C8] [C9] [C10] [C11] */
#include "context/frame.h"

#include "base/base64.h"
#include "base/hex.h"
#include "context/kit.h"
#include "context/slot.h"

TEST_PARAMS(frames, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 README=hello"

static const char *frame_id(yard *y, const char *answer)
{
    return yard_member(y, answer, "frameId");
}

/* "Writer agents cannot overwrite frames (attempts return error)". [C8] */
TEST(frames, writer_agents_cannot_overwrite_frames)
{
    yard *y = yard_open(t);
    const char *first, *other;

    yard_grow(y, TREE, "");
    first = frame_id(y, yard_put(y, "w", "src/a.c", "summary", "one", ""));
    other = yard_run(y, "workspace:hash", NULL);
    CHECK_INT(VALISE_E_INVALID, yard_try_put(y, "w", "src/a.c", "summary", "two",
                                             test_format(",\"frameId\":\"%s\"", first)));
    CHECK(strstr(t->err.message, first));
    CHECK_TEXT(other, yard_run(y, "workspace:hash", NULL)); /* nothing was written */
    CHECK_TEXT("one",
               yard_member(y, yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", first)),
                           "text"));
    /* Declared as it is, it is fine. */
    CHECK_TEXT("true", yard_member(y,
                                   yard_put(y, "w", "src/a.c", "summary", "one",
                                            test_format(",\"frameId\":\"%s\"", first)),
                                   "existed"));
    yard_check(y);
}

/* "Reader agents never trigger writes (API enforces read-only)". */
TEST(frames, reader_agents_never_trigger_writes)
{
    static const char *const reads[][2] = {
        {"node:get", "{\"node\":\"src/a.c\",\"view\":\"history,recency\"}"},
        {"frame:list", "{\"node\":\"src\"}"},
        {"head:get", "{\"node\":\"src/a.c\"}"},
        {"frame:proof", "{\"node\":\"src/a.c\"}"},
    };
    yard *y = yard_open(t);
    const char *before;

    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/a.c", "notes", "one", "");
    before = yard_run(y, "workspace:status", NULL);
    CHECK_INT(VALISE_E_DENIED, yard_try_put(y, "r", "src/a.c", "notes", "two", ""));
    for (size_t i = 0; i < VLS_COUNT(reads); i++)
        CHECK_INT(0, yard_try(y, "r", reads[i][0], reads[i][1], NULL));
    CHECK_TEXT(yard_member(y, before, "seq"),
               yard_member(y, yard_run(y, "workspace:status", NULL), "seq"));
}

/* "Agent attribution preserved in FrameIDs (agent_id in basis hash)". [C9] */
TEST(frames, agent_attribution_is_preserved_in_frame_ids)
{
    yard *y = yard_open(t);
    const char *one, *two;

    yard_grow(y, TREE, "");
    one = frame_id(y, yard_put(y, "w", "src/a.c", "summary", "same", ""));
    two = frame_id(y, yard_put(y, "s", "src/a.c", "summary", "same", ""));
    CHECK(strcmp(one, two) != 0);
    CHECK_TEXT(
        "w",
        yard_member(y, yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", one)), "agent"));
    CHECK_TEXT(
        "s",
        yard_member(y, yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", two)), "agent"));
}

/* "Agent identity verified on all write operations": the full matrix of verbs and roles, and grants
 * that are narrowed. [C7] */
TEST(frames, every_verb_for_every_role)
{
    static const struct {
        const char *type, *payload;
        const char *may; /* of r, w, s, local and x, whom nobody knows */
    } verbs[] = {
        {"frame:put", "{\"node\":\"README\",\"content\":\"YQ==\",\"noScan\":true}", "wsl"},
        {"node:get", "{\"node\":\"README\",\"noScan\":true}", "rwsl"},
        {"frame:list", "{\"node\":\"README\"}", "rwsl"},
        {"head:get", "{\"node\":\"README\"}", "rwsl"},
        {"frame:proof", "{\"node\":\"README\"}", "rwsl"},
        {"frame:verify",
         "{\"root\":\"0000000000000000000000000000000000000000000000000000000000000001\",\"key\":"
         "\"0000000000000000000000000000000000000000000000000000000000000001\",\"proof\":\"AA==\"}",
         "rwslx"},
    };
    static const char *const actors[] = {"r", "w", "s", "local", "x"};
    yard *y = yard_open(t);

    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "README", "notes", "one", "");
    for (size_t i = 0; i < VLS_COUNT(verbs); i++) {
        for (size_t k = 0; k < VLS_COUNT(actors); k++) {
            bool may = strchr(verbs[i].may, actors[k][0]) != NULL;
            int rc = yard_try(y, actors[k], verbs[i].type, verbs[i].payload, NULL);
            CHECK_MSG((rc == VALISE_E_DENIED) == !may, "%s as %s: %d", verbs[i].type, actors[k],
                      rc);
        }
    }
}

TEST(frames, grants_are_narrowed_by_type_and_path)
{
    yard *y = yard_open(t);

    yard_grow(y, TREE, "");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":[\"context:read\","
                   "\"context:write type=summary path=src/**\"]}");
    CHECK_INT(0, yard_try_put(y, "n", "src/a.c", "summary", "one", ""));
    CHECK_INT(0, yard_try_put(y, "n", "./src/a.c", "summary", "two", ""));
    CHECK_INT(0, yard_try_put(y, "n", vls_id_hex(&grove_get(&y->state, "src/a.c")->id).s, "summary",
                              "three", ""));
    CHECK_INT(VALISE_E_DENIED, yard_try_put(y, "n", "src/a.c", "notes", "one", ""));
    CHECK_INT(VALISE_E_DENIED, yard_try_put(y, "n", "README", "summary", "one", ""));
    CHECK_INT(VALISE_E_DENIED, yard_try_put(y, "n", "src/../README", "summary", "one", ""));
    CHECK_INT(VALISE_E_DENIED,
              yard_try_put(y, "n", vls_id_hex(&grove_get(&y->state, "README")->id).s, "summary",
                           "one", ""));
}

/* "Same request yields same frame set", "Frame append updates heads correctly". [C10] [C11] */
TEST(frames, frame_append_updates_heads_correctly)
{
    yard *y = yard_open(t);
    const char *one, *two, *again;

    yard_grow(y, TREE, "");
    one = yard_put(y, "w", "src/a.c", "summary", "one", "");
    CHECK_TEXT("false", yard_member(y, one, "existed"));
    CHECK_TEXT("true", yard_member(y, one, "head"));
    CHECK_TEXT("", yard_member(y, one, "previousHead"));
    two = yard_put(y, "w", "src/a.c", "summary", "two", "");
    CHECK_TEXT(frame_id(y, one), yard_member(y, two, "previousHead"));
    CHECK(strcmp(yard_member(y, one, "contextRoot"), yard_member(y, two, "contextRoot")) != 0);
    CHECK(strcmp(yard_member(y, one, "frameSetRoot"), yard_member(y, two, "frameSetRoot")) != 0);

    /* An earlier one again: it is the head, and there is no new frame. */
    again = yard_put(y, "w", "src/a.c", "summary", "one", "");
    CHECK_TEXT("true", yard_member(y, again, "existed"));
    CHECK_TEXT(frame_id(y, two), yard_member(y, again, "previousHead"));
    CHECK_TEXT(yard_member(y, two, "frameSetRoot"), yard_member(y, again, "frameSetRoot"));
    CHECK_TEXT(yard_member(y, one, "contextRoot"), yard_member(y, again, "contextRoot"));
    CHECK_TEXT("one",
               yard_member(y, yard_run(y, "head:get", "{\"node\":\"src/a.c\"}"), "items.0.text"));
    CHECK_TEXT(
        "2", yard_member(y, yard_run(y, "node:get", "{\"node\":\"src/a.c\",\"view\":\"history\"}"),
                         "total"));
    yard_check(y);
}

/* Everything there is: the state, and the log's last entry. */
static const char *all_of(yard *y)
{
    return test_format("%s %s", yard_run(y, "workspace:hash", NULL),
                       yard_member(y, yard_run(y, "workspace:status", NULL), "seq"));
}

/* What is so already is not written again, not even as an entry of the log. [C8] [L2] */
TEST(frames, the_same_again_writes_nothing)
{
    yard *y = yard_open(t);
    const char *put, *attached, *basis, *before, *again;

    yard_grow(y, TREE, "");
    basis = test_format(",\"basis\":\"%s\"", vls_id_hex(&grove_get(&y->state, "README")->id).s);
    put = yard_put(y, "w", "src/a.c", "summary", "one", "");
    yard_grow(y, "src/a.c=1 src/b.c=2 README=changed", "");
    attached = yard_put(y, "w", "README", "notes", "as it was", basis);
    (void)yard_put(y, "w", "src/b.c", "notes", "another", "");
    before = all_of(y);

    again = yard_put(y, "w", "src/a.c", "summary", "one", "");
    CHECK_TEXT("true", yard_member(y, again, "existed"));
    CHECK_TEXT(yard_member(y, put, "frameId"), yard_member(y, again, "previousHead"));
    CHECK_TEXT(yard_member(y, put, "seq"), yard_member(y, again, "seq"));
    again = yard_put(y, "w", "README", "notes", "as it was", basis);
    CHECK_TEXT("true", yard_member(y, again, "existed"));
    CHECK_TEXT(yard_member(y, attached, "seq"), yard_member(y, again, "seq"));
    /* Other metadata of the same frame is not the frame's. */
    (void)yard_put(y, "w", "src/a.c", "summary", "one", ",\"metadata\":{\"a\":1}");
    yard_move(y, "nothing.c>other.c lib>src");
    CHECK_TEXT(before, all_of(y));
    yard_check(y);
}

/* `expect` is the head's frame id, or null. [C10] [K8] */
TEST(frames, expect_gives_conflict_on_a_race)
{
    static const char put[] = "{\"node\":\"README\",\"content\":\"YQ==\",\"noScan\":true}";
    static const char other[] = "{\"node\":\"README\",\"content\":\"Yg==\",\"noScan\":true}";
    yard *y = yard_open(t);
    const char *head;

    yard_grow(y, TREE, "");
    CHECK_INT(VALISE_E_CONFLICT,
              yard_try(y, NULL, "frame:put", put,
                       "\"0000000000000000000000000000000000000000000000000000000000000001\""));
    CHECK_INT(0, yard_try(y, NULL, "frame:put", put, "null"));
    CHECK_INT(VALISE_E_CONFLICT, yard_try(y, NULL, "frame:put", other, "null"));
    head = yard_member(y, yard_run(y, "head:get", "{\"node\":\"README\"}"), "items.0.frameId");
    CHECK_INT(0, yard_try(y, NULL, "frame:put", other, test_format("\"%s\"", head)));
}

/* "Invalid node_id returns clear error (not panic)", "Error handling is deterministic". */
TEST(frames, invalid_node_id_returns_a_clear_error)
{
    static const char *const bad[] = {
        "nothing.c", "src/a.c/below", "cafe",
        "0000000000000000000000000000000000000000000000000000000000000001"};
    yard *y = yard_open(t);

    CHECK_INT(VALISE_E_NOT_FOUND, yard_try_put(y, NULL, "src/a.c", "notes", "x", ""));
    CHECK_TEXT("run 'valise scan'", t->err.hint);
    yard_grow(y, TREE, "");
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        char first[sizeof(t->err.message)];
        CHECK_INT(VALISE_E_NOT_FOUND, yard_try_put(y, NULL, bad[i], "notes", "x", ""));
        memcpy(first, t->err.message, sizeof(first));
        CHECK_INT(VALISE_E_NOT_FOUND, yard_try_put(y, NULL, bad[i], "notes", "x", ""));
        CHECK_TEXT(first, t->err.message);
        CHECK(t->err.hint[0]);
        CHECK_INT(VALISE_E_NOT_FOUND,
                  yard_try(y, NULL, "node:get", test_format("{\"node\":\"%s\"}", bad[i]), NULL));
    }
    CHECK_INT(VALISE_E_INVALID, yard_try_put(y, NULL, "../x", "notes", "x", ""));
    CHECK_INT(VALISE_E_INVALID, yard_try_put(y, NULL, "src/a.c", "Notes", "x", ""));
    CHECK_INT(VALISE_E_INVALID, yard_try_put(y, NULL, "src/a.c", "a b", "x", ""));
}

/* A put on an outdated node id is refused with the current id; a basis of the past attaches. [C10]
 */
TEST(frames, a_put_on_an_outdated_node_is_refused)
{
    yard *y = yard_open(t);
    vls_id_text old, now;
    const char *answer, *head;

    yard_grow(y, TREE, "");
    old = vls_id_hex(&grove_get(&y->state, "src/a.c")->id);
    head = frame_id(y, yard_put(y, "w", old.s, "notes", "about 1", ""));
    yard_grow(y, "src/a.c=changed src/b.c=2 README=hello", "");
    now = vls_id_hex(&grove_get(&y->state, "src/a.c")->id);
    CHECK_INT(VALISE_E_CONFLICT, yard_try_put(y, "w", old.s, "notes", "x", ""));
    CHECK_MSG(strstr(t->err.message, now.s), "%s", t->err.message);
    CHECK_INT(0, yard_try_put(y, "w", vls_id_hex(&grove_get(&y->state, "README")->id).s, "notes",
                              "x", ""));

    answer = yard_put(y, "w", "src/a.c", "notes", "about 1, later",
                      test_format(",\"basis\":\"%s\"", old.s));
    CHECK_TEXT("false", yard_member(y, answer, "head"));
    CHECK_TEXT(head, yard_member(y, answer, "previousHead"));
    CHECK_TEXT(old.s, yard_member(y, answer, "nodeId"));
    CHECK_TEXT(
        head, yard_member(y, yard_run(y, "head:get", "{\"node\":\"src/a.c\"}"), "items.0.frameId"));
    answer = yard_put(y, "w", "src/a.c", "notes", "about 1, later",
                      test_format(",\"basis\":\"%s\"", old.s));
    CHECK_TEXT("true", yard_member(y, answer, "existed"));
    answer = yard_put(y, "w", "src/a.c", "notes", "now", test_format(",\"basis\":\"%s\"", now.s));
    CHECK_TEXT("true", yard_member(y, answer, "head"));
    CHECK_INT(VALISE_E_INVALID, yard_try_put(y, "w", "src/b.c", "notes", "x",
                                             test_format(",\"basis\":\"%s\"", old.s)));
    CHECK(strstr(t->err.message, old.s) && strstr(t->err.message, "'src/b.c'"));
    CHECK(!strstr(t->err.message, "src/a.c") && !strstr(t->err.hint, "src/a.c"));
    CHECK_INT(VALISE_E_NOT_FOUND,
              yard_try_put(y, "w", "src/b.c", "notes", "x", ",\"basis\":\"00000000\""));
    CHECK(strstr(t->err.message, "'00000000'"));

    yard_grow(y, "README=hello", "");
    CHECK_INT(VALISE_E_NOT_FOUND, yard_try_put(y, "w", now.s, "notes", "x", ""));
    yard_check(y);
}

/* Kinds follow from the recipe; metadata and media type are not in the id. [C9] */
TEST(frames, what_is_in_a_frame_and_what_is_not)
{
    yard *y = yard_open(t);
    const char *plain, *told, *made, *shown;

    yard_grow(y, TREE, "");
    plain = frame_id(y, yard_put(y, "w", "src/a.c", "notes", "x", ""));
    told = yard_put(y, "w", "src/b.c", "notes", "x",
                    ",\"mediaType\":\"text/plain\",\"metadata\":{\"model\":\"m\"}");
    CHECK(strcmp(plain, frame_id(y, told)) != 0); /* another node */
    shown = yard_run(y, "node:get", "{\"node\":\"src/b.c\"}");
    CHECK_TEXT("text/plain", yard_member(y, shown, "frames.0.meta.mediaType"));
    CHECK_TEXT("m", yard_member(y, shown, "frames.0.meta.metadata.model"));
    CHECK_TEXT("authored", yard_member(y, shown, "frames.0.kind"));
    made = yard_put(y, "w", "src/a.c", "notes", "x", ",\"recipe\":\"bWFrZSBpdA==\"");
    CHECK(strcmp(plain, frame_id(y, made)) != 0);
    shown = yard_run(y, "frame:show", test_format("{\"frame\":\"%s\"}", frame_id(y, made)));
    CHECK_TEXT("external", yard_member(y, shown, "kind"));
    CHECK_TEXT("recipe", yard_member(y, shown, "madeOf.0.kind"));
    CHECK_TEXT("node", yard_member(y, shown, "madeOf.1.kind"));
    CHECK_TEXT("fresh", yard_state(y, "src/a.c", "notes"));
    /* The same content at two paths with equal files is one frame, in two slots. */
    yard_grow(y, "src/a.c=1 src/b.c=1 README=hello", "");
    CHECK_TEXT(plain, frame_id(y, yard_put(y, "w", "src/b.c", "notes", "x", "")));
    CHECK_TEXT("false", yard_member(y, yard_put(y, "w", "src/b.c", "other", "x", ""), "existed"));
    yard_check(y);
}

/* Binary is allowed; more than the limit is not. [C10] */
TEST(frames, contents_may_be_anything_up_to_the_limit)
{
    yard *y = yard_open(t);
    char *large = test_alloc((1 << 20) + 2);
    const char *shown;

    yard_grow(y, TREE, "");
    CHECK_INT(0, yard_try(y, NULL, "frame:put",
                          "{\"node\":\"README\",\"content\":\"/wD+\",\"noScan\":true}", NULL));
    shown = yard_run(y, "head:get", "{\"node\":\"README\"}");
    CHECK_TEXT("/wD+", yard_member(y, shown, "items.0.data"));
    CHECK_TEXT("", yard_member(y, shown, "items.0.text"));
    (void)yard_put(y, NULL, "README", "empty", "", "");
    memset(large, 'x', (1 << 20) + 1);
    CHECK_INT(VALISE_E_TOO_LARGE, yard_try_put(y, NULL, "README", "notes", large, ""));
    CHECK(strstr(t->err.message, "1048577") && strstr(t->err.message, "1048576"));
    CHECK(strstr(t->err.hint, "context.frame-max 1048577"));
    large[1 << 20] = '\0';
    CHECK_INT(0, yard_try_put(y, NULL, "README", "notes", large, ""));
}

static const char *encoded(yard *y, const char *bytes, size_t len)
{
    VLS_AUTO(buf) vls_buf text = {0};
    test *t = y->t;

    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    vls_base64_encode(&text, vls_str(bytes, len));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

/* A recipe may be any bytes, and makes the frame external; it has a limit of its own. [C10] */
TEST(frames, a_recipe_makes_a_frame_external)
{
    yard *y = yard_open(t);
    const char *answer, *shown, *plain;
    char *large = test_alloc(1 << 20);

    yard_grow(y, TREE, "");
    plain = frame_id(y, yard_put(y, "w", "README", "notes", "x", ""));
    answer = yard_put(y, "w", "README", "notes", "x",
                      test_format(",\"recipe\":\"%s\"", encoded(y, "\xff\0\n", 3)));
    CHECK(strcmp(plain, frame_id(y, answer)) != 0);
    CHECK_TEXT(plain, yard_member(y, answer, "previousHead"));
    shown = yard_run(y, "head:get", "{\"node\":\"README\"}");
    CHECK_TEXT("external", yard_member(y, shown, "items.0.kind"));
    CHECK_TEXT("fresh", yard_member(y, shown, "items.0.state"));
    CHECK(yard_member(y, shown, "items.0.recipe")[0]);
    /* Another way to make it is another frame; none at all is the first one. */
    CHECK(strcmp(frame_id(y, answer),
                 frame_id(y, yard_put(y, "w", "README", "notes", "x", ",\"recipe\":\"\""))) != 0);
    CHECK_TEXT(plain, frame_id(y, yard_put(y, "w", "README", "notes", "x", "")));
    memset(large, 'x', 1 << 20);
    CHECK_INT(VALISE_E_TOO_LARGE,
              yard_try_put(y, "w", "README", "notes", "x",
                           test_format(",\"recipe\":\"%s\"", encoded(y, large, 1 << 20))));
    CHECK_MSG(strstr(t->err.message, "recipe has 1048576 bytes"), "%s", t->err.message);
    CHECK_INT(0, yard_try_put(y, "w", "README", "notes", "x",
                              test_format(",\"recipe\":\"%s\"", encoded(y, large, (1 << 20) - 9))));
    yard_check(y);
}

/* ---- proofs ---- */

TEST(frames, proofs_hold_without_the_workspace)
{
    yard *y = yard_open(t), *nobody = test_alloc(sizeof(*nobody));
    const char *proof = NULL, *checked;

    yard_grow(y, TREE, "");
    for (int i = 0; i < 40; i++)
        (void)yard_put(y, "w", "src/a.c", "notes", test_format("%d", i), "");
    (void)yard_put(y, "w", "src/b.c", "notes", "b", "");
    proof = yard_run(y, "frame:proof", "{\"node\":\"src/a.c\"}");
    CHECK_TEXT("true", yard_member(y, proof, "member"));
    *nobody = (yard){.t = t};
    CHECK_OK(valise_open(&nobody->v, NULL, NULL, &t->err));
    checked = yard_run(nobody, "frame:verify",
                       test_format("{\"root\":\"%s\",\"key\":\"%s\",\"proof\":\"%s\"}",
                                   yard_member(y, proof, "root"), yard_member(y, proof, "frameId"),
                                   yard_member(y, proof, "proof")));
    CHECK_TEXT("true", yard_member(y, checked, "member"));
    checked =
        yard_run(nobody, "frame:verify",
                 test_format("{\"root\":\"%s\",\"key\":\"%s\",\"proof\":\"%s\"}",
                             yard_member(y, proof, "contextRoot"), yard_member(y, proof, "slotKey"),
                             yard_member(y, proof, "contextProof")));
    CHECK_TEXT(yard_member(y, proof, "slotValue"), yard_member(y, checked, "value"));
    CHECK_INT(
        VALISE_E_CORRUPT,
        yard_try(nobody, NULL, "frame:verify",
                 test_format("{\"root\":\"%s\",\"key\":\"%s\",\"proof\":\"%s\"}",
                             yard_member(y, proof, "contextRoot"), yard_member(y, proof, "frameId"),
                             yard_member(y, proof, "proof")),
                 NULL));
    valise_close(nobody->v);
    /* Of what is not in the slot, too. */
    proof = yard_run(y, "frame:proof",
                     "{\"node\":\"src/a.c\",\"frame\":"
                     "\"0000000000000000000000000000000000000000000000000000000000000001\"}");
    CHECK_TEXT("false", yard_member(y, proof, "member"));
    CHECK_INT(VALISE_E_NOT_FOUND, yard_try(y, NULL, "frame:proof", "{\"node\":\"README\"}", NULL));
}

/* ---- ids ---- */

/* docs/formats.md: type, agent, object id of the node, content, `=`, basis hash, frame id. */
TEST(frames, ids_are_those_of_the_document)
{
    const char *from = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", from ? from : "."));
    valise_str line, word[6], open = VLS_STR("```frame-vectors\n");
    vls_hasher h;
    int count = 0;

    text = vls_str_from(text, vls_str_find(text, open) + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        VLS_AUTO(buf) vls_buf basis = {0};
        vls_dependency dep = {.kind = VLS_DEP_NODE};
        valise_id basis_id, content, id;
        for (int i = 0; i < 6; i++) {
            (void)vls_str_cut(&word[i], &line, line, ' ');
            if (vls_str_equal(word[i], VLS_STR("=")))
                i--;
        }
        CHECK_OK(vls_id_parse(&dep.id, word[2], &t->err));
        vls_buf_init(&basis, t->env, 4096);
        vls_basis_add(&basis, &dep);
        vls_hash_begin_tagged(&h, "valise.basis.1");
        vls_hash_field(&h, vls_buf_str(&basis));
        vls_hash_end(&basis_id, &h);
        vls_hash_bytes(&content, word[3]);
        vls_frame_id(&id, &basis_id, word[0], word[1], &content);
        CHECK_STR(word[4], valise_str_of(vls_id_hex(&basis_id).s));
        CHECK_STR(word[5], valise_str_of(vls_id_hex(&id).s));
        count++;
    }
    CHECK_INT(2, count);
}

/* Bases that cannot be. */
TEST(frames, bad_bases_are_refused)
{
    static const char *const bad[] = {"00", "04", "01", "0101", "020161", "0200", "0201610141"};
    static const char id[] = "0000000000000000000000000000000000000000000000000000000000000001";

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        VLS_AUTO(buf) vls_buf bytes = {0};
        valise_id recipe;
        vls_buf_init(&bytes, t->env, 4096);
        CHECK_OK(vls_hex_decode(&bytes, valise_str_of(bad[i]), &t->err));
        CHECK_RC(VALISE_E_CORRUPT, vls_basis_recipe(&recipe, vls_buf_str(&bytes), &t->err));
    }
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_id recipe;
    vls_buf_init(&bytes, t->env, 4096);
    CHECK_OK(vls_hex_decode(&bytes, valise_str_of(test_format("01%s03%s", id, id)), &t->err));
    CHECK_RC(VALISE_E_CORRUPT, vls_basis_recipe(&recipe, vls_buf_str(&bytes), &t->err));
}
