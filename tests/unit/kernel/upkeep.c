/* upkeep.c -- what hosts call for the upkeep of a workspace: valise/workspace.h. */
#include "base/hex.h"
#include "base/str.h"
#include "bus/bus.h"
#include "harness/fault.h"
#include "kernel/kit.h"
#include "store/blob.h"

TEST_PARAMS(upkeep, "memory", "sqlite")

#define SECRET "hunter2 in a note"

static valise_id hash_of(test *t, valise *v)
{
    valise_id hash = {{0}};

    CHECK_OK(valise_workspace_hash(&hash, v, NULL, &t->err));
    return hash;
}

TEST(upkeep, a_bundle_goes_out_and_comes_in)
{
    valise *v = ws_open(t), *other = NULL;
    valise_export_options o = VALISE_EXPORT_OPTIONS_INIT;
    const valise_str places[] = {VALISE_STR("context/a")};
    const char *file = test_format("%s/all \"1\".bundle", test_tmpdir());
    valise_id hash, there;

    CHECK_OK(valise_entry_put(NULL, v, "a", "one", NULL, NULL, &t->err));
    CHECK_OK(valise_entry_put(NULL, v, "b", "two", NULL, NULL, &t->err));
    hash = hash_of(t, v);
    CHECK(strstr(ws_run(t, v, "workspace:hash", "{}"), vls_id_hex(&hash).s));
    CHECK_OK(valise_workspace_export(v, file, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_workspace_export(v, file, NULL, NULL, &t->err));
    o.flags = VALISE_EXPORT_REPLACE;
    CHECK_OK(valise_workspace_export(v, file, &o, NULL, &t->err));
    CHECK_OK(valise_open(&other, ":memory:", NULL, &t->err));
    CHECK_OK(valise_workspace_import(other, file, NULL, &t->err));
    there = hash_of(t, other);
    CHECK(memcmp(&hash, &there, sizeof(hash)) == 0);
    valise_close(other);
    other = NULL;

    o.places = places;
    o.place_count = VLS_COUNT(places);
    CHECK_OK(valise_workspace_export(v, file, &o, NULL, &t->err));
    CHECK_OK(valise_open(&other, ":memory:", NULL, &t->err));
    CHECK_OK(valise_workspace_import(other, file, NULL, &t->err));
    CHECK(strstr(ws_run(t, other, "context:list", "{}"), "\"key\":\"a\""));
    CHECK(!strstr(ws_run(t, other, "context:list", "{}"), "\"key\":\"b\""));
    valise_close(other);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_workspace_import(v, "/no/such/file", NULL, &t->err));
    o.flags = 2;
    CHECK_RC(VALISE_E_INVALID, valise_workspace_export(v, file, &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_workspace_export(v, NULL, NULL, NULL, &t->err));
}

typedef struct findings {
    int problems, notes, stop_at;
    const char *text;
} findings;

static int take(void *arg, const valise_finding *finding, valise_error *err)
{
    findings *f = arg;

    (void)err;
    f->notes += finding->is_note;
    f->problems += !finding->is_note;
    f->text = test_format("%s%.*s: %.*s; %.*s\n", f->text, VALISE_STR_ARG(finding->place),
                          VALISE_STR_ARG(finding->problem), VALISE_STR_ARG(finding->remedy));
    return f->notes + f->problems == f->stop_at ? 7 : 0;
}

TEST(upkeep, what_is_erased_is_gone_and_counted) /* [K29] */
{
    valise *v = ws_open(t);
    valise_erased erased = VALISE_ERASED_INIT, small = {.size = 1};
    findings found = {.text = ""}, first = {.text = "", .stop_at = 1};
    int64_t freed = -1;

    CHECK_OK(valise_entry_put(NULL, v, "login", SECRET, NULL, NULL, &t->err));
    CHECK_OK(valise_entry_put(NULL, v, "login", "*****", NULL, NULL, &t->err));
    CHECK_OK(valise_entry_put(NULL, v, "other", SECRET, NULL, NULL, &t->err));
    CHECK_OK(valise_entry_put(NULL, v, "third", SECRET, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_workspace_erase(&small, v, "context/login", NULL, NULL, &t->err));
    CHECK_OK(valise_workspace_validate(v, take, &found, NULL, &t->err));
    CHECK_INT(0, found.problems + found.notes);
    CHECK_OK(valise_workspace_erase(&erased, v, "context/login", "a \"leak\"", NULL, &t->err));
    CHECK_INT(1, erased.places);
    CHECK_INT(2, erased.others);
    CHECK(erased.entries > 0 && erased.objects > 0);
    CHECK(!erased.residue);
    CHECK(strstr(ws_run(t, v, "erasure:list", "{}"), "a \\\"leak\\\""));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_workspace_erase(NULL, v, "context/nothing", NULL, NULL, &t->err));
    CHECK_OK(valise_workspace_gc(&freed, v, 0, NULL, &t->err));
    CHECK(freed >= 0);
    CHECK_OK(valise_workspace_gc(NULL, v, VALISE_NONE, NULL, &t->err));
    CHECK_OK(valise_workspace_validate(v, take, &found, NULL, &t->err));
    CHECK(found.notes > 0 && found.problems == 0);
    CHECK(strstr(found.text, "erased"));
    CHECK_INT(7, valise_workspace_validate(v, take, &first, NULL, &t->err));
    CHECK_INT(1, first.notes);
    CHECK_OK(valise_workspace_validate(v, NULL, NULL, NULL, &t->err));
}

TEST(upkeep, what_is_wrong_is_told_and_the_error)
{
    valise *v = ws_open(t);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    findings found = {.text = ""};

    CHECK_OK(valise_blob_register_bytes(&told, v, VLS_STR("bytes"), NULL, NULL, &t->err));
    CHECK_OK(vls_blobs_remove(v->blobs, &told.sha256, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, valise_workspace_validate(v, take, &found, NULL, &t->err));
    CHECK(found.problems > 0 && strstr(found.text, vls_id_hex(&told.sha256).s));
}

/* ---- no memory ---- */

static int use_all(fault *f, void *arg)
{
    valise_options how = VALISE_OPTIONS_INIT;
    valise_role *role = NULL;
    valise_entry *entry = NULL;
    valise_erased erased = VALISE_ERASED_INIT;
    valise_uuid id;
    valise_id hash;
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    how.env = f->env;
    how.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&v, ":memory:", &how, &f->err));
    fault_on(f);
    rc = valise_role_put(NULL, v, "r", "x", NULL, NULL, &f->err);
    if (rc == 0)
        rc = valise_role_get(&role, v, "r", NULL, &f->err);
    CHECK(!role == (rc <= 0));
    if (rc > 0)
        rc = valise_preference_put(&id, v, "p", NULL, NULL, &f->err);
    if (rc == 0)
        rc = valise_entry_put(NULL, v, "e", "y", NULL, NULL, &f->err);
    if (rc == 0)
        rc = valise_entry_get(&entry, v, "e", NULL, &f->err);
    CHECK(!entry == (rc <= 0));
    if (rc > 0)
        rc = valise_workspace_hash(&hash, v, NULL, &f->err);
    if (rc == 0)
        rc = valise_workspace_erase(&erased, v, "context/e", "z", NULL, &f->err);
    CHECK((rc == 0) == (erased.places == 1));
    fault_off(f);
    valise_entry_free(entry);
    valise_role_free(role);
    CHECK_INT(0, valise_workspace_validate(v, NULL, NULL, NULL, &f->err));
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(upkeep_fault, out_of_memory)
{
    fault_each_alloc(t, 0, use_all, NULL);
}
