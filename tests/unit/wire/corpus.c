/* corpus.c -- the conversations of tests/data/prompts (corpus.h). */
#include "wire/corpus.h"

#include <dirent.h>
#include <stdlib.h>

#define FOLDER "tests/data/prompts"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const conversation *)a)->name, ((const conversation *)b)->name);
}

static void add(corpus *c, const char *folder, const char *file)
{
    size_t len = strlen(file) - strlen(".json");
    const char *name = test_format("%.*s", (int)len, file);
    const char *dot = strchr(name, '.');

    CHECK(c->count < VLS_COUNT(c->all));
    c->all[c->count++] = (conversation){name, test_read_file(test_format("%s/%s", folder, file)),
                                        dot ? dot + 1 : NULL};
    if (dot)
        CHECK_MSG(vls_adapter_find(valise_str_of(dot + 1)), "%s is for no adapter", file);
}

const corpus *corpus_of(test *t)
{
    const char *folder = test_format("%s/" FOLDER, getenv("VALISE_SOURCE_ROOT"));
    corpus *c = test_alloc(sizeof(*c));
    DIR *dir = opendir(folder);

    (void)t;
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t len = strlen(e->d_name);
        if (len > 5 && strcmp(e->d_name + len - 5, ".json") == 0)
            add(c, folder, e->d_name);
    }
    closedir(dir);
    qsort(c->all, c->count, sizeof(c->all[0]), by_name);
    return c;
}

bool is_for(const conversation *c, const vls_adapter *adapter)
{
    return !c->only || strcmp(c->only, adapter->name) == 0;
}

const char *const *models_of(const vls_adapter *adapter)
{
    static const struct {
        const vls_adapter *adapter;
        const char *models[6];
    } all[] = {
        {&vls_adapter_openai, {"gpt-5", "gpt-4o", "gpt-5-chat-latest"}},
        {&vls_adapter_responses, {"gpt-5", "gpt-4.1"}},
        {&vls_adapter_mistral, {"magistral-medium-latest", "mistral-large-latest"}},
        {&vls_adapter_compatible, {"qwen3", "", "deepseek-v4-pro"}},
        {&vls_adapter_anthropic,
         {"claude-opus-5", "claude-sonnet-4-5", "claude-opus-4-6", "other-1"}},
        {&vls_adapter_gemini, {"gemini-3-pro", "gemini-2.5-flash"}},
        {&vls_adapter_bedrock,
         {"us.anthropic.claude-opus-4-8", "anthropic.claude-3-haiku-20240307-v1:0",
          "amazon.nova-pro-v1:0", "meta.llama3-3-70b-instruct-v1:0"}},
    };

    for (size_t i = 0; i < VLS_COUNT(all); i++) {
        if (all[i].adapter == adapter)
            return all[i].models;
    }
    CHECK_MSG(false, "%s has no model in tests/unit/wire/corpus.c", adapter->name);
    return NULL;
}
