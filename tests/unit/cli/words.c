/* words.c -- from words to an operation and its payload. [K6 L1 L4 L5] */
#include "cli/kit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- operands and options ---- */

TEST(words, operands_go_to_positional_fields_in_the_order_of_the_table)
{
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"value\":[1]}",
               PAYLOAD("demo", "put", "b", "k", "[1]"));
    /* One that is given as an option is not waited for. */
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "b", "--key", "k", "1"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "--value=1", "b", "k"));
}

TEST(words, every_type_has_its_json)
{
    CHECK_TEXT(
        "demo:put {\"bag\":\"b\",\"bytes\":\"aGk=\",\"force\":true,\"key\":\"k\",\"limit\":-"
        "3,\"mode\":\"careful\",\"note\":\"a text\",\"object\":\"abcd\",\"ratio\":1.5,\"raw\":"
        "\"aGVsbG8=\",\"run\":\"1234\",\"sessionId\":\"7\",\"since\":\"2026-01-02T03:04:05Z\","
        "\"small\":{\"a\":null},\"ttl\":\"90s\",\"value\":null}",
        PAYLOAD("demo", "put", "b", "k", "null", "--force", "--limit", "-3", "--mode", "careful",
                "--note", "a text", "--ratio", "1.50", "--raw", "hello", "--small", "{\"a\":null}",
                "--session-id", "7", "--since", "2026-01-02T03:04:05Z", "--ttl", "90s", "--run",
                "1234", "--object", "abcd", "--bytes", "aGk="));
}

TEST(words, switches)
{
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"force\":false,\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "--no-force", "b", "k", "1"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"force\":false,\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "--force=false", "b", "k", "1"));
    CHECK_TEXT("INVALID: [force] force must be true or false, not 'maybe'",
               PAYLOAD("demo", "put", "--force=maybe", "b", "k", "1"));
    CHECK_TEXT("USAGE: '--no-force' takes no value | leave out the '=' and what follows it",
               PAYLOAD("demo", "put", "--no-force=true", "b", "k", "1"));
    CHECK_TEXT("USAGE: '--json' takes no value | leave out the '=' and what follows it",
               PAYLOAD("demo", "list", "--json=1"));
}

TEST(words, lists_are_given_one_by_one)
{
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"tags\":[\"x\",\"y\",\"z\"],\"value\":1}",
               PAYLOAD("demo", "put", "--tags", "x", "b", "--tag", "y", "k", "--tags=z", "1"));
    CHECK_TEXT("demo:take {\"names\":[\"a\",\"b\",\"c\"]}", PAYLOAD("demo", "take", "a", "b", "c"));
    CHECK_TEXT("demo:take {}", PAYLOAD("demo", "take"));
    CHECK_TEXT("INVALID: [names] names is not UTF-8 at byte 0",
               PAYLOAD("demo", "take", "a", "\xff"));
    CHECK_TEXT(
        "demo:put {\"bag\":\"b\",\"blocks\":[{\"type\":\"x\"},{}],\"key\":\"k\",\"value\":1}",
        PAYLOAD("demo", "put", "b", "k", "1", "--block", "{\"type\":\"x\"}", "--blocks", "{}"));
}

/* Where a list that is not given is left alone, an empty one takes all away. */
TEST(words, lists_that_can_be_left_alone_can_be_empty)
{
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"blocks\":[],\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "--no-blocks", "b", "k", "1"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"blocks\":[],\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "--no-block"));
    CHECK_TEXT("USAGE: '--no-blocks' means an empty list | leave it out, or leave out '--block'",
               PAYLOAD("demo", "put", "b", "k", "1", "--block", "{}", "--no-blocks"));
    CHECK_TEXT("USAGE: '--no-blocks' takes no value | leave out the '=' and what follows it",
               PAYLOAD("demo", "put", "--no-blocks=1", "b", "k", "1"));
    CHECK(strstr(PAYLOAD("demo", "put", "--no-tags", "b", "k", "1"), "unknown option '--no-tags'"));
}

TEST(words, structs_by_field_or_as_json)
{
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"turn\":{\"more\":{\"count\":2},\"role\":"
               "\"user\",\"sourceId\":\"s\"},\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "--turn.role", "user", "--turn.source-id", "s",
                       "--turn.more.count=2"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"turn\":{\"role\":\"user\"},\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "--turn", "{\"role\":\"user\"}"));
    CHECK_TEXT("USAGE: '--turn' is given twice | only lists may be given more than once",
               PAYLOAD("demo", "put", "b", "k", "1", "--turn", "{}", "--turn.role", "user"));
    CHECK_TEXT("USAGE: unknown option '--turn.rol' | 'valise demo put --help' lists the "
               "options",
               PAYLOAD("demo", "put", "b", "k", "1", "--turn.rol", "user"));
    CHECK_TEXT("USAGE: unknown option '--bag.x' | did you mean '--bag'? 'valise demo "
               "put --help' lists the options",
               PAYLOAD("demo", "put", "b", "k", "1", "--bag.x", "user"));
}

TEST(words, twice_is_refused)
{
    CHECK_TEXT("USAGE: '--limit' is given twice | only lists may be given more than once",
               PAYLOAD("demo", "put", "b", "k", "1", "--limit", "1", "--limit", "2"));
}

TEST(words, dashes)
{
    CHECK_TEXT("demo:take {\"names\":[\"--json\",\"-x\"]}",
               PAYLOAD("demo", "take", "--", "--json", "-x"));
    CHECK_TEXT("demo:take {\"names\":[\"-\",\"-1\",\"-0.5e3\"]}",
               PAYLOAD("demo", "take", "-", "-1", "-0.5e3"));
    CHECK_TEXT("USAGE: unknown option '-x' | 'valise demo take --help' lists the options",
               PAYLOAD("demo", "take", "-x"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"limit\":3,\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "-n", "3"));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"note\":\"--force\",\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "--note", "--force"));
}

/* ---- what is missing or too much ---- */

TEST(words, what_is_missing_is_named)
{
    CHECK_TEXT("USAGE: 'valise demo put' needs: BAG KEY VALUE | for example: valise demo put "
               "--tag 'a b' --tag c --force --limit -3 --note @@home --raw hello --turn "
               "'{\"role\":\"user\"}' run-1 'it'\\''s' '\"What is AI?\"'",
               PAYLOAD("demo", "put", "b"));
    CHECK_TEXT("USAGE: 'valise demo note' needs: --must TEXT | for example: "
               "VALISE_SECRET_TOKEN=... valise demo note --second s --must m",
               PAYLOAD("demo", "note", "x"));
    CHECK_TEXT("USAGE: '--limit' needs a value: NUMBER | 'valise demo put "
               "--help' lists the options",
               PAYLOAD("demo", "put", "b", "k", "1", "--limit"));
    CHECK_TEXT("USAGE: '-C' needs a value: DIR | 'valise --help' lists the "
               "options",
               PAYLOAD("-C"));
}

TEST(words, what_is_too_much_is_named)
{
    CHECK_TEXT(
        "USAGE: 'valise demo put' takes only BAG KEY VALUE, and 'more' is one too many | put "
        "JSON and text with spaces into quotes; see 'valise demo put --help'",
        PAYLOAD("demo", "put", "b", "k", "1", "more"));
    CHECK_TEXT("USAGE: 'valise demo list' takes no operands, not even 'x' | leave it out",
               PAYLOAD("demo", "list", "x"));
}

/* ---- names ---- */

TEST(words, commands_have_several_names)
{
    CHECK_TEXT("demo:list {}", PAYLOAD("demos"));
    CHECK_TEXT("demo:list {}", PAYLOAD("demo:list"));
    CHECK_TEXT("demo:take {\"names\":[\"x\"]}", PAYLOAD("grab", "x"));
    CHECK_TEXT("backpack:pack {}", PAYLOAD("bp", "pack"));
    CHECK_TEXT("backpack:pack {}", PAYLOAD("backpack", "pack"));
    CHECK_TEXT("version {}", PAYLOAD("version"));
    CHECK_TEXT("group demo", PAYLOAD("demo"));
    CHECK_TEXT("group bp", PAYLOAD("bp", "--json"));
    CHECK_TEXT("group none", PAYLOAD("--json"));
}

TEST(words, what_was_meant)
{
    CHECK_TEXT(
        "USAGE: there is no command 'demo ptu' | did you mean 'valise demo put'? 'valise help "
        "demo' lists its commands",
        PAYLOAD("demo", "ptu"));
    CHECK_TEXT(
        "USAGE: there is no command 'demp' | did you mean 'valise demo'? 'valise help' lists "
        "all commands",
        PAYLOAD("demp"));
    CHECK_TEXT("USAGE: there is no command 'gra' | did you mean 'valise grab'? 'valise help' lists "
               "all commands",
               PAYLOAD("gra"));
    CHECK_TEXT("USAGE: there is no command 'demo zzzzzz' | run 'valise help demo' for its commands",
               PAYLOAD("demo", "zzzzzz"));
    CHECK_TEXT("USAGE: there is no command 'zzzzzz' | run 'valise help' for all commands",
               PAYLOAD("zzzzzz"));
    CHECK_TEXT("USAGE: unknown option '--sessionid' | did you mean '--session-id'? "
               "'valise demo put --help' lists the options",
               PAYLOAD("demo", "put", "--sessionid", "x"));
    CHECK_TEXT("USAGE: unknown option '--jsn' | did you mean '--json'? 'valise demo put "
               "--help' lists the options",
               PAYLOAD("demo", "put", "--jsn"));
    CHECK_TEXT("USAGE: unknown option '--zzzzzz' | run 'valise help' for the options",
               PAYLOAD("--zzzzzz"));
    /* A word of hundreds of letters is no typing mistake. */
    CHECK(strstr(PAYLOAD(test_format("%0300d", 0)), "there is no command '000"));
    CHECK(strstr(PAYLOAD("demo", "put", test_format("--%0300d", 0)), "unknown option '--000"));
}

TEST(words, internal_commands_are_not_there)
{
    CHECK(strstr(PAYLOAD("demo", "admit"), "there is no command 'demo admit'"));
}

/* ---- options of all commands ---- */

static void split(test *t, cli *c, const char *const *words)
{
    const char *list[16];
    cli_words out;
    size_t count = 0;

    for (; words[count]; count++)
        list[count] = words[count];
    CHECK_OK(cli_words_split(&out, c, count, list, &t->err));
}

TEST(words, common_options_stand_anywhere)
{
    cli *c = kit_new(t);

    split(t, c,
          (const char *const[]){"-C", "dir", "--workspace=w", "demo", "put", "--actor", "me", "b",
                                "--id", "u", "--dry-run", "--expect", "3", "-q", NULL});
    CHECK_TEXT("dir", c->options.directory);
    CHECK_TEXT("w", c->options.workspace);
    CHECK_TEXT("me", c->options.actor);
    CHECK_TEXT("u", c->options.id);
    CHECK_TEXT("3", c->options.expect);
    CHECK(c->options.dry_run && c->options.quiet && !c->options.json);
    c = kit_new(t);
    split(t, c,
          (const char *const[]){"demo", "list", "--at", "42", "--json", "--color=never",
                                "--no-pager", NULL});
    CHECK_TEXT("42", c->options.at);
    CHECK(c->options.json && c->options.no_pager);
}

TEST(words, a_field_wins_over_a_common_option_of_the_same_name)
{
    CHECK_TEXT("demo:take {\"at\":\"y\",\"id\":\"x\"}",
               PAYLOAD("demo", "take", "--id", "x", "--at", "y"));
    /* But for --json, which every command has. */
    CHECK_TEXT("demo:take {\"names\":[\"x\"]}", PAYLOAD("demo", "take", "--json", "x"));
}

TEST(words, common_options_only_where_they_mean_something)
{
    CHECK_TEXT("USAGE: 'valise demo list' takes no --id: it changes nothing | 'valise "
               "demo list --help' lists the options",
               PAYLOAD("demo", "list", "--id", "x"));
    CHECK_TEXT("USAGE: 'valise demo put' takes no --at: it does not look at a state | "
               "'valise demo put --help' lists the options",
               PAYLOAD("--at", "3", "demo", "put", "a", "b", "1"));
    CHECK_TEXT("USAGE: 'valise demo take' takes no --expect: there is nothing it could "
               "compare | 'valise demo take --help' lists the options",
               PAYLOAD("demo", "take", "--expect", "1"));
    CHECK_TEXT("USAGE: 'valise demo list' takes no --exit-code: it looks for no "
               "differences | 'valise demo list --help' lists the options",
               PAYLOAD("demo", "list", "--exit-code"));
    CHECK_TEXT("USAGE: there is no --color 'blue' | it is auto, always or never",
               PAYLOAD("demo", "list", "--color", "blue"));
}

/* Errors that come before --json are JSON as well. */
TEST(words, json_counts_wherever_it_stands)
{
    cli *c = kit_new(t);
    const char *words[] = {"demo", "ptu", "--json"};
    cli_words out;

    CHECK_RC(CLI_E_USAGE, cli_words_split(&out, c, 3, words, &t->err));
    CHECK(c->options.json);
}

/* ---- values ---- */

TEST(words, nothing_is_guessed)
{
    CHECK_TEXT("INVALID: [value] invalid JSON at byte 0: expected a value, found 'h' | a text is "
               "JSON with "
               "its quotes: '\"hello\"'; @FILE and - are read",
               PAYLOAD("demo", "put", "b", "k", "hello"));
    CHECK_TEXT("INVALID: [limit] limit must be a whole number, not '1.5'",
               PAYLOAD("demo", "put", "b", "k", "1", "--limit", "1.5"));
    CHECK_TEXT("INVALID: [limit] limit must be a whole number, not '0x10'",
               PAYLOAD("demo", "put", "b", "k", "1", "--limit", "0x10"));
    CHECK_TEXT("INVALID: [limit] limit must be a whole number, not '99999999999999999999'",
               PAYLOAD("demo", "put", "b", "k", "1", "--limit", "99999999999999999999"));
    CHECK_TEXT("INVALID: [ratio] ratio must be a number, not 'true'",
               PAYLOAD("demo", "put", "b", "k", "1", "--ratio", "true"));
    CHECK_TEXT("INVALID: [mode] mode is one of fast, careful, not 'fsat' | did you mean 'fast'?",
               PAYLOAD("demo", "put", "b", "k", "1", "--mode", "fsat"));
    CHECK_TEXT("INVALID: [key] key is not UTF-8 at byte 1",
               PAYLOAD("demo", "put", "b", "k\xff", "1"));
    CHECK_TEXT("INVALID: [note] note is not UTF-8 at byte 0",
               PAYLOAD("demo", "put", "b", "k", "1", "--note", "\xc3"));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", ""), "@FILE, or - for standard input"));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", "it's"), "a text with its quotes"));
}

TEST(words, values_come_from_files)
{
    const char *file = test_format("%s/value.json", test_tmpdir());
    const char *at_file = test_format("@%s", file);

    test_write_file(file, VLS_STR(" { \"a\" : 1.0 } "));
    CHECK_TEXT("demo:put {\"bag\":\"b\",\"key\":\"k\",\"value\":{\"a\":1}}",
               PAYLOAD("demo", "put", "b", "k", at_file));
    CHECK_TEXT(
        "demo:put {\"bag\":\"b\",\"key\":\"k\",\"note\":\" { \\\"a\\\" : 1.0 } \",\"value\":1}",
        PAYLOAD("demo", "put", "b", "k", "1", "--note", at_file));
    /* Where texts are wanted, @@ is an @. Other types take words as they are. */
    CHECK_TEXT("demo:put {\"bag\":\"@b\",\"key\":\"@@k\",\"note\":\"@home\",\"value\":1}",
               PAYLOAD("demo", "put", "@b", "@@k", "1", "--note", "@@home"));
    test_write_file(file, VLS_STR("[1,]"));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", at_file),
                 test_format("look at the file %s", file)));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", "@"), "no file name after @"));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", "@/nonexistent/x"),
                 "NOT_FOUND: [value] cannot open"));
}

/* [Q25] */
TEST(words, secrets_never_stand_on_the_command_line)
{
    const char *file = test_format("%s/key", test_tmpdir());

    CHECK_TEXT("USAGE: '--api-key' is a secret, and others can see the command line | set "
               "VALISE_SECRET_API_KEY, or put it into a file that only you can read and give "
               "--api-key-file FILE",
               PAYLOAD("demo", "put", "b", "k", "1", "--api-key", "s3cret"));
    test_write_file(file, VLS_STR("s3cret\n"));
    CHECK(chmod(file, 0644) == 0);
    CHECK_TEXT(
        test_format("DENIED: [apiKey] others can read the secret in %s | chmod 600 %s", file, file),
        PAYLOAD("demo", "put", "b", "k", "1", "--api-key-file", file));
    CHECK(chmod(file, 0600) == 0);
    CHECK_TEXT("demo:put {\"apiKey\":\"s3cret\",\"bag\":\"b\",\"key\":\"k\",\"value\":1}",
               PAYLOAD("demo", "put", "b", "k", "1", "--api-key-file", file));
    CHECK(strstr(PAYLOAD("demo", "put", "b", "k", "1", "--api-key-file", "/nonexistent"),
                 "NOT_FOUND"));
    test_write_file(file, VLS_STR("s3cret\xff"));
    CHECK_TEXT("INVALID: [apiKey] the secret 'apiKey' is not UTF-8",
               PAYLOAD("demo", "put", "b", "k", "1", "--api-key-file", file));
}

TEST(words, secrets_come_from_the_environment)
{
    CHECK_TEXT("USAGE: the secret 'token' is missing | set VALISE_SECRET_TOKEN, or put it into a "
               "file that only you can read and give --token-file FILE",
               PAYLOAD("demo", "note", "--must", "m"));
    CHECK(setenv("VALISE_SECRET_TOKEN", "t0ken", 1) == 0);
    const char *payload = PAYLOAD("demo", "note", "--must", "m");
    CHECK(unsetenv("VALISE_SECRET_TOKEN") == 0);
    CHECK_TEXT("demo:note {\"must\":\"m\",\"token\":\"t0ken\"}", payload);
}

/* ---- without memory ---- */

#include "harness/fault.h"

static int split_once(fault *f, void *arg)
{
    const char *words[] = {"demo", "put",         "b",    "k",     "[1,{\"a\":2}]", "--tags",
                           "x",    "--turn.role", "user", "--raw", "hello"};
    cli_catalog catalog;
    cli c = {.env = f->env, .catalog = &catalog};
    cli_words split_words;
    static const cli_builtin *const none[] = {NULL};
    vls_json payload;
    int rc;

    (void)arg;
    vls_arena_init(&c.arena, f->env, (size_t)64 << 20);
    rc = cli_catalog_init(&catalog, &c.arena, kit_ops, none, &f->err);
    if (rc == 0)
        rc = cli_words_split(&split_words, &c, VLS_COUNT(words), words, &f->err);
    if (rc == 0)
        rc = cli_words_payload(&payload, &c, &split_words, &f->err);
    vls_arena_release(&c.arena);
    return rc;
}

TEST(words, without_memory)
{
    fault_each_alloc(t, 0, split_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, split_once, NULL);
}
