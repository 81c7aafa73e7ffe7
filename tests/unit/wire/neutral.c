/* neutral.c -- neutral prompts: what is refused, where; and that the schema says the same. [P6] */
#include "harness/test.h"

#include "json/schema.h"
#include "wire/neutral.h"
#include "wire/plan_kit.h"

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *const good[] = {
    "{'version':1}",
    "{'version':1,'tools':null,'system':null,'messages':null,'params':null,'sections':null,'x-y':"
    "2}",
    "{'version':1,'messages':[{'role':'user','blocks':[]}],'sections':{'context':1,'history':0}}",
    "{'version':1,'tools':[{'name':'ls','description':'d','inputSchema':{}}],"
    "'system':[{'type':'text','text':''}],"
    "'params':{'model':'m','temperature':0.5,'maxTokens':5,'stop':['x'],'toolChoice':'any',"
    "'extras':{'a':1}},"
    "'messages':[{'role':'user','blocks':[{'type':'text','text':'hi','meta':{'a':{}}},"
    "{'type':'image','blob':'" ID64 "','mediaType':'image/png','filename':'f','size':5},"
    "{'type':'document','text':'x'},{'type':'document','blob':'" ID64 "','fileId':'f','text':null},"
    "{'type':'odd','anything':[]}]},"
    "{'role':'assistant','blocks':[{'type':'thinking','text':'t','signature':'s','redacted':false},"
    "{'type':'tool_use','callId':'c','name':'ls','args':{'a':[1]},'rawArgs':'{'}],'x-place':'p'},"
    "{'role':'tool','blocks':[{'type':'tool_result','callId':'c','content':'x','isError':true},"
    "{'type':'tool_result','callId':'d','content':[{'type':'text','text':''},{'type':'odd'},"
    "{'type':'image','blob':'" ID64 "'},{'type':'document','text':'y'}]}]},"
    "{'role':'system','blocks':[{'type':'role:transition','from':null,'to':'r'},"
    "{'type':'summary','text':'s','covers':7}]}]}",
    "{'version':1,'params':{'toolChoice':{'name':'ls'}}}",
};

typedef struct bad_prompt {
    const char *text, *path, *message;
} bad_prompt;

#define IN_BLOCK(block)                                                                            \
    "{'version':1,'messages':[{'role':'user','blocks':[]},{'role':'user','blocks':[" block "]}]}"
#define AT(member) "messages[1].blocks[0]." member

static const bad_prompt bad[] = {
    {"[]", "", "a prompt must be an object, not array"},
    {"{}", "version", "'version' is missing"},
    {"{'version':2}", "version", "'version' must be 1"},
    {"{'version':1,'message':[]}", "", "'message' is unknown here"},
    {"{'version':1,'messages':{}}", "messages", "'messages' must be an array, not object"},
    {"{'version':1,'messages':[7]}", "messages[0]", "a message must be an object, not integer"},
    {"{'version':1,'messages':[{'role':'model','blocks':[]}]}", "messages[0].role",
     "'role' must be user, assistant, system or tool"},
    {"{'version':1,'messages':[{'role':'user'}]}", "messages[0].blocks", "'blocks' is missing"},
    {"{'version':1,'messages':[{'role':'user','blocks':[],'content':1}]}", "messages[0]",
     "'content' is unknown here"},
    {IN_BLOCK("[]"), "messages[1].blocks[0]", "a block must be an object, not array"},
    {IN_BLOCK("{'type':''}"), AT("type"), "'type' is empty"},
    {IN_BLOCK("{'type':'text','text':'x','meta':[]}"), AT("meta"),
     "'meta' must be an object, not array"},
    {IN_BLOCK("{'type':'text'}"), AT("text"), "'text' is missing"},
    {IN_BLOCK("{'type':'text','text':null}"), AT("text"), "'text' is missing"},
    {IN_BLOCK("{'type':'thinking','text':'x','signature':1}"), AT("signature"),
     "'signature' must be a text, not integer"},
    {IN_BLOCK("{'type':'image','blob':'ab'}"), AT("blob"),
     "'blob' must be the SHA-256 of a blob: 64 lower-case digits"},
    {IN_BLOCK("{'type':'image','blob':'" ID64 "','size':-1}"), AT("size"),
     "'size' must be a number of bytes, 1099511627776 at most"},
    {IN_BLOCK("{'type':'document'}"), AT("blob"), "a document must have a 'blob' or a 'text'"},
    {IN_BLOCK("{'type':'tool_use','callId':'','name':'x','args':{}}"), AT("callId"),
     "'callId' is empty"},
    {IN_BLOCK("{'type':'tool_use','callId':'a','name':'x','args':[]}"), AT("args"),
     "'args' must be an object, not array"},
    {IN_BLOCK("{'type':'tool_result','callId':'a'}"), AT("content"), "'content' is missing"},
    {IN_BLOCK("{'type':'tool_result','callId':'a','content':[{'type':'text','text':1}]}"),
     AT("content[0].text"), "'text' must be a text, not integer"},
    {IN_BLOCK("{'type':'tool_result','callId':'a','content':[{'type':'tool_use'}]}"),
     AT("content[0].type"), "a tool_use cannot stand in a tool_result"},
    {IN_BLOCK("{'type':'role:transition'}"), AT("to"), "'to' is missing"},
    {"{'version':1,'tools':[{'name':'x'}]}", "tools[0].inputSchema", "'inputSchema' is missing"},
    {"{'version':1,'tools':[{'name':'x','inputSchema':{},'title':1}]}", "tools[0]",
     "'title' is unknown here"},
    {"{'version':1,'system':[{'type':'image','text':''}]}", "system[0].type",
     "a part of the system text must have the type 'text'"},
    {"{'version':1,'params':{'temperature':3}}", "params.temperature",
     "'temperature' must be a number from 0 to 2"},
    {"{'version':1,'params':{'maxTokens':0}}", "params.maxTokens",
     "'maxTokens' must be a number from 1 to 2147483647"},
    {"{'version':1,'params':{'stop':['']}}", "params.stop[0]",
     "the text that ends an answer must not be empty"},
    {"{'version':1,'params':{'toolChoice':'all'}}", "params.toolChoice",
     "'toolChoice' must be auto, none, any, or an object with a name"},
    {"{'version':1,'params':{'top_k':1}}", "params", "'top_k' is unknown here"},
    {"{'version':1,'sections':{'context':-1}}", "sections.context",
     "'context' must be a number of messages, 0 at most"},
};

TEST(neutral, what_is_wrong_is_told_with_its_place)
{
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        VLS_AUTO(arena) vls_arena arena = {.env = NULL};
        vls_neutral prompt = {.context = 77};
        vls_arena_init(&arena, t->env, 1 << 24);
        test_context("%s", bad[i].text);
        CHECK_RC(VALISE_E_INVALID,
                 vls_neutral_read(&prompt, &arena, valise_str_of(quoted(bad[i].text)), &t->err));
        CHECK_TEXT(bad[i].path, t->err.path);
        CHECK_TEXT(bad[i].message, t->err.message);
        CHECK_INT(77, prompt.context);
        t->err = (valise_error)VALISE_ERROR_INIT;
        test_context_end();
    }
}

TEST(neutral, what_is_right_is_read)
{
    for (size_t i = 0; i < VLS_COUNT(good); i++) {
        VLS_AUTO(arena) vls_arena arena = {.env = NULL};
        vls_neutral prompt = {.context = 0};
        vls_arena_init(&arena, t->env, 1 << 24);
        CHECK_OK(vls_neutral_read(&prompt, &arena, valise_str_of(quoted(good[i])), &t->err));
        CHECK_INT(VLS_JSON_OBJECT, prompt.params.type);
        CHECK_INT(VLS_JSON_ARRAY, prompt.messages.type);
        CHECK_INT(i == 2 ? 1 : 0, prompt.context);
        CHECK_INT(i == 2 ? 0 : prompt.messages.len, prompt.history);
    }
}

TEST(neutral, there_are_limits)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    vls_neutral prompt = {.context = 0};

    vls_arena_init(&arena, t->env, (size_t)1 << 28);
    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    vls_buf_add_text(
        &text, "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{\"type\":\"o\"}");
    for (int i = 0; i < 4096; i++)
        vls_buf_add_text(&text, ",{\"type\":\"o\"}");
    vls_buf_add_text(&text, "]}]}");
    CHECK_RC(VALISE_E_LIMIT, vls_neutral_read(&prompt, &arena, vls_buf_str(&text), &t->err));
    CHECK_TEXT("messages[0].blocks", t->err.path);
    t->err = (valise_error)VALISE_ERROR_INIT;
    vls_buf_clear(&text);
    vls_buf_add_text(&text, "{\"version\":1,\"tools\":[0");
    for (int i = 0; i < 4096; i++)
        vls_buf_add_text(&text, ",0");
    vls_buf_add_text(&text, "]}");
    CHECK_RC(VALISE_E_LIMIT, vls_neutral_read(&prompt, &arena, vls_buf_str(&text), &t->err));
    CHECK_TEXT("tools", t->err.path);
}

/* Arguments may be as deep as any value. [P6] */
TEST(neutral, arguments_may_be_as_deep_as_values_are)
{
    for (int depth = 255; depth <= 300; depth += 45) {
        VLS_AUTO(arena) vls_arena arena = {.env = NULL};
        VLS_AUTO(buf) vls_buf text = {.env = NULL};
        vls_neutral prompt = {.context = 0};
        vls_arena_init(&arena, t->env, (size_t)1 << 24);
        vls_buf_init(&text, t->env, 1 << 20);
        vls_buf_add_text(&text,
                         "{\"version\":1,\"messages\":[{\"role\":\"assistant\",\"blocks\":[{"
                         "\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"n\",\"args\":{\"a\":");
        for (int i = 0; i < depth; i++)
            vls_buf_add_byte(&text, '[');
        for (int i = 0; i < depth; i++)
            vls_buf_add_byte(&text, ']');
        vls_buf_add_text(&text, "}}]}]}");
        CHECK_RC(depth == 255 ? 0 : VALISE_E_LIMIT,
                 vls_neutral_read(&prompt, &arena, vls_buf_str(&text), &t->err));
        t->err = (valise_error)VALISE_ERROR_INIT;
    }
}

/* ---- the schema ---- */

typedef struct schema_bed {
    vls_arena arena;
    vls_schema *schema;
} schema_bed;

static void schema_bed_open(schema_bed *bed, test *t)
{
    valise_str text =
        test_read_file(test_format("%s/docs/prompt.schema.json", getenv("VALISE_SOURCE_ROOT")));
    vls_json value = vls_json_null();

    *bed = (schema_bed){.schema = NULL};
    vls_arena_init(&bed->arena, t->env, (size_t)1 << 26);
    CHECK_OK(vls_json_parse(&value, &bed->arena, text, NULL, &t->err));
    CHECK_OK(vls_schema_compile(&bed->schema, t->env, value, NULL, &t->err));
}

static void schema_bed_close(schema_bed *bed)
{
    vls_schema_free(bed->schema);
    vls_arena_release(&bed->arena);
}

/* Both say the same. Sections count messages, which no schema can. */
static bool check_verdicts(test *t, const schema_bed *bed, vls_json all)
{
    vls_neutral prompt = {.context = 0};
    valise_error by_code = VALISE_ERROR_INIT, by_schema = VALISE_ERROR_INIT;
    int code = vls_neutral_of(&prompt, all, &by_code);
    int schema = vls_schema_check(bed->schema, all, NULL, &by_schema);

    if (code < 0 && schema == 0 && strncmp(by_code.path, "sections.", 9) == 0)
        return false;
    CHECK_MSG((code == 0) == (schema == 0), "code: %s: %s; schema: %s", by_code.path,
              by_code.message, by_schema.message);
    (void)t;
    return code == 0;
}

TEST(neutral, the_schema_says_the_same)
{
    schema_bed bed;
    vls_json all = vls_json_null();

    schema_bed_open(&bed, t);
    for (size_t i = 0; i < VLS_COUNT(good); i++) {
        CHECK_OK(vls_json_parse(&all, &bed.arena, valise_str_of(quoted(good[i])), NULL, &t->err));
        CHECK(check_verdicts(t, &bed, all));
    }
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("%s", bad[i].text);
        CHECK_OK(
            vls_json_parse(&all, &bed.arena, valise_str_of(quoted(bad[i].text)), NULL, &t->err));
        CHECK(!check_verdicts(t, &bed, all));
        test_context_end();
    }
    schema_bed_close(&bed);
}

/* The same text with its n-th value replaced, or left out of its object. */
typedef struct swapping {
    vls_buf *out;
    uint64_t left;
    const char *by; /* NULL: left out */
} swapping;

static void write_swapped(swapping *s, vls_json v)
{
    bool first = true;

    if (s->left-- == 0) {
        vls_buf_add_text(s->out, s->by ? s->by : "null");
        return;
    }
    if (v.type != VLS_JSON_ARRAY && v.type != VLS_JSON_OBJECT) {
        CHECK_INT(0, vls_json_write(s->out, v, NULL));
        return;
    }
    vls_buf_add_byte(s->out, v.type == VLS_JSON_ARRAY ? '[' : '{');
    for (uint32_t i = 0; i < v.len; i++) {
        if (v.type == VLS_JSON_OBJECT && s->left == 0 && !s->by) {
            s->left--;
            continue;
        }
        if (!first)
            vls_buf_add_byte(s->out, ',');
        first = false;
        if (v.type == VLS_JSON_OBJECT) {
            vls_json_write_string(s->out, vls_json_str(v.members[i].key));
            vls_buf_add_byte(s->out, ':');
        }
        write_swapped(s, v.type == VLS_JSON_ARRAY ? v.items[i] : v.members[i].value);
    }
    vls_buf_add_byte(s->out, v.type == VLS_JSON_ARRAY ? ']' : '}');
}

TEST(neutral, the_schema_says_the_same_of_whatever_is_changed)
{
    static const char *const by[] = {"null",
                                     "true",
                                     "7",
                                     "-1",
                                     "1.5",
                                     "\"\"",
                                     "\"x\"",
                                     "[]",
                                     "{}",
                                     "[{}]",
                                     "{\"name\":\"x\"}",
                                     "\"text\"",
                                     "\"document\"",
                                     "\"tool_result\"",
                                     NULL};
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    schema_bed bed;
    vls_json all = vls_json_null(), swapped = vls_json_null();
    int tried = 0, kept = 0;

    schema_bed_open(&bed, t);
    vls_buf_init(&text, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(good); i++) {
        CHECK_OK(vls_json_parse(&all, &bed.arena, valise_str_of(quoted(good[i])), NULL, &t->err));
        for (uint64_t node = 0, more = 1; more; node++) {
            for (size_t j = 0; j < VLS_COUNT(by); j++) {
                VLS_AUTO(arena) vls_arena arena = {.env = NULL};
                swapping s = {&text, node, by[j]};
                vls_arena_init(&arena, t->env, 1 << 24);
                vls_buf_clear(&text);
                write_swapped(&s, all);
                more = s.left > node; /* it went below zero: the node was there */
                if (!more)
                    break;
                test_context("%s", vls_buf_cstr(&text));
                CHECK_OK(vls_json_parse(&swapped, &arena, vls_buf_str(&text), NULL, &t->err));
                kept += check_verdicts(t, &bed, swapped);
                tried++;
                test_context_end();
            }
        }
    }
    CHECK(tried > 1000 && kept > 100 && kept < tried);
    schema_bed_close(&bed);
}
