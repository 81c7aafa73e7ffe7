/* paths.c -- see paths.h. Start reading at cli_resolve_paths. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/paths.h"

#include "base/base64.h"
#include "base/text.h"
#include "base/utf8.h"
#include "bus/bus.h"
#include "cli/call.h"
#include "tree/node.h"

enum { DIGITS_MIN = 4, DIGITS = 64 };

static bool is_ref(const valise_field *field, const char *ref)
{
    return field->ref && strcmp(field->ref, ref) == 0;
}

bool cli_is_tree_path(const valise_field *field)
{
    if (field->type == VALISE_T_LIST)
        field = field->more;
    return field->type == VALISE_T_PATH &&
           (is_ref(field, CLI_TREE_PATH) || is_ref(field, CLI_TREE_NODE) ||
            is_ref(field, CLI_TREE_HERE));
}

/* ---- where we are ---- */

/* An absolute path without its first slash, "." and "..": what the functions of trees take. */
static int normalize(valise_str *out, cli *c, valise_str absolute, valise_error *err)
{
    VLS_AUTO(buf) vls_buf path = {0};
    int rc;

    vls_buf_init(&path, c->env, (size_t)2 * PATH_MAX);
    rc = vls_path_resolve(&path, VLS_STR(""), absolute, err);
    return rc < 0 ? rc : vls_arena_dup(out, &c->arena, vls_buf_str(&path), err);
}

static valise_str below(valise_str path, valise_str folder)
{
    return vls_str_from(path, VLS_MIN(folder.len + (folder.len > 0), path.len));
}

int cli_locate(cli *c, valise_error *err)
{
    char root[PATH_MAX], here[PATH_MAX];
    valise_str path;
    int rc = cli_open(c, err);

    if (rc < 0 || c->tree_root.ptr || !c->workspace->place.root)
        return rc;
    if (!realpath(c->workspace->place.root, root))
        return vls_fail_errno(err, "cannot find", valise_str_of(c->workspace->place.root));
    rc = normalize(&c->tree_root, c, valise_str_of(root), err);
    if (rc < 0 || !getcwd(here, sizeof(here))) /* a folder that is gone lies nowhere */
        return rc;
    rc = normalize(&path, c, valise_str_of(here), err);
    if (rc == 0 && vls_path_is_under(path, c->tree_root))
        c->tree_here = below(path, c->tree_root);
    return rc;
}

/* ---- in ---- */

/* A path that goes through links into the tree: the first folder on the way that really lies in it
 * counts. The last name is not followed: it may be a link of the tree. */
static bool find_through_links(vls_buf *out, const cli *c, valise_str absolute)
{
    char folder[PATH_MAX + 1], real[PATH_MAX];

    for (size_t i = 1; i < absolute.len; i++) {
        if (absolute.ptr[i] != '/')
            continue;
        (void)snprintf(folder, sizeof(folder), "/%.*s", (int)VLS_MIN(i, (size_t)PATH_MAX),
                       absolute.ptr);
        if (!realpath(folder, real))
            return false;
        valise_str found = valise_str_of(real + 1);
        if (!vls_path_is_under(found, c->tree_root))
            continue;
        vls_buf_clear(out);
        vls_buf_add(out, below(found, c->tree_root));
        vls_buf_add_text(out, out->len > 0 ? "/" : "");
        vls_buf_add(out, vls_str_from(absolute, i + 1));
        return true;
    }
    return false;
}

static int refuse_outside(const cli *c, valise_str word, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is outside the tree", vls_text_short(word).s);
    vls_hint(err, "the tree is /%s; paths start from %s", vls_text_short(c->tree_root).s,
             c->tree_here.ptr ? "the current folder" : "there");
    return VALISE_E_INVALID;
}

/* What no file can be called: said of the word, and not of what was made of it. */
static int check_length(valise_str word, valise_error *err)
{
    valise_str name, left = word;
    bool more = true;

    if (word.len > VLS_PATH_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a path has %zu bytes, '%s': at most %u are allowed",
                        word.len, vls_text_short(word).s, VLS_PATH_MAX);
    while (more) {
        more = vls_str_cut(&name, &left, left, '/');
        if (name.len > VLS_NODE_NAME_MAX)
            return vls_fail(err, VALISE_E_INVALID, "a name of %zu bytes in '%s': %u are allowed",
                            name.len, vls_text_short(word).s, VLS_NODE_NAME_MAX);
    }
    return 0;
}

/* What a word means. */
static int path_from_root(vls_buf *out, cli *c, valise_str word, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str path = {NULL, 0};
    int rc = check_length(word, err);

    if (rc < 0)
        return rc;

    if (word.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "the path is empty");
        vls_hint(err, "the current folder is '.'");
        return VALISE_E_INVALID;
    }
    if (word.ptr[0] != '/' && vls_path_resolve(out, c->tree_here, word, NULL) == 0)
        return 0;
    vls_buf_init(&text, c->env, (size_t)4 * PATH_MAX);
    if (word.ptr[0] != '/') {
        vls_buf_add(&text, c->tree_root);
        vls_buf_add_byte(&text, '/');
        vls_buf_add(&text, c->tree_here);
        vls_buf_add_byte(&text, '/');
    }
    vls_buf_add(&text, word);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = normalize(&path, c, vls_buf_str(&text), NULL);
    if (rc == VALISE_E_INVALID && text.len > VLS_PATH_MAX)
        return vls_fail(err, rc, "'%s' is too deep: a path may have at most %u bytes",
                        vls_text_short(word).s, VLS_PATH_MAX);
    if (rc == VALISE_E_INVALID)
        return refuse_outside(c, word, err); /* above the top of all folders */
    if (rc < 0)
        return vls_fail_memory(err);
    vls_buf_clear(out);
    if (vls_path_is_under(path, c->tree_root))
        vls_buf_add(out, below(path, c->tree_root));
    else if (!find_through_links(out, c, path))
        return refuse_outside(c, word, err);
    return vls_buf_check(out, err);
}

/* As place.h of the context has it. */
static bool is_digits(valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
            return false;
    }
    return s.len >= DIGITS_MIN && s.len <= DIGITS;
}

/* What node:get says of a node, or false. */
static bool ask_node(vls_json *out, cli *c, valise_str node)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    vls_json answer = vls_json_null();
    const vls_json *found;

    vls_buf_init(&payload, c->env, (size_t)8 * PATH_MAX);
    vls_buf_add_text(&payload, "{\"node\":");
    vls_json_write_string(&payload, node);
    vls_buf_add_text(&payload, ",\"view\":\"max=1\"}");
    if (cli_ask(&answer, c, "node:get", &payload, NULL) < 0)
        return false;
    found = vls_json_get(answer, VLS_STR("node"));
    if (found)
        *out = *found;
    return found != NULL;
}

bool cli_find_node(vls_json *out, cli *c, valise_str digits)
{
    return is_digits(digits) && ask_node(out, c, digits);
}

static bool lies_there(const cli *c, valise_str path)
{
    char name[PATH_MAX];
    struct stat st;
    int len = snprintf(name, sizeof(name), "/%.*s/%.*s", VALISE_STR_ARG(c->tree_root),
                       VALISE_STR_ARG(path));

    return len > 0 && (size_t)len < sizeof(name) && lstat(name, &st) == 0;
}

/* Digits that name nothing in the current folder may be an id; nothing else in the tree has this
 * name for us. 1: *id is it. */
static int find_id(vls_json *id, cli *c, valise_str word, valise_str path)
{
    const vls_json *found, *lies;
    vls_json node;

    if (ask_node(&node, c, path) || !ask_node(&node, c, word))
        return 0;
    found = vls_json_get(node, VLS_STR("nodeId"));
    lies = vls_json_get(node, VLS_STR("path"));
    if (!found || !lies ||
        (lies->type == VLS_JSON_STRING && vls_str_equal(vls_json_str(*lies), word)))
        return 0;
    *id = *found;
    return 1;
}

static int translate(vls_json *value, cli *c, const valise_field *field, valise_error *err)
{
    VLS_AUTO(buf) vls_buf word = {0};
    VLS_AUTO(buf) vls_buf path = {0};
    valise_str given, kept = {NULL, 0};
    bool digits, slash;
    int rc;

    vls_buf_init(&word, c->env, (size_t)2 * PATH_MAX);
    vls_buf_init(&path, c->env, (size_t)4 * PATH_MAX);
    cli_add_path_bytes(&word, *value);
    given = vls_buf_str(&word);
    digits = is_ref(field, CLI_TREE_NODE) && is_digits(given);
    slash = vls_str_ends(given, VLS_STR("/"));
    rc = path_from_root(&path, c, given, err);
    if (rc < 0)
        return rc;
    /* A file of that name is what is meant, scanned or not. Without one it is the operation that
     * knows, but for names which count from another folder than the root. */
    if (digits && !lies_there(c, vls_buf_str(&path)) &&
        (given.len == DIGITS || c->tree_here.len == 0 ||
         find_id(value, c, given, vls_buf_str(&path))))
        return 0;
    valise_str plain = vls_buf_str(&path);
    vls_buf_clear(&word);
    vls_buf_add_text(&word, plain.len == 0 ? "." : is_digits(plain) ? "./" : "");
    vls_buf_add(&word, plain);
    vls_buf_add_text(&word, slash && plain.len > 0 ? "/" : "");
    rc = vls_buf_check(&word, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &c->arena, vls_buf_str(&word), err);
    return rc < 0 ? rc : cli_path_value(value, c, kept, err);
}

static int translate_member(vls_member *member, cli *c, const valise_op *op, valise_error *err)
{
    const valise_field *field = vls_fields_find(op->in, vls_json_str(member->key));

    if (!field || !cli_is_tree_path(field))
        return 0;
    if (field->type == VALISE_T_LIST)
        return cli_change_items(&member->value, c, field->more, translate, err);
    return translate(&member->value, c, field, err);
}

/* The current folder, where it is meant by saying nothing. */
static int add_here(vls_member *members, uint32_t *count, cli *c, const valise_op *op,
                    vls_json payload, valise_error *err)
{
    int rc = 0;

    for (const valise_field *f = op->in; f->type != VALISE_T_END && rc == 0; f++) {
        if (!is_ref(f, CLI_TREE_HERE) || c->tree_here.len == 0 ||
            vls_json_get(payload, valise_str_of(f->name)))
            continue;
        members[*count].key = vls_json_string(valise_str_of(f->name));
        rc = cli_path_value(&members[(*count)++].value, c, c->tree_here, err);
    }
    return rc;
}

static size_t count_tree_paths(const valise_op *op)
{
    size_t count = 0;

    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++)
        count += cli_is_tree_path(f);
    return count;
}

int cli_resolve_paths(vls_json *payload, cli *c, const valise_op *op, valise_error *err)
{
    size_t paths = count_tree_paths(op);
    uint32_t count = payload->len;
    vls_member *members;
    int rc;

    if (paths == 0)
        return 0;
    rc = cli_locate(c, err);
    /* Another folder than the workspace's: paths count from there. */
    if (rc < 0 || !c->tree_root.ptr || vls_json_get(*payload, VLS_STR("dir")))
        return rc;
    members = vls_arena_array(&c->arena, payload->len + paths, sizeof(*members));
    if (!members)
        return vls_arena_fail(&c->arena, err);
    for (uint32_t i = 0; i < payload->len && rc == 0; i++) {
        members[i] = payload->members[i];
        rc = translate_member(&members[i], c, op, err);
    }
    if (rc == 0)
        rc = add_here(members, &count, c, op, *payload, err);
    return rc < 0 ? rc : vls_json_object(payload, members, count, err);
}

/* ---- out ---- */

void cli_add_path_bytes(vls_buf *out, vls_json value)
{
    const vls_json *bytes = vls_json_get(value, VLS_STR("base64"));

    if (value.type == VLS_JSON_STRING)
        vls_buf_add(out, vls_json_str(value));
    else if (bytes && bytes->type == VLS_JSON_STRING &&
             vls_base64_decode(out, vls_json_str(*bytes), NULL) < 0)
        vls_buf_add(out, vls_json_str(*bytes)); /* nobody wrote that: show what there is */
}

void cli_add_quoted_name(vls_buf *out, valise_str name)
{
    vls_text_quote(out, name);
}

/* "../lib/b.c" for "src/lib/b.c" from "src/x". */
static void add_relative(vls_buf *out, valise_str path, valise_str here)
{
    size_t up = 0;

    while (!vls_path_is_under(path, here)) {
        here = vls_path_parent(here);
        up++;
    }
    path = below(path, here);
    for (size_t i = 0; i < up; i++)
        vls_buf_add_text(out, i + 1 == up && path.len == 0 ? ".." : "../");
    vls_buf_add(out, path);
    if (up == 0 && path.len == 0)
        vls_buf_add_byte(out, '.');
}

void cli_add_path(vls_buf *out, const cli *c, vls_json value)
{
    VLS_AUTO(buf) vls_buf bytes = {0};
    VLS_AUTO(buf) vls_buf relative = {0};

    vls_buf_init(&bytes, c->env, (size_t)2 * PATH_MAX);
    vls_buf_init(&relative, c->env, (size_t)8 * PATH_MAX);
    cli_add_path_bytes(&bytes, value);
    add_relative(&relative, vls_buf_str(&bytes), c->tree_here);
    cli_add_quoted_name(out, vls_buf_str(&relative));
}
