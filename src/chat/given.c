/* given.c -- what is said, as it comes: a struct, or words of a command line. */
#include "base/buf.h"
#include "bus/command.h"
#include "chat/ops.h"
#include "json/json.h"

static const valise_field given_fields[] = {
    VALISE_FIELD(vls_turn_given, id, UUID, VALISE_NULLABLE, "Its id (default: a new one)."),
    VALISE_FIELD_WITH(vls_turn_given, role, ENUM, VALISE_REQUIRED, "Who speaks.",
                      .more = vls_turn_roles),
    VALISE_FIELD(vls_turn_given, blocks, VALUE, VALISE_REQUIRED,
                 "The message as an array of blocks, such as {\"type\":\"text\",\"text\":\"Hi\"}."),
    VALISE_FIELD(vls_turn_given, hidden, BOOL, 0, "Hide it from people."),
    VALISE_FIELD(vls_turn_given, noprompt, BOOL, 0, "Keep it out of prompts."),
    VALISE_FIELD(vls_turn_given, metadata, VALUE, VALISE_NULLABLE, "Any other metadata, as JSON."),
    VALISE_FIELD_END,
};

const valise_struct vls_turn_given_struct = {sizeof(vls_turn_given), given_fields};

const valise_field vls_turn_ref_item = {
    .name = "turn", .type = VALISE_T_STR, .min = 1, .max = VLS_TURN_REF_MAX};

static const valise_content no_content = {.size = VALISE_NONE};

/* ---- texts and files ---- */

static int write_blocks(valise_str *out, const vls_turn_flat *said, vls_arena *arena,
                        valise_error *err)
{
    vls_buf text;

    vls_buf_init_in(&text, arena, VLS_JSON_MAX_BYTES);
    vls_buf_add_text(&text, "[");
    if (said->text.bytes.len > 0) {
        vls_buf_add_text(&text, "{\"text\":");
        vls_json_write_string(&text, said->text.bytes);
        vls_buf_add_text(&text, ",\"type\":\"text\"}");
    }
    vls_buf_add_text(&text, "]");
    return vls_buf_keep(out, &text, err);
}

static int refuse_both(const char *other, valise_error *err)
{
    return vls_fail(err, VALISE_E_INVALID, "give either `%s`, or a text and files", other);
}

static bool is_flat(const vls_turn_flat *said)
{
    return said->role != VALISE_NONE || vls_content_given(&said->text) || said->attach.count > 0 ||
           said->hidden || said->noprompt;
}

static void clear_flat(vls_turn_flat *said)
{
    *said = (vls_turn_flat){
        .turn = said->turn, .role = VALISE_NONE, .text = no_content, .blobs = said->blobs};
}

int vls_turn_receive_blocks(valise_content *blocks, vls_turn_flat *said, valise_prepare *prepare,
                            const void *args, valise_error *err)
{
    bool flat = vls_content_given(&said->text) || said->attach.count > 0;
    int rc = 0;

    if (vls_content_given(blocks) && flat)
        return refuse_both("newBlocks", err);
    if (!vls_content_given(blocks) && !flat) {
        (void)vls_fail(err, VALISE_E_INVALID, "the turn is empty");
        vls_hint(err, "give a text, - for standard input, @FILE, or files");
        return VALISE_E_INVALID;
    }
    if (flat && said->text.bytes.len == 0 && said->attach.count == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "the text is empty");
        vls_hint(err, "give a text, - for standard input, @FILE, or files");
        return VALISE_E_INVALID;
    }
    if (flat) {
        *blocks = (valise_content){.size = 0};
        rc = write_blocks(&blocks->bytes, said, vls_prepare_arena(prepare), err);
    }
    if (rc == 0)
        rc = vls_blob_receive(&blocks->bytes, &said->blobs, prepare, args, &said->attach, err);
    if (rc == 0)
        clear_flat(said);
    return rc;
}

/* ---- turns ---- */

static int make_turn(vls_turn_given *out, const vls_turn_flat *said, valise_error *err)
{
    if (said->turn && is_flat(said))
        return refuse_both("turn", err);
    if (said->turn) {
        *out = *said->turn;
        return 0;
    }
    if (said->role == VALISE_NONE) {
        (void)vls_fail(err, VALISE_E_INVALID, "no role given: it says who speaks");
        vls_hint(err, "give `turn` with role and blocks, or `role` and `text`");
        return VALISE_E_INVALID;
    }
    *out = (vls_turn_given){.role = said->role,
                            .blocks = no_content,
                            .hidden = said->hidden,
                            .noprompt = said->noprompt,
                            .metadata = no_content};
    return 0;
}

int vls_turn_receive(vls_turn_flat *said, valise_prepare *prepare, const void *args,
                     valise_error *err)
{
    void *memory = NULL;
    vls_turn_given *turn;
    int rc = valise_prepare_alloc(&memory, prepare, sizeof(*turn), err);

    if (rc < 0)
        return rc;
    turn = memory;
    rc = make_turn(turn, said, err);
    if (rc == 0)
        rc = vls_turn_receive_blocks(&turn->blocks, said, prepare, args, err);
    if (rc < 0)
        return rc;
    clear_flat(said);
    said->turn = turn;
    return 0;
}
