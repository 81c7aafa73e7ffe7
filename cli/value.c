/* value.c -- one word of a command line as a value of a field's type.
 *
 * What a value must be like (limits, formats of ids and times) is checked once, by the engine;
 * here a word only gets the JSON type that the field has. Nothing is guessed: what is to be JSON
 * must be JSON. */
#include "cli/words.h"

#include "base/base64.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cli/help.h"

#define DATA_MAX (VLS_JSON_MAX_BYTES / 4 * 3 - 65536) /* as base64, in JSON with all the rest */

cli_option_text cli_operand_name(const valise_field *field)
{
    vls_field_name words = vls_field_words(field->flags & VALISE_FILE ? "file" : field->name, '-');
    cli_option_text out;
    bool optional = !(field->flags & VALISE_REQUIRED);

    for (char *c = words.s; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    bool program = field->type == VALISE_T_LIST && cli_is_program(field->more);

    (void)snprintf(out.s, sizeof(out.s), "%s%s%s%s%s", optional ? "[" : "", program ? "-- " : "",
                   words.s, field->type == VALISE_T_LIST ? "..." : "", optional ? "]" : "");
    return out;
}

const char *cli_value_name(const valise_field *field)
{
    static const char *const names[] = {
        [VALISE_T_BOOL] = "true|false", [VALISE_T_INT] = "NUMBER",      [VALISE_T_REAL] = "NUMBER",
        [VALISE_T_STR] = "TEXT",        [VALISE_T_BYTES] = "BASE64",    [VALISE_T_TIME] = "TIME",
        [VALISE_T_DURATION] = "TIME",   [VALISE_T_UUID] = "UUID",       [VALISE_T_ID] = "ID",
        [VALISE_T_ENUM] = "NAME",       [VALISE_T_JSON] = "JSON",       [VALISE_T_VALUE] = "JSON",
        [VALISE_T_TEXT] = "TEXT|@FILE", [VALISE_T_DATA] = "TEXT|@FILE", [VALISE_T_STRUCT] = "JSON",
        [VALISE_T_UNION] = "JSON",      [VALISE_T_PATH] = "PATH",
    };

    if (field->type == VALISE_T_LIST)
        field = field->more;
    if (field->type == VALISE_T_DURATION)
        return "DURATION";
    if (field->flags & VALISE_FILE)
        return "FILE";
    return field->type < VLS_COUNT(names) && names[field->type] ? names[field->type] : "JSON";
}

static int text_value(vls_json *out, const valise_field *field, valise_str text, valise_error *err)
{
    size_t valid = vls_utf8_valid_len(text);

    if (valid < text.len)
        return vls_fail_at(err, VALISE_E_INVALID, valid, "%s is not UTF-8 at byte %zu", field->name,
                           valid);
    *out = vls_json_string(text);
    return 0;
}

static int bool_value(vls_json *out, const valise_field *field, const char *word, valise_error *err)
{
    bool truth = strcmp(word, "true") == 0;

    if (!truth && strcmp(word, "false") != 0)
        return vls_fail(err, VALISE_E_INVALID, "%s must be true or false, not '%s'", field->name,
                        vls_text_short(valise_str_of(word)).s);
    *out = vls_json_bool(truth);
    return 0;
}

static int number_value(vls_json *out, cli *c, const valise_field *field, const char *word,
                        valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_json v;
    int rc = vls_json_parse(&v, &c->arena, valise_str_of(word), NULL, &why);

    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    bool whole = field->type == VALISE_T_INT;
    if (rc < 0 || !vls_json_is_number(v) || (whole && v.type != VLS_JSON_INT))
        return vls_fail(err, VALISE_E_INVALID, "%s must be a%s number, not '%s'", field->name,
                        whole ? " whole" : "", vls_text_short(valise_str_of(word)).s);
    *out = v;
    return 0;
}

static int enum_value(vls_json *out, cli *c, const valise_field *field, const char *word,
                      valise_error *err)
{
    VLS_AUTO(buf) vls_buf names = {0};
    cli_near near;

    vls_buf_init(&names, c->env, 4096);
    cli_near_init(&near, word);
    for (const char *const *name = field->more; *name; name++) {
        if (strcmp(*name, word) == 0) {
            *out = vls_json_string(valise_str_of(*name));
            return 0;
        }
        cli_near_try(&near, *name);
        if (names.len)
            vls_buf_add_text(&names, ", ");
        vls_buf_add_text(&names, *name);
    }
    vls_report(err, VALISE_E_INVALID, -1, "%s is one of %.*s, not '%s'", field->name,
               (int)names.len, names.ptr, vls_text_short(valise_str_of(word)).s);
    if (near.best[0])
        vls_hint(err, "did you mean '%s'?", near.best);
    return VALISE_E_INVALID;
}

/* Bytes go into JSON as base64. */
static int data_value(vls_json *out, cli *c, valise_str bytes, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str kept;
    int rc;

    if (bytes.len > DATA_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE,
                        "the content has %zu bytes; at most %zu can be given", bytes.len,
                        (size_t)DATA_MAX);
    vls_buf_init(&text, c->env, 2 * VLS_JSON_MAX_BYTES);
    vls_base64_encode(&text, bytes);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &c->arena, vls_buf_str(&text), err);
    if (rc == 0)
        *out = vls_json_string(kept);
    return rc;
}

int cli_whole_time(const char **out, cli *c, const char *word, valise_error *err)
{
    vls_time_text text;
    valise_str kept;
    int rc;

    *out = word;
    if (!vls_time_complete(&text, valise_str_of(word)))
        return 0;
    rc = vls_arena_dup(&kept, &c->arena, valise_str_of(text.s), err);
    *out = rc == 0 ? kept.ptr : word;
    return rc;
}

int cli_path_value(vls_json *out, cli *c, valise_str path, valise_error *err)
{
    vls_member *member;
    int rc;

    if (vls_utf8_valid(path)) {
        *out = vls_json_string(path);
        return 0;
    }
    member = vls_arena_zalloc(&c->arena, sizeof(*member));
    if (!member)
        return vls_arena_fail(&c->arena, err);
    member->key = vls_json_string(VLS_STR("base64"));
    rc = data_value(&member->value, c, path, err);
    return rc < 0 ? rc : vls_json_object(out, member, 1, err);
}

/* What to write instead, as it is to be typed. */
static void hint_plain(const cli *c, const char *word, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    VLS_AUTO(buf) vls_buf json = {0};

    vls_buf_init(&json, c->env, 256);
    vls_buf_init(&text, c->env, 512);
    vls_json_write_string(&json, valise_str_of(word));
    cli_add_quoted(&text, vls_buf_str(&json));
    vls_buf_add_text(&text, " or --text ");
    cli_add_quoted(&text, valise_str_of(word));
    if (vls_buf_check(&json, NULL) == 0 && vls_buf_cstr(&text))
        vls_hint(err, "a text is %s; @FILE and - are read", vls_buf_cstr(&text));
    else
        vls_hint(err, "a text is given with --text; @FILE and - are read");
}

static int json_value(vls_json *out, cli *c, const valise_field *field, const char *word,
                      unsigned around, valise_error *err)
{
    int rc = cli_read_json(out, c, word, around, err);
    bool bare =
        word[0] != '\0' && !strchr("-@[{\"", word[0]) && vls_utf8_valid(valise_str_of(word));

    if (rc == VALISE_E_INVALID && err && field->flags & VALISE_PLAIN && bare)
        hint_plain(c, word, err);
    return rc;
}

/* The library knows no streams, only files. */
static const char *input_word(const valise_field *field, const char *word)
{
    bool input = field->ref && strcmp(field->ref, "input") == 0;

    return input && strcmp(word, "-") == 0 ? "/dev/stdin" : word;
}

int cli_value(vls_json *out, cli *c, const valise_field *field, const char *word, valise_error *err)
{
    valise_str bytes;
    int rc;

    switch (field->type) {
    case VALISE_T_TIME:
        rc = cli_whole_time(&word, c, word, err);
        return rc < 0 ? rc : text_value(out, field, valise_str_of(word), err);
    case VALISE_T_BOOL:
        return bool_value(out, field, word, err);
    case VALISE_T_INT:
    case VALISE_T_REAL:
        return number_value(out, c, field, word, err);
    case VALISE_T_ENUM:
        return enum_value(out, c, field, word, err);
    case VALISE_T_PATH:
        return cli_path_value(out, c, valise_str_of(input_word(field, word)), err);
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        rc = field->flags & VALISE_FILE ? cli_read_file(&bytes, c, word, VLS_JSON_MAX_BYTES, err)
                                        : cli_read_word(&bytes, c, word, err);
        if (rc < 0)
            return rc;
        return field->type == VALISE_T_TEXT ? text_value(out, field, bytes, err)
                                            : data_value(out, c, bytes, err);
    case VALISE_T_JSON:
    case VALISE_T_VALUE:
        return json_value(out, c, field, word, cli_is_payload(field) ? VLS_JSON_MAX_AROUND : 0,
                          err);
    case VALISE_T_STRUCT:
    case VALISE_T_UNION:
    case VALISE_T_LIST:
        return json_value(out, c, field, word, VLS_JSON_MAX_AROUND, err);
    default:
        return text_value(out, field, valise_str_of(input_word(field, word)), err);
    }
}
