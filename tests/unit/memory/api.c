/* api.c -- valise/memory.h. [W12] [W13] */
#include "base/str.h"
#include "harness/fault.h"
#include "memory/kit.h"

TEST_PARAMS(api, "memory", "sqlite")

static const valise_str lamps[] = {VALISE_STR("lamps"), VALISE_STR("light")};

static const char *role_text(den *d, const char *name)
{
    valise_role *role = NULL;
    int rc = valise_role_get(&role, d->v, name, NULL, &d->t->err);
    const char *text = "(none)";

    CHECK_INT(role ? 1 : 0, rc);
    if (role)
        text = test_format("%.*s v%lld '%.*s' '%.*s' %.*s %zu", VALISE_STR_ARG(role->name),
                           (long long)role->version, VALISE_STR_ARG(role->label),
                           VALISE_STR_ARG(role->persona), VALISE_STR_ARG(role->constraints),
                           role->topic_count);
    valise_role_free(role);
    return text;
}

TEST(api, a_role_is_put_and_what_is_left_out_stays)
{
    den *d = den_open(t);
    valise_role_options o = VALISE_ROLE_OPTIONS_INIT;
    int64_t version = 0, seq;

    CHECK_TEXT("(none)", role_text(d, "clerk"));
    o.label = VLS_STR("The \"clerk\"");
    o.constraints = VLS_STR("{ \"temperature\": 0.5, \"model\":\"small-1\"}");
    o.topics = lamps;
    o.topic_count = 2;
    CHECK_OK(valise_role_put(&version, d->v, "clerk", "You sell\nlamps.", &o, NULL, &t->err));
    CHECK_INT(1, version);
    CHECK_TEXT("clerk v1 'The \"clerk\"' 'You sell\nlamps.' "
               "{\"model\":\"small-1\",\"temperature\":0.5} 2",
               role_text(d, "clerk"));
    seq = den_seq(d);
    CHECK_OK(valise_role_put(&version, d->v, "clerk", "You sell\nlamps.", &o, NULL, &t->err));
    CHECK_INT(seq, den_seq(d)); /* as it was: nothing is written */
    CHECK_OK(valise_role_put(&version, d->v, "clerk", "You buy.", NULL, NULL, &t->err));
    CHECK_INT(2, version);
    CHECK_TEXT("clerk v2 'The \"clerk\"' 'You buy.' {\"model\":\"small-1\",\"temperature\":0.5} 2",
               role_text(d, "clerk"));
    CHECK_OK(valise_role_delete(d->v, "clerk", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_role_delete(d->v, "clerk", NULL, &t->err));
    CHECK_TEXT("(none)", role_text(d, "clerk"));
    den_check(d);
}

/* What is given as JSON is one value, and cannot become more of the payload. */
TEST(api, what_makes_no_sense_is_refused)
{
    den *d = den_open(t);
    valise_role_options o = VALISE_ROLE_OPTIONS_INIT;
    valise_entry_options e = VALISE_ENTRY_OPTIONS_INIT;
    valise_preference_options p = VALISE_PREFERENCE_OPTIONS_INIT;
    valise_call call = VALISE_CALL_INIT;

    o.constraints = VLS_STR("{},\"label\":\"x\"");
    CHECK_RC(VALISE_E_INVALID, valise_role_put(NULL, d->v, "a", "x", &o, NULL, &t->err));
    CHECK_TEXT("constraints", t->err.path);
    CHECK_RC(VALISE_E_INVALID, valise_role_put(NULL, d->v, "a", "\xff", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_role_put(NULL, d->v, NULL, "x", NULL, NULL, &t->err));
    o.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_role_put(NULL, d->v, "a", "x", &o, NULL, &t->err));
    e.kind = 7;
    CHECK_RC(VALISE_E_INVALID, valise_entry_put(NULL, d->v, "k", "x", &e, NULL, &t->err));
    e.kind = VALISE_ENTRY_JSON;
    CHECK_RC(VALISE_E_INVALID, valise_entry_put(NULL, d->v, "k", "1,2", &e, NULL, &t->err));
    p.scope = 3;
    CHECK_RC(VALISE_E_INVALID, valise_preference_put(NULL, d->v, "x", &p, NULL, &t->err));
    p.scope = VALISE_SCOPE_ROLE;
    p.of = VLS_STR("nobody");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_preference_put(NULL, d->v, "x", &p, NULL, &t->err));
    (void)den_run(d, "agent:add", "{\"id\":\"eve\",\"role\":\"reader\"}");
    call.actor = VLS_STR("eve");
    CHECK_RC(VALISE_E_DENIED, valise_entry_put(NULL, d->v, "k", "x", NULL, &call, &t->err));
    CHECK_INT(2, den_seq(d));
}

static valise_entry *entry(den *d, const char *key)
{
    valise_entry *out = NULL;

    CHECK_INT(1, valise_entry_get(&out, d->v, key, NULL, &d->t->err));
    return out;
}

TEST(api, an_entry_is_put_found_and_deleted)
{
    den *d = den_open(t);
    valise_entry_options o = VALISE_ENTRY_OPTIONS_INIT;
    valise_entry *e = NULL, *none = NULL;
    int64_t version = 0;

    o.topics = lamps;
    o.topic_count = 1;
    o.metadata = VLS_STR("{\"page\":3}");
    CHECK_OK(valise_entry_put(&version, d->v, "lamps/polar", "It \"fits\".", &o, NULL, &t->err));
    CHECK_INT(1, version);
    e = entry(d, "lamps/polar");
    CHECK_INT(VALISE_ENTRY_TEXT, e->kind);
    CHECK_STR(VLS_STR("It \"fits\"."), e->content);
    CHECK_INT(1, e->topic_count);
    CHECK_STR(VLS_STR("lamps"), e->topics[0]);
    CHECK_STR(VLS_STR("{\"page\":3}"), e->metadata);
    CHECK(e->expires == VALISE_NONE);
    CHECK_STR(VLS_STR("local"), e->actor);
    valise_entry_free(e);

    o = (valise_entry_options)VALISE_ENTRY_OPTIONS_INIT;
    o.kind = VALISE_ENTRY_JSON;
    o.ttl_ns = HOUR;
    CHECK_OK(valise_entry_put(&version, d->v, "lamps/polar", "[ 1, 2 ]", &o, NULL, &t->err));
    CHECK_INT(2, version);
    e = entry(d, "lamps/polar");
    CHECK_INT(VALISE_ENTRY_JSON, e->kind);
    CHECK_STR(VLS_STR("[1,2]"), e->content);
    CHECK_INT(1, e->topic_count); /* left out, and so as it was */
    CHECK_INT(HOUR, e->expires - e->updated);
    valise_entry_free(e);
    den_wait(d, 2 * HOUR);
    CHECK_INT(0, valise_entry_get(&none, d->v, "lamps/polar", NULL, &t->err));
    CHECK(!none);
    CHECK_OK(valise_entry_put(&version, d->v, "lamps/polar", "again", NULL, NULL, &t->err));
    CHECK_OK(valise_entry_delete(d->v, "lamps/polar", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_entry_delete(d->v, "lamps/polar", NULL, &t->err));
    CHECK_INT(0, valise_entry_get(&none, d->v, "lamps/polar", NULL, &t->err));
    den_check(d);
}

TEST(api, an_entry_can_be_a_blob)
{
    den *d = den_open(t);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    valise_entry_options o = VALISE_ENTRY_OPTIONS_INIT;
    char id[VALISE_ID_TEXT];
    valise_entry *e;

    CHECK_OK(valise_blob_register_bytes(&told, d->v, VLS_STR("picture"), NULL, NULL, &t->err));
    o.kind = VALISE_ENTRY_BLOB;
    CHECK_OK(
        valise_entry_put(NULL, d->v, "p", valise_id_text(id, &told.sha256), &o, NULL, &t->err));
    e = entry(d, "p");
    CHECK_INT(VALISE_ENTRY_BLOB, e->kind);
    CHECK(!e->content.ptr);
    CHECK(memcmp(&e->blob, &told.sha256, sizeof(valise_id)) == 0);
    valise_entry_free(e);
    den_check(d);
}

/* A retry answers as the first time, and an expectation is held against what is there. [K6] */
TEST(api, a_put_can_be_repeated_and_can_expect)
{
    den *d = den_open(t);
    valise_call once = VALISE_CALL_INIT, none = VALISE_CALL_INIT, second = VALISE_CALL_INIT;
    int64_t version = 0, seq;

    once.id.bytes[6] = 0x70;
    once.id.bytes[8] = 0x80;
    once.id.bytes[15] = 9;
    CHECK_OK(valise_entry_put(&version, d->v, "k", "one", NULL, &once, &t->err)); /* adds */
    seq = den_seq(d);
    version = 0;
    CHECK_OK(valise_entry_put(&version, d->v, "k", "one", NULL, &once, &t->err));
    CHECK_INT(1, version);
    CHECK_INT(seq, den_seq(d));
    CHECK_RC(VALISE_E_EXISTS, valise_entry_put(&version, d->v, "k", "two", NULL, &once, &t->err));
    none.expect = VLS_STR("null");
    CHECK_RC(VALISE_E_CONFLICT, valise_entry_put(NULL, d->v, "k", "two", NULL, &none, &t->err));
    CHECK_OK(valise_entry_put(NULL, d->v, "new", "x", NULL, &none, &t->err));
    second.expect = VLS_STR("1");
    CHECK_OK(valise_entry_put(&version, d->v, "k", "two", NULL, &second, &t->err));
    CHECK_INT(2, version);
    CHECK_RC(VALISE_E_CONFLICT, valise_entry_put(NULL, d->v, "k", "three", NULL, &second, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_entry_put(NULL, d->v, "other", "x", NULL, &second, &t->err));
    den_check(d);
}

TEST(api, a_preference_is_put_by_its_id)
{
    den *d = den_open(t);
    valise_preference_options o = VALISE_PREFERENCE_OPTIONS_INIT;
    valise_uuid id, again;
    char text[VALISE_UUID_TEXT];
    const char *shown;
    int64_t seq;

    CHECK_OK(valise_role_put(NULL, d->v, "clerk", "x", NULL, NULL, &t->err));
    o.scope = VALISE_SCOPE_ROLE;
    o.of = VLS_STR("clerk");
    o.slot = VLS_STR("tone");
    o.priority = -3;
    o.topics = lamps;
    o.topic_count = 2;
    CHECK_OK(valise_preference_put(&id, d->v, "Be \"brief\".", &o, NULL, &t->err));
    shown =
        den_run(d, "preference:show", test_format("{\"id\":\"%s\"}", valise_uuid_text(text, &id)));
    CHECK(strstr(shown, "\"content\":\"Be \\\"brief\\\".\"") && strstr(shown, "\"priority\":-3"));
    CHECK(strstr(shown, "\"of\":\"clerk\"") && strstr(shown, "\"topics\":[\"lamps\",\"light\"]"));
    CHECK(strstr(shown, "\"scope\":\"role\"") && strstr(shown, "\"slot\":\"tone\""));
    o.id = &id;
    seq = den_seq(d);
    CHECK_OK(valise_preference_put(&again, d->v, "Be \"brief\".", &o, NULL, &t->err));
    CHECK(memcmp(&id, &again, sizeof(id)) == 0);
    CHECK_INT(seq, den_seq(d));
    o = (valise_preference_options)VALISE_PREFERENCE_OPTIONS_INIT;
    o.id = &id;
    CHECK_OK(valise_preference_put(NULL, d->v, "Be kind.", &o, NULL, &t->err));
    shown = den_run(d, "preference:show", test_format("{\"id\":\"%s\"}", text));
    CHECK(strstr(shown, "Be kind.") && strstr(shown, "\"scope\":\"workspace\""));
    CHECK(strstr(shown, "\"topics\":[]") && strstr(shown, "\"slot\":\"tone\""));
    CHECK_OK(valise_preference_delete(d->v, &id, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_preference_delete(d->v, &id, NULL, &t->err));
    CHECK_OK(valise_preference_put(&again, d->v, "Be back.", &o, NULL, &t->err)); /* with that id */
    CHECK(memcmp(&id, &again, sizeof(id)) == 0);
    den_check(d);
}
