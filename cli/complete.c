/* complete.c -- candidates for the word that is being typed. */
#include "cli/complete.h"

#include "base/hex.h"
#include "base/text.h"
#include "base/utf8.h"
#include "bus/bus.h"
#include "cli/call.h"
#include "cli/paths.h"
#include "engine/config.h"
#include "json/make.h"
#include "store/place.h"
#include "wire/adapter.h"

#define ID_ROWS_MAX 5000u /* looked at */
#define IDS_MAX 200u      /* offered */
#define ID_NS_MAX INT64_C(150000000)
#define ROWS_FREE 100u /* are looked at however long it took to come so far */
#define DESCRIPTION_MAX 60u

/* A field of the command that stands on the line already, and its word. */
typedef struct known_word {
    const valise_field *field;
    const char *word;
} known_word;

typedef struct completer {
    vls_buf *out;
    cli *c;
    valise_str prefix;  /* the word being typed */
    const char *before; /* put in front of each candidate: "--role=" */
    known_word known[16];
    size_t known_count;
} completer;

/* False: it does not fit what was typed. */
static bool add_candidate(const completer *k, valise_str word, const char *description)
{
    size_t skip = strlen(k->before);

    if (!vls_str_starts(word, vls_str_from(k->prefix, skip)) || word.len == 0)
        return false;
    /* A line is a line. */
    if (vls_str_find_byte(word, '\n') < word.len || vls_str_find_byte(word, '\t') < word.len)
        return false;
    vls_buf_add_text(k->out, k->before);
    vls_buf_add(k->out, word);
    vls_buf_add_byte(k->out, '\t');
    vls_buf_add(k->out, vls_utf8_head(valise_str_of(description), DESCRIPTION_MAX));
    vls_buf_add_byte(k->out, '\n');
    return true;
}

/* ---- names of commands ---- */

static void add_first_words(const completer *k)
{
    const cli_catalog *catalog = k->c->catalog;
    char group[64] = "";

    for (size_t i = 0; i < catalog->count; i++) {
        const valise_op *op = catalog->commands[i].op;
        size_t len = cli_group_len(op->name);
        if (op->flags & VALISE_OP_INTERNAL)
            continue;
        if (op->alias)
            add_candidate(k, valise_str_of(op->alias), op->brief);
        if (op->name[len] == '\0') {
            add_candidate(k, valise_str_of(op->name), op->brief);
        } else if (strlen(group) != len || memcmp(group, op->name, len) != 0) {
            (void)snprintf(group, sizeof(group), "%.*s", (int)len, op->name);
            add_candidate(k, valise_str_of(group), "commands");
            if (cli_group_alias(group))
                add_candidate(k, valise_str_of(cli_group_alias(group)), "commands");
        }
    }
}

static void add_verbs(const completer *k, const char *group)
{
    size_t len = strlen(group);

    for (size_t i = 0; i < k->c->catalog->count; i++) {
        const cli_command *command = &k->c->catalog->commands[i];
        if (cli_command_is_of(command, group, len))
            add_candidate(k, valise_str_of(command->op->name + len + 1), command->op->brief);
    }
}

static void add_operation_names(const completer *k)
{
    for (size_t i = 0; i < k->c->catalog->count; i++) {
        const valise_op *op = cli_command_operation(&k->c->catalog->commands[i]);
        if (op)
            add_candidate(k, valise_str_of(op->name), op->brief);
    }
}

/* ---- ids ---- */

typedef struct id_search {
    const completer *k;
    const valise_field *key; /* of the rows */
    bool labels;             /* they name rows as well */
    vls_arena arena;
    vls_arena kept;
    valise_str offered[IDS_MAX];
    size_t rows, found;
    int64_t end_ns;
} id_search;

/* What a turn says, as far as it is a text. */
static valise_str first_text(vls_json row)
{
    const vls_json *blocks = vls_json_get(row, VLS_STR("blocks"));

    return blocks && blocks->type == VLS_JSON_ARRAY && blocks->len > 0
               ? vls_text_of(blocks->items[0], "text")
               : (valise_str){NULL, 0};
}

/* What people know a row by: its label, or how it begins. */
static const char *describe(id_search *search, vls_json row)
{
    static const char *const names[] = {"label",        "brief", "content", "text",
                                        "valueSummary", "path",  "help",    NULL};
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str kept = {NULL, 0};

    for (size_t i = 0; names[i]; i++) {
        valise_str said =
            strcmp(names[i], "text") == 0 ? first_text(row) : vls_text_of(row, names[i]);
        if (said.len == 0 || strcmp(names[i], search->key->name) == 0)
            continue;
        vls_buf_init(&text, search->k->c->env, 4096);
        vls_text_neutralize(&text, vls_str_head(said, 60), 0);
        if (vls_arena_dup(&kept, &search->arena, vls_buf_str(&text), NULL) == 0 && kept.len > 0)
            return kept.ptr;
    }
    return search->key->name;
}

/* Each one once. */
static void offer(id_search *search, valise_str word, const char *about)
{
    for (size_t i = 0; i < search->found; i++) {
        if (vls_str_equal(search->offered[i], word))
            return;
    }
    if (vls_arena_dup(&search->offered[search->found], &search->kept, word, NULL) == 0)
        search->found += add_candidate(search->k, word, about);
}

/* Sessions are named by their labels, too; nobody types a whole id. */
static void offer_label(id_search *search, vls_json row)
{
    valise_str label = vls_text_of(row, "label");

    if (search->labels && label.len > 0 && search->found < IDS_MAX)
        offer(search, label, "label");
}

static int take_id(void *arg, valise_str json, valise_error *err)
{
    id_search *search = arg;
    const valise_env *env = search->k->c->env;
    const vls_json *id;
    vls_json row;

    vls_arena_reset(&search->arena);
    if (search->rows++ >= ID_ROWS_MAX || search->found >= IDS_MAX ||
        (search->rows > ROWS_FREE && env->ticks_ns(env->self) > search->end_ns) ||
        vls_json_parse(&row, &search->arena, json,
                       &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err) < 0)
        return 1;
    id = vls_json_get(row, valise_str_of(search->key->name));
    if (id && id->type == VLS_JSON_STRING) {
        offer(search, vls_json_str(*id), describe(search, row));
        offer_label(search, row);
    } else if (id && id->type == VLS_JSON_INT) {
        char digits[32];
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)id->integer);
        offer(search, valise_str_of(digits), describe(search, row));
    }
    return 0;
}

static const valise_coll *find_collection(const cli *c, const char *name)
{
    const valise_coll *const *colls = c->registry ? vls_registry_colls(c->registry) : NULL;

    for (size_t i = 0; colls && colls[i]; i++) {
        if (strcmp(colls[i]->name, name) == 0)
            return colls[i];
    }
    return NULL;
}

/* Which field of the rows of `list` names one of them? The key of the collection, or else the
 * first. */
static const valise_field *key_of(const valise_coll *coll, const valise_op *list)
{
    const valise_field *found = NULL;

    if (coll && coll->fields)
        found = vls_fields_find(list->out, valise_str_of(coll->fields[0].name));
    return found ? found : list->out;
}

static bool can_run_bare(const valise_op *op)
{
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (f->flags & VALISE_REQUIRED)
            return false;
    }
    return op->kind == VALISE_QUERY && op->flags & VALISE_OP_LIST && op->out;
}

/* Who lists the rows of a collection? "pin:list" those of "pin", or a list of the same fields. */
static const valise_op *find_list(const cli *c, const char *collection, const valise_coll *coll)
{
    const valise_op *found = NULL;
    char name[128];

    (void)snprintf(name, sizeof(name), "%s:list", collection);
    for (size_t i = 0; i < c->catalog->count; i++) {
        const valise_op *op = cli_command_operation(&c->catalog->commands[i]);
        if (!op || !can_run_bare(op))
            continue;
        if (strcmp(op->name, name) == 0)
            return op;
        if (coll && op->out == coll->fields)
            found = op;
    }
    return found;
}

static void add_rows(const completer *k, const valise_op *list, const valise_field *key,
                     valise_str payload)
{
    const valise_env *env = k->c->env;
    id_search search = {.k = k,
                        .key = key,
                        .labels = strcmp(list->name, "session:list") == 0,
                        .end_ns = env->ticks_ns(env->self) + ID_NS_MAX};

    vls_arena_init(&search.arena, env, (size_t)64 << 20);
    vls_arena_init(&search.kept, env, (size_t)64 << 20);
    (void)cli_stream(k->c, list, payload, take_id, &search, NULL); /* silence */
    vls_arena_release(&search.arena);
    vls_arena_release(&search.kept);
}

/* ---- hashes ---- */

typedef struct hash_search {
    const completer *k;
    const valise_coll *coll; /* NULL: objects */
    valise_str digits;
    size_t found;
} hash_search;

static int take_hash(void *arg, const valise_id *id, const char *kind, valise_error *err)
{
    hash_search *search = arg;

    (void)err;
    search->found += add_candidate(search->k, valise_str_of(vls_id_hex(id).s), kind);
    return search->found >= IDS_MAX;
}

static int search_hashes(void *arg, valise_view *view, valise_error *err)
{
    hash_search *search = arg;
    const vls_coll *coll = search->coll ? vls_store_coll(view->txn->store, search->coll) : NULL;
    const valise *v = vls_view_bus(view);
    int rc = v->access.allows(v->access.self, view, v->actor,
                              coll ? search->coll->needs : "object:read", NULL, err);

    return rc < 0 ? rc : vls_target_begin(view, coll, search->digits, take_hash, search, err);
}

/* Hashes are found by their first digits: those of objects, or of rows that have one as their key.
 * Who may not read these is told of none. */
static void add_hashes(const completer *k, const valise_coll *coll)
{
    hash_search search = {
        .k = k, .coll = coll, .digits = vls_str_from(k->prefix, strlen(k->before))};

    if (cli_open(k->c, NULL) == 0 && (!coll || coll->needs))
        (void)vls_with_view(k->c->workspace, NULL, search_hashes, &search, NULL);
}

static void add_ids(const completer *k, const char *collection)
{
    const valise_coll *coll = find_collection(k->c, collection);
    const valise_op *list = find_list(k->c, collection, coll);

    if (list)
        add_rows(k, list, key_of(coll, list), VLS_STR("{}"));
    else if (coll || strcmp(collection, "object") == 0)
        add_hashes(k, coll);
}

/* A word as the operation takes it: paths count from the root there. */
static bool add_word(vls_buf *out, const completer *k, const valise_field *field, valise_str word)
{
    vls_json payload, value;
    vls_member member = {vls_json_string(valise_str_of(field->name)), vls_json_string(word)};
    const valise_field fields[] = {*field, VALISE_FIELD_END};
    const valise_op op = {.in = fields};
    const vls_json *found;

    if (vls_json_object(&payload, &member, 1, NULL) < 0 ||
        cli_resolve_paths(&payload, k->c, &op, NULL) < 0)
        return false;
    found = vls_json_get(payload, valise_str_of(field->name));
    value = found ? *found : vls_json_null();
    return vls_json_write(out, value, NULL) == 0;
}

/* The arguments that a list needs, from words of the same name that stand on the line. */
static bool make_payload(vls_buf *out, const completer *k, const valise_op *list)
{
    vls_buf_add_byte(out, '{');
    for (const valise_field *f = list->in; f && f->type != VALISE_T_END; f++) {
        const char *word = NULL;
        for (size_t i = 0; i < k->known_count; i++) {
            if (strcmp(k->known[i].field->name, f->name) == 0)
                word = k->known[i].word;
        }
        if (!(f->flags & VALISE_REQUIRED))
            continue;
        if (!word || (f->type != VALISE_T_STR && f->type != VALISE_T_PATH) ||
            !vls_utf8_valid(valise_str_of(word)))
            return false;
        vls_buf_add_text(out, out->len > 1 ? "," : "");
        vls_json_write_string(out, valise_str_of(f->name));
        vls_buf_add_byte(out, ':');
        if (!add_word(out, k, f, valise_str_of(word)))
            return false;
    }
    vls_buf_add_byte(out, '}');
    return vls_buf_check(out, NULL) == 0;
}

/* "backpack:ls.key": what the rows of a list have there. */
static void add_listed(const completer *k, valise_str ref)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    valise_str name, member;
    const valise_field *key;
    const valise_op *list;

    (void)vls_str_cut(&name, &member, ref, '.');
    list = vls_registry_op(k->c->registry, name);
    key = list && list->flags & VALISE_OP_LIST ? vls_fields_find(list->out, member) : NULL;
    vls_buf_init(&payload, k->c->env, (size_t)1 << 20);
    if (key && make_payload(&payload, k, list))
        add_rows(k, list, key, vls_buf_str(&payload));
}

/* ---- values ---- */

static bool is_path(const char *name)
{
    static const char *const names[] = {"path",      "paths",  "file",   "files",
                                        "directory", "folder", "folders"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* Digits may begin the id of a node, which one answer says. */
static void add_node_id(const completer *k)
{
    valise_str typed = vls_str_from(k->prefix, strlen(k->before));
    VLS_AUTO(buf) vls_buf path = {0};
    const vls_json *id, *place;
    vls_json node;

    if (cli_open(k->c, NULL) < 0 || !cli_find_node(&node, k->c, typed))
        return;
    id = vls_json_get(node, VLS_STR("nodeId"));
    place = vls_json_get(node, VLS_STR("path"));
    vls_buf_init(&path, k->c->env, (size_t)1 << 16);
    if (place && cli_locate(k->c, NULL) == 0)
        cli_add_path(&path, k->c, *place);
    if (id && id->type == VLS_JSON_STRING)
        add_candidate(k, vls_json_str(*id), vls_buf_cstr(&path) ? vls_buf_cstr(&path) : "");
}

/* The rest of COLLECTION/KEY. */
static void add_keys(const completer *k, valise_str collection)
{
    completer below = *k;
    char name[64], before[128];

    (void)snprintf(name, sizeof(name), "%.*s", (int)VLS_MIN(collection.len, sizeof(name) - 1),
                   collection.ptr);
    (void)snprintf(before, sizeof(before), "%s%s/", k->before, name);
    below.before = before;
    add_ids(&below, name);
}

/* Whatever `show` takes: the first digits of a hash, or a place. */
static void add_targets(const completer *k)
{
    const valise_coll *const *colls = vls_registry_colls(k->c->registry);
    valise_str name, rest;
    char place[128];

    if (vls_str_cut(&name, &rest, vls_str_from(k->prefix, strlen(k->before)), '/')) {
        add_keys(k, name);
        return;
    }
    for (size_t i = 0; colls[i]; i++) {
        bool is_hash =
            colls[i]->fields[0].type == VALISE_T_ID && !(colls[i]->flags & VALISE_COLL_WITNESS);
        (void)snprintf(place, sizeof(place), "%s/", colls[i]->name);
        add_candidate(k, valise_str_of(place), colls[i]->help);
        if (is_hash && k->prefix.len > strlen(k->before))
            add_hashes(k, colls[i]);
    }
    add_hashes(k, NULL);
    add_node_id(k);
}

/* The usual providers have the names of their adapters. */
static void add_adapters(const completer *k)
{
    for (const vls_adapter *const *adapter = vls_adapters; *adapter; adapter++)
        add_candidate(k, valise_str_of((*adapter)->name), "");
}

/* Those that the user's own configuration names. */
static void add_providers(const completer *k)
{
    size_t count = 0;
    const vls_config_entry *entries =
        cli_settle(k->c, NULL) == 0 ? vls_config_entries(&count, k->c->settings) : NULL;

    for (size_t i = 0; i < count; i++) {
        if (entries[i].setting && strcmp(entries[i].setting->name, "provider.*.adapter") == 0)
            add_candidate(k, entries[i].subsection, "provider");
    }
    add_adapters(k);
}

/* Those with a name of their own: what stands in place of a star is anybody's. */
static void add_settings(const completer *k)
{
    for (const vls_setting *s = vls_settings; s->name; s++) {
        if (!strchr(s->name, '*'))
            add_candidate(k, valise_str_of(s->name), s->help);
    }
}

static void add_ref(const completer *k, const char *ref)
{
    if (strcmp(ref, CLI_TREE_NODE) == 0) { /* files are found by the shell */
        vls_buf_add_text(k->out, "\tfiles\n");
        add_node_id(k);
        return;
    }
    if (strcmp(ref, VLS_PLACE_REF) == 0) {
        add_targets(k);
        return;
    }
    if (strcmp(ref, "cli.operation") == 0)
        add_operation_names(k);
    else if (strcmp(ref, "cli.setting") == 0)
        add_settings(k);
    else if (strcmp(ref, "cli.adapter") == 0)
        add_adapters(k);
    else if (strcmp(ref, "cli.provider") == 0)
        add_providers(k);
    else if (strcmp(ref, "cli.file") == 0 || strcmp(ref, "input") == 0 ||
             strcmp(ref, CLI_HOST_PROGRAM) == 0 || strcmp(ref, CLI_TREE_PATH) == 0 ||
             strcmp(ref, CLI_TREE_HERE) == 0)
        vls_buf_add_text(k->out, "\tfiles\n");
    else if (strcmp(ref, "cli.dir") == 0)
        vls_buf_add_text(k->out, "\tdirs\n");
    else if (strchr(ref, ':'))
        add_listed(k, valise_str_of(ref));
    else
        add_ids(k, ref);
}

static void add_values(const completer *k, const valise_field *field)
{
    const char *ref = field->ref, *named = field->name;

    if (field->type == VALISE_T_LIST)
        field = field->more;
    if (!ref)
        ref = field->ref;
    switch (field->type) {
    case VALISE_T_ENUM:
        for (const char *const *name = field->more; *name; name++)
            add_candidate(k, valise_str_of(*name), "");
        return;
    case VALISE_T_BOOL:
        add_candidate(k, VLS_STR("true"), "");
        add_candidate(k, VLS_STR("false"), "");
        return;
    case VALISE_T_JSON:
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
    case VALISE_T_STRUCT:
    case VALISE_T_UNION:
        vls_buf_add_text(k->out, field->flags & VALISE_FILE ? "\tfiles\n" : "\t@files\n");
        return;
    default:
        if (ref)
            add_ref(k, ref);
        else if (field->type == VALISE_T_PATH || (field->type == VALISE_T_STR && is_path(named)))
            vls_buf_add_text(k->out, "\tfiles\n");
        return;
    }
}

static void add_common_values(const completer *k, const cli_option *option)
{
    if (strcmp(option->name, "--color") == 0) {
        add_candidate(k, VLS_STR("auto"), "");
        add_candidate(k, VLS_STR("always"), "");
        add_candidate(k, VLS_STR("never"), "");
    } else if (strcmp(option->value, "DIR") == 0) {
        vls_buf_add_text(k->out, "\tdirs\n");
    } else if (strcmp(option->name, "--actor") == 0 || strcmp(option->name, "--agent") == 0) {
        add_ids(k, "actor");
    } else if (strcmp(option->value, "JSON") == 0) {
        vls_buf_add_text(k->out, "\t@files\n");
    }
}

/* ---- options ---- */

static void add_field_options(const completer *k, const valise_field *fields, const char *prefix,
                              size_t depth)
{
    char name[256];

    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        vls_field_name words = vls_field_words(f->name, '-');
        bool secret = f->flags & VALISE_SECRET;
        if (f->flags & VALISE_HIDDEN)
            continue;
        (void)snprintf(name, sizeof(name), "%s%s%s", prefix, cli_option_name(f).s,
                       secret ? "-file" : "");
        add_candidate(k, valise_str_of(name), f->help ? f->help : "");
        if (f->flags & VALISE_PLAIN && depth == 0)
            add_candidate(k, VLS_STR("--text"), "a text in its place");
        if ((cli_can_be_negated(f) || cli_can_be_empty(f)) && depth == 0) {
            (void)snprintf(name, sizeof(name), "--no-%s", words.s);
            /* Only for who asks: it would double the list. */
            if (vls_str_starts(k->prefix, VLS_STR("--no")))
                add_candidate(k, valise_str_of(name), f->help ? f->help : "");
        }
        if (f->type == VALISE_T_STRUCT && depth < 3) {
            (void)snprintf(name, sizeof(name), "%s%s.", prefix, words.s);
            add_field_options(k, ((const valise_struct *)f->more)->fields, name, depth + 1);
        }
    }
}

static void add_options(const completer *k, const cli_command *command)
{
    if (command)
        add_field_options(k, command->op->in, "--", 0);
    for (const cli_option *o = cli_options_table; o->name; o++) {
        if (!command || cli_option_fits(o, command))
            add_candidate(k, valise_str_of(o->name), o->help);
    }
}

/* ---- where on the line are we? ---- */

typedef struct place {
    const cli_command *command;
    const cli_option *common;      /* the word is the value of this, */
    const valise_field *field;     /* or of this; */
    size_t operands;               /* else so many operands stand before it, */
    const char *operand_words[16]; /* these; of more the first */
    const valise_field *named[64]; /* fields that were given as options */
    const char *named_words[64];   /* NULL: a switch */
    size_t named_count;
    bool only_operands; /* behind "--" */
    bool program;       /* that, and the words of a program */
} place;

static const cli_option *find_common(const char *word)
{
    for (const cli_option *o = cli_options_table; o->name; o++) {
        if (strcmp(o->name, word) == 0 || (o->brief && strcmp(o->brief, word) == 0))
            return o;
    }
    return NULL;
}

/* The option is at the end or has its value behind it; returns how many words it took. */
static size_t pass_option(place *at, const char *word, bool last)
{
    cli_given given = {0};
    const valise_field *field = NULL;
    const cli_option *common = find_common(word);
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);

    if (at->command && word[1] == '-')
        field = cli_find_option(&given, at->command->op, vls_str(word + 2, len - 2));
    if (!field && at->command && len == 6 && memcmp(word, "--text", len) == 0) {
        field = cli_find_plain(at->command->op);
        given.path[0] = field;
    }
    if (field && at->named_count < VLS_COUNT(at->named)) {
        at->named_words[at->named_count] = equals ? equals + 1 : NULL;
        at->named[at->named_count++] = given.path[0];
    }
    if (equals || (field && (cli_is_switch(field) || field->flags & VALISE_BARE)))
        return 1;
    if (field) {
        if (last)
            at->field = field;
        return 2;
    }
    if (!common || !common->value)
        return 1;
    if (last)
        at->common = common;
    return 2;
}

static bool is_named(const place *at, const valise_field *field)
{
    for (size_t i = 0; i < at->named_count; i++) {
        if (at->named[i] == field)
            return true;
    }
    return false;
}

/* The field that an operand behind so many others goes to, or NULL. */
static const valise_field *operand_field(const place *at, size_t skip)
{
    for (const valise_field *f = at->command->op->in; f && f->type != VALISE_T_END; f++) {
        bool program = f->type == VALISE_T_LIST && cli_is_program(f->more);
        if (!(f->flags & VALISE_POSITIONAL) || f->flags & VALISE_SECRET || is_named(at, f) ||
            program)
            continue;
        if (skip == 0 || f->type == VALISE_T_LIST)
            return f;
        skip--;
    }
    return NULL;
}

/* Walk over the words before the last one. */
static void find_place(place *at, size_t count, const char *const *words)
{
    size_t i = 0;

    while (i < count) {
        bool last = i + 1 == count;
        if (!at->only_operands && strcmp(words[i], "--") == 0) {
            at->only_operands = true;
            at->program = cli_takes_program(at->command->op);
            i++;
        } else if (!at->only_operands && cli_is_option(words[i])) {
            size_t named = at->named_count, taken = pass_option(at, words[i], last);
            if (taken == 2 && !last && at->named_count > named)
                at->named_words[named] = words[i + 1];
            i += taken;
        } else {
            if (at->operands < VLS_COUNT(at->operand_words))
                at->operand_words[at->operands] = words[i];
            at->operands++;
            i++;
        }
    }
}

static void complete_option(const completer *k, const place *at)
{
    completer value = *k;
    const char *equals = memchr(k->prefix.ptr, '=', k->prefix.len);
    char name[256];
    cli_given given;

    if (!equals) {
        add_options(k, at->command);
        return;
    }
    (void)snprintf(name, sizeof(name), "%.*s=", (int)(equals - k->prefix.ptr), k->prefix.ptr);
    value.before = name;
    size_t len = strlen(name) - 1;
    const valise_field *field = at->command && len > 2 ? cli_find_option(&given, at->command->op,
                                                                         vls_str(name + 2, len - 2))
                                                       : NULL;
    if (field) {
        add_values(&value, field);
        return;
    }
    name[len] = '\0';
    const cli_option *common = find_common(name);
    name[len] = '=';
    if (common && common->value)
        add_common_values(&value, common);
}

static void know(completer *k, const valise_field *field, const char *word)
{
    if (field && word && k->known_count < VLS_COUNT(k->known))
        k->known[k->known_count++] = (known_word){field, word};
}

static void know_all(completer *k, const place *at)
{
    for (size_t i = 0; i < at->operands && i < VLS_COUNT(at->operand_words); i++)
        know(k, operand_field(at, i), at->operand_words[i]);
    for (size_t i = 0; i < at->named_count; i++)
        know(k, at->named[i], at->named_words[i]);
}

/* Behind the name of a command. */
static void complete_rest(completer *k, place *at, size_t count, const char *const *words)
{
    const valise_field *field;

    find_place(at, count, words);
    know_all(k, at);
    if (at->common) {
        add_common_values(k, at->common);
    } else if (at->field) {
        add_values(k, at->field);
    } else if (!at->only_operands && k->prefix.len > 0 && k->prefix.ptr[0] == '-') {
        complete_option(k, at);
    } else if (at->program) {
        vls_buf_add_text(k->out, "\tfiles\n");
    } else {
        field = operand_field(at, at->operands);
        if (field)
            add_values(k, field);
    }
}

void cli_complete(vls_buf *out, cli *c, size_t count, const char *const *words)
{
    completer k = {.out = out, .c = c, .before = ""};
    place at = {0};
    size_t i = 0, used = 0;

    if (count == 0)
        return;
    k.prefix = valise_str_of(words[--count]);
    /* `help X` completes as X does. */
    while (i < count && (cli_is_option(words[i]) || (i == 0 && strcmp(words[i], "help") == 0)))
        i += cli_is_option(words[i]) ? pass_option(&at, words[i], i + 1 == count) : 1;
    words += VLS_MIN(i, count);
    count -= VLS_MIN(i, count);
    if (at.common) {
        add_common_values(&k, at.common);
        return;
    }
    const char *group = count == 1 ? cli_catalog_group(c->catalog, words[0]) : NULL;
    at.command = cli_catalog_find(&used, c->catalog, count, words);
    if (count == 0 && k.prefix.len > 0 && k.prefix.ptr[0] == '-')
        complete_option(&k, &at);
    else if (count == 0)
        add_first_words(&k);
    if (group && !(k.prefix.len > 0 && k.prefix.ptr[0] == '-'))
        add_verbs(&k, group);
    if (at.command)
        complete_rest(&k, &at, count - used, words + used);
}
