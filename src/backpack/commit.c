/* commit.c -- commits: ids, summaries, copies, events.
 *
 * An id is a UUIDv7 that needs no storage. With key = the first 8 bytes of the backpack's id xor
 * the last 8, as big-endian numbers:
 *
 *      0                 47 48  51 52        63 64 65 66                          127
 *     +--------------------+------+------------+-----+------------------------------+
 *     | time in ms         | 0111 | key >> 52  | 10  | (seq * FACTOR xor key)       |
 *     | 48 bits            |      | 12 bits    |     | mod 2^62                     |
 *     +--------------------+------+------------+-----+------------------------------+
 *
 * FACTOR is odd, so the seq can be had back, and the last n hex digits of 16^n commits in a row are
 * all different: short endings are unambiguous. */
#include "backpack/bag.h"

#include <valise/event.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "field/field.h"

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define INVERSE UINT64_C(0xf1de83e19937733d) /* FACTOR * INVERSE = 1 mod 2^64 */
#define USED_BITS 48u                        /* of an ending, to tell which numbers it can be of */
#define LOW_62 ((UINT64_C(1) << 62) - 1)

/* ---- ids ---- */

static uint64_t key_of(const valise_uuid *backpack)
{
    return vls_bytes_load_u64(backpack->bytes) ^ vls_bytes_load_u64(backpack->bytes + 8);
}

valise_uuid vls_commit_id(const valise_uuid *backpack, int64_t seq, int64_t time)
{
    uint64_t key = key_of(backpack);
    uint64_t ms = (uint64_t)(time / 1000000) & ((UINT64_C(1) << 48) - 1);
    uint64_t low = ((uint64_t)seq * FACTOR ^ key) & LOW_62;
    valise_uuid id = {{0}};

    vls_bytes_store_u64(id.bytes, ms << 16 | UINT64_C(0x7000) | key >> 52);
    vls_bytes_store_u64(id.bytes + 8, low | UINT64_C(1) << 63);
    return id;
}

int64_t vls_commit_seq_of(const valise_uuid *backpack, const valise_uuid *id)
{
    uint64_t key = key_of(backpack);
    uint64_t high = vls_bytes_load_u64(id->bytes), low = vls_bytes_load_u64(id->bytes + 8);
    uint64_t seq;

    if ((high & 0xffff) != (UINT64_C(0x7000) | key >> 52) || low >> 62 != 2)
        return 0;
    seq = ((low ^ key) & LOW_62) * INVERSE & LOW_62;
    return (int64_t)seq;
}

/* ---- their ends ---- */

vls_commit_ending vls_commit_ending_parse(valise_str text)
{
    vls_commit_ending ending = {0};

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '-')
            continue;
        ending.high = ending.high << 4 | ending.low >> 60;
        ending.low = ending.low << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        ending.bits += 4;
    }
    assert(ending.bits > 0 && ending.bits <= 128);
    return ending;
}

static uint64_t low_bits(uint64_t number, unsigned bits)
{
    return bits < 64 ? number & ((UINT64_C(1) << bits) - 1) : number;
}

bool vls_commit_ending_matches(const vls_commit_ending *ending, const valise_uuid *id)
{
    unsigned high_bits = ending->bits > 64 ? ending->bits - 64 : 0;

    return low_bits(vls_bytes_load_u64(id->bytes + 8), ending->bits) == ending->low &&
           low_bits(vls_bytes_load_u64(id->bytes), high_bits) == ending->high;
}

int64_t vls_commit_ending_next(const vls_commit_ending *ending, const valise_uuid *backpack,
                               int64_t seq)
{
    unsigned bits = VLS_MIN(ending->bits, USED_BITS);
    uint64_t step = UINT64_C(1) << bits, from = (uint64_t)seq;
    uint64_t next =
        (from & ~(step - 1)) | low_bits((ending->low ^ key_of(backpack)) * INVERSE, bits);

    if (next <= from)
        next += step;
    return next < INT64_MAX ? (int64_t)next : INT64_MAX; /* which no commit has */
}

/* ---- summaries ---- */

#define REDACTED VLS_STR("[redacted]")

static bool is_redacted(valise_list tags)
{
    const valise_str *tag = tags.items;

    for (size_t i = 0; i < tags.count; i++) {
        if (vls_str_equal(tag[i], VLS_STR("secret")) || vls_str_equal(tag[i], VLS_STR("pii")))
            return true;
    }
    return false;
}

valise_str vls_commit_summary(valise_str value, valise_list tags)
{
    return is_redacted(tags) ? REDACTED : vls_utf8_head(value, VLS_BAG_SUMMARY_MAX);
}

/* ---- copies ---- */

static int copy_text(valise_str *text, vls_arena *arena, valise_error *err)
{
    return text->ptr ? vls_arena_dup(text, arena, *text, err) : 0;
}

int vls_taints_copy(valise_list *list, vls_arena *arena, valise_error *err)
{
    const valise_taint *const *from = list->items;
    const valise_taint **to;
    int rc = 0;

    if (!from)
        return 0;
    to = vls_arena_array(arena, list->count + 1, sizeof(*to));
    if (!to)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        valise_taint *copy = vls_arena_alloc(arena, sizeof(*copy));
        if (!copy)
            return vls_arena_fail(arena, err);
        *copy = *from[i];
        to[i] = copy;
        rc = copy_text(&copy->tag, arena, err);
    }
    list->items = to;
    return rc;
}

int vls_taints_move(valise_list *taints, const valise_uuid *from, const valise_uuid *to,
                    vls_arena *arena, valise_error *err)
{
    static const valise_uuid own;
    const valise_taint *const *old = taints->items;
    const valise_taint **list;
    valise_taint *copies;

    if (taints->count == 0 || vls_uuid_equal(from, to))
        return 0;
    list = vls_arena_array(arena, taints->count, sizeof(valise_taint *));
    copies = vls_arena_array(arena, taints->count, sizeof(*copies));
    if (!list || !copies)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < taints->count; i++) {
        copies[i] = *old[i];
        if (vls_uuid_equal(&copies[i].backpack, &own))
            copies[i].backpack = *from;
        else if (vls_uuid_equal(&copies[i].backpack, to))
            copies[i].backpack = own;
        list[i] = &copies[i];
    }
    taints->items = list;
    return 0;
}

int vls_commit_copy(valise_commit *out, const valise_commit *commit, vls_arena *arena,
                    valise_error *err)
{
    valise_commit copy = *commit;
    valise_str *texts[] = {&copy.key,       &copy.summary,        &copy.node_id,
                           &copy.node_name, &copy.namespace_name, &copy.reason,
                           &copy.error};
    valise_list *names[] = {&copy.tags, &copy.read, &copy.write, &copy.declassified};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(texts) && rc == 0; i++)
        rc = copy_text(texts[i], arena, err);
    for (size_t i = 0; i < VLS_COUNT(names) && rc == 0; i++)
        rc = vls_bag_copy_names(names[i], arena, err);
    if (rc == 0)
        rc = vls_taints_copy(&copy.taints, arena, err);
    if (rc == 0)
        *out = copy;
    return rc;
}

/* ---- what is shown of it ---- */

void vls_commit_out(valise_commit *commit)
{
    if (commit->action != VALISE_ACTION_UNPACK && commit->outcome != VALISE_READ_DENIED)
        commit->outcome = VALISE_NONE;
}

void vls_prune_event(valise_event *out, char room[VLS_PRUNE_MAX], const valise_uuid *backpack,
                     valise_str name, int64_t edge)
{
    (void)snprintf(room, VLS_PRUNE_MAX, "{\"backpack\":\"%s\",\"edge\":%lld}",
                   vls_uuid_text(backpack).s, (long long)edge);
    out->type = VLS_STR("BACKPACK_PRUNE");
    out->run_id = name;
    out->payload = valise_str_of(room);
}

int vls_commit_event(valise_event *out, const valise_commit *commit, valise_str name,
                     vls_arena *arena, valise_error *err)
{
    static const valise_id no_value;
    static const char *const types[] = {
        "BACKPACK_PACK", "BACKPACK_DELETE", "BACKPACK_QUARANTINE", "BACKPACK_RELEASE",
        "BACKPACK_PACK", "BACKPACK_PACK",   "BACKPACK_UNPACK"};
    VLS_AUTO(buf) vls_buf text = {0};
    valise_commit shown = *commit;
    int rc;

    vls_commit_out(&shown);
    /* Who may hear only of what a node does hears nothing of what others packed: it may be hidden
     * from that node. [B21] */
    shown.previous_value = no_value;
    if (!vls_commit_gives_value(commit)) {
        shown.value = no_value;
        shown.summary = (valise_str){NULL, 0};
    }
    /* What went wrong may quote the value. [B32] */
    shown.error = (valise_str){NULL, 0};
    if (shown.reason.ptr && commit->action == VALISE_ACTION_QUARANTINE && is_redacted(shown.tags))
        shown.reason = REDACTED;
    vls_buf_init(&text, arena->env, (size_t)1 << 20);
    rc = vls_fields_write(&text, &shown, vls_commit_fields, VLS_FIELD_INPUT, 0, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->payload, arena, vls_buf_str(&text), err);
    if (rc < 0)
        return rc;
    out->type = valise_str_of(types[commit->action]);
    out->node_id = commit->node_id;
    out->namespace_name = commit->namespace_name;
    out->run_id = name;
    return 0;
}
