/* wire.c -- bodies: commas, holes, walks in any cut, hashes; extras. [P4] */
#include "harness/test.h"

#include "base/base64.h"
#include "wire/adapter.h"

/* Blobs by the first byte of their id: 'a' has one byte, 'b' is empty, 'c' is large, 'd' is shorter
 * than it says. Pieces are of odd sizes. */
typedef struct shelf {
    size_t at, len, opened, closed;
    unsigned piece;
} shelf;

static size_t blob_len(uint8_t name)
{
    return name == 'a' ? 1 : name == 'b' ? 0 : 100003;
}

static int shelf_open(void *arg, const valise_id *blob, valise_error *err)
{
    shelf *s = arg;

    if (blob->bytes[0] == 'x')
        return vls_fail(err, VALISE_E_NOT_FOUND, "no blob");
    s->at = 0;
    s->len = blob_len(blob->bytes[0]);
    s->opened++;
    return 0;
}

static int shelf_read(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    shelf *s = arg;
    size_t piece = VLS_MIN(room_bytes, (size_t)(1 + s->piece % 5000));

    (void)err;
    s->piece = s->piece * 7 + 13;
    *len = VLS_MIN(piece, s->len - s->at);
    for (size_t i = 0; i < *len; i++)
        ((char *)room)[i] = (char)((s->at + i) * 31);
    s->at += *len;
    return 0;
}

static void shelf_close(void *arg)
{
    ((shelf *)arg)->closed++;
}

static vls_plan_block file(char name, int64_t size)
{
    vls_plan_block block = {.kind = VLS_SAID_IMAGE, .size = size};

    block.blob.bytes[0] = (uint8_t)name;
    return block;
}

static void write_body(vls_wire *wire, const vls_plan_block *blocks, size_t count)
{
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "model");
    vls_wire_text(wire, "m\"1");
    vls_wire_key(wire, "n");
    vls_wire_int(wire, -5);
    vls_wire_key(wire, "on");
    vls_wire_bool(wire, true);
    vls_wire_key(wire, "empty");
    vls_wire_open(wire, '[');
    vls_wire_close(wire, ']');
    vls_wire_key(wire, "files");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < count; i++)
        vls_wire_blob(wire, VLS_STR("data:x;base64,"), &blocks[i]);
    vls_wire_close(wire, ']');
    vls_wire_key(wire, "args");
    vls_wire_json_text(wire, vls_json_array(NULL, 0));
    vls_wire_key(wire, "last");
    vls_wire_json(wire, vls_json_int(7));
    vls_wire_close(wire, '}');
}

/* The whole body through rooms of that size. */
static void walk(test *t, vls_buf *out, const vls_wire *wire, shelf *s, size_t room_bytes)
{
    vls_wire_blobs blobs = {s, shelf_open, shelf_read, shelf_close};
    vls_wire_walk *way = NULL;
    char *room = test_alloc(room_bytes);
    size_t len = 0;

    CHECK_OK(vls_wire_walk_new(&way, wire, &blobs, &t->err));
    do {
        CHECK_OK(vls_wire_walk_read(&len, way, room, room_bytes, &t->err));
        vls_buf_add(out, vls_str(room, len));
    } while (len > 0);
    vls_wire_walk_free(way);
}

TEST(wire, a_body_is_json_with_blobs_in_it)
{
    vls_plan_block blocks[] = {file('a', 1), file('b', 0), file('c', 100003)};
    static const size_t rooms[] = {1, 3, 4096, 1 << 20};
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_json back = vls_json_null();

    vls_arena_init(&arena, t->env, (size_t)1 << 24);
    vls_wire_init(&wire, t->env);
    write_body(&wire, blocks, 3);
    CHECK_OK(vls_wire_check(&wire, &t->err));
    CHECK_STR(VLS_STR("{\"model\":\"m\\\"1\",\"n\":-5,\"on\":true,\"empty\":[],\"files\":["
                      "\"data:x;base64,\",\"data:x;base64,\",\"data:x;base64,\"],\"args\":\"[]\","
                      "\"last\":7}"),
              vls_buf_str(&wire.text));
    for (size_t i = 0; i < VLS_COUNT(rooms); i++) {
        VLS_AUTO(buf) vls_buf body = {.env = NULL};
        shelf s = {.piece = (unsigned)i};
        vls_buf_init(&body, t->env, SIZE_MAX / 2);
        walk(t, &body, &wire, &s, rooms[i]);
        CHECK_INT(vls_wire_size(&wire), body.len);
        CHECK_INT(3, s.opened);
        CHECK_INT(3, s.closed);
        CHECK_OK(vls_json_parse(&back, &arena, vls_buf_str(&body), NULL, &t->err));
        back = *vls_json_get(back, VLS_STR("files"));
        CHECK_STR(VLS_STR("data:x;base64,AA=="), vls_json_str(back.items[0]));
        CHECK_STR(VLS_STR("data:x;base64,"), vls_json_str(back.items[1]));
        CHECK_INT(14 + vls_base64_encoded_len(100003), back.items[2].len);
    }
}

TEST(wire, a_blob_of_another_length_is_noticed)
{
    static const int64_t sizes[] = {0, 2, 1000};
    char room[4096];

    for (size_t i = 0; i < VLS_COUNT(sizes); i++) {
        VLS_AUTO(wire) vls_wire wire = {.env = NULL};
        vls_plan_block block = file('a', sizes[i]);
        shelf s = {.at = 0};
        vls_wire_blobs blobs = {&s, shelf_open, shelf_read, shelf_close};
        vls_wire_walk *way = NULL;
        size_t len = 99;
        vls_wire_init(&wire, t->env);
        write_body(&wire, &block, 1);
        CHECK_OK(vls_wire_walk_new(&way, &wire, &blobs, &t->err));
        CHECK_RC(VALISE_E_CORRUPT, vls_wire_walk_read(&len, way, room, sizeof(room), &t->err));
        CHECK_INT(99, len);
        vls_wire_walk_free(way);
        CHECK_INT(s.opened, s.closed);
    }
}

TEST(wire, a_size_may_be_unknown)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    VLS_AUTO(buf) vls_buf body = {.env = NULL};
    vls_plan_block block = file('a', VLS_SIZE_UNKNOWN);
    shelf s = {.at = 0};

    vls_buf_init(&body, t->env, 4096);
    vls_wire_init(&wire, t->env);
    write_body(&wire, &block, 1);
    CHECK_INT(VLS_SIZE_UNKNOWN, vls_wire_size(&wire));
    walk(t, &body, &wire, &s, 100);
    CHECK(vls_str_find(vls_buf_str(&body), VLS_STR("base64,AA==\"")) < body.len);
}

TEST(wire, missing_blobs_are_told)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    vls_plan_block block = file('x', 1);
    shelf s = {.at = 0};
    vls_wire_blobs blobs = {&s, shelf_open, shelf_read, shelf_close};
    vls_wire_walk *way = NULL;
    char room[4096];
    size_t len = 0;

    vls_wire_init(&wire, t->env);
    write_body(&wire, &block, 1);
    CHECK_OK(vls_wire_walk_new(&way, &wire, &blobs, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_wire_walk_read(&len, way, room, sizeof(room), &t->err));
    vls_wire_walk_free(way);
    CHECK_OK(vls_wire_walk_new(&way, &wire, NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_wire_walk_read(&len, way, room, sizeof(room), &t->err));
    vls_wire_walk_free(way);
}

TEST(wire, its_hash_opens_no_blob)
{
    VLS_AUTO(wire) vls_wire plain = {.env = NULL}, holed = {.env = NULL};
    vls_plan_block block = file('c', 100003);
    valise_id id, direct, again;

    vls_wire_init(&plain, t->env);
    vls_wire_init(&holed, t->env);
    write_body(&plain, NULL, 0);
    write_body(&holed, &block, 1);
    vls_wire_hash(&id, &plain);
    vls_hash_bytes(&direct, vls_buf_str(&plain.text));
    CHECK(vls_id_equal(&id, &direct));
    vls_wire_hash(&id, &holed);
    holed.holes.ptr[0].blob.bytes[31] ^= 1;
    vls_wire_hash(&again, &holed);
    CHECK(!vls_id_equal(&id, &again));
}

TEST(wire, what_does_not_go_in_is_told)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    vls_json deep[400];
    vls_plan_block block = file('c', VLS_WIRE_MAX_BLOB + 1);

    deep[0] = vls_json_null();
    for (size_t i = 1; i < VLS_COUNT(deep); i++)
        deep[i] = vls_json_array(&deep[i - 1], 1);
    vls_wire_init(&wire, t->env);
    vls_wire_json(&wire, deep[VLS_COUNT(deep) - 1]);
    CHECK_RC(VALISE_E_LIMIT, vls_wire_check(&wire, &t->err));
    vls_wire_release(&wire);
    vls_wire_init(&wire, t->env);
    vls_wire_blob(&wire, VLS_STR(""), &block);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_wire_check(&wire, &t->err));
}

TEST(wire, extras_say_nothing_that_the_request_says)
{
    static const char *const ours[] = {"max_tokens", NULL};
    static const char *const bad[] = {"{\"messages\":[]}", "{\"model\":\"x\"}",
                                      "{\"a\":1,\"max_tokens\":5}"};
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_json extras = vls_json_null();

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_wire_init(&wire, t->env);
    vls_wire_open(&wire, '{');
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        CHECK_OK(vls_json_parse(&extras, &arena, valise_str_of(bad[i]), NULL, &t->err));
        CHECK_RC(VALISE_E_INVALID, vls_wire_extras(&wire, extras, ours, &t->err));
        CHECK_TEXT("params.extras", t->err.path);
        CHECK_STR(VLS_STR("{"), vls_buf_str(&wire.text));
        t->err = (valise_error)VALISE_ERROR_INIT;
    }
    CHECK_OK(vls_json_parse(&extras, &arena, VLS_STR("{\"z\":[1],\"top_k\":4}"), NULL, &t->err));
    CHECK_OK(vls_wire_extras(&wire, extras, ours, &t->err));
    CHECK_OK(vls_wire_extras(&wire, vls_json_null(), ours, &t->err));
    vls_wire_close(&wire, '}');
    CHECK_STR(VLS_STR("{\"top_k\":4,\"z\":[1]}"), vls_buf_str(&wire.text));
}

TEST(wire, adapters_are_found_by_name)
{
    const vls_adapter *found = NULL;

    for (size_t i = 0; vls_adapters[i]; i++) {
        CHECK(vls_adapter_find(valise_str_of(vls_adapters[i]->name)) == vls_adapters[i]);
        CHECK(vls_adapters[i]->vendor && vls_adapters[i]->version > 0);
        CHECK(vls_str_ends(valise_str_of(vls_adapters[i]->brief), VLS_STR(".")));
    }
    CHECK_RC(VALISE_E_NOT_FOUND, vls_adapter_get(&found, VLS_STR("nobody"), &t->err));
    CHECK(!found);
}
