// types.mjs -- golden requests as TypeScript, for the type checker. [P5]
//
//     node types.mjs GOLDEN-FOLDER OUT-FOLDER
//
// Writes OUT-FOLDER/ADAPTER.ts: every golden request as `const x: T = {...}`, so that the compiler looks for
// members that are missing, wrong or too many. T is the vendor's own type of the request. Where an SDK has
// other types than its wire:
//
//   enums      of Google and Amazon are strings on the wire: Wire<T> makes them so
//   bytes      Uint8Array is base64 on the wire: a string in Wire<T>
//   Mistral    $Outbound is the type of the wire, in snake_case, with all defaults: Loose<T> takes these off
//   Gemini     the SDK's request is another one: the parts of the body have the SDK's types
//   Bedrock    the model stands in the URL: ConverseCommandInput without it
//   compatible what OpenAI's own API takes, but that the model may be left out
//
// Requests that must not pass stand behind them: without these nobody would see that nothing is looked at.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const wire = `
type Wire<T> = T extends Uint8Array ? string
  : T extends string ? \`\${T}\`
  : T extends (infer U)[] ? Wire<U>[]
  : T extends object ? { [K in keyof T]: Wire<T[K]> }
  : T;
`;
const openai = "import type OpenAI from 'openai';\n";
const gemini = `import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai';
${wire}
type Request = Wire<{ contents: Content[]; generationConfig?: GenerationConfig; systemInstruction?: { parts: Content['parts'] };
  toolConfig?: ToolConfig; tools?: Tool[] }>;
`;
const types = {
  anthropic: "import type Anthropic from '@anthropic-ai/sdk';\n" +
    'type Request = Anthropic.MessageCreateParamsNonStreaming;\n',
  bedrock: "import type { ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';\n" + wire +
    "type Request = Wire<Omit<ConverseCommandInput, 'modelId'>>;\n",
  compatible: openai +
    "type Full = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;\n" +
    "type Request = Omit<Full, 'model'> & { model?: string };\n",
  gemini,
  mistral: "import type { ChatCompletionRequest$Outbound } from '@mistralai/mistralai/models/components';\n" +
    // What has a default is there always when the SDK writes: on the wire it may be left out.
    `type Default = 'closed' | 'index' | 'prefix' | 'safe_prompt' | 'stream' | 'strict' | 'type';
type Loose<T> = T extends (infer U)[] ? Loose<U>[]
  : T extends object ? { [K in keyof T as K extends Default ? never : K]: Loose<T[K]> } &
      { [K in keyof T as K extends Default ? K : never]?: Loose<T[K]> }
  : T;
type Request = Loose<ChatCompletionRequest$Outbound>;
`,
  openai: openai + 'type Request = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;\n',
  'openai-responses': openai + 'type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming;\n',
};

// For each a member that nobody knows, one of a wrong type, and one that is missing.
const user = '{ role: "user", content: "a" }';
const wrong = {
  anthropic: [`{ model: "m", max_tokens: 1, messages: [${user}], colour: 1 }`, `{ model: "m", messages: [${user}] }`,
    '{ model: "m", max_tokens: 1, messages: [{ role: "tool", content: "a" }] }'],
  bedrock: ['{ messages: [{ role: "user", content: [{ text: 1 }] }] }', '{ messages: [{ role: "tool", content: [] }] }',
    '{ messages: [], colour: 1 }'],
  compatible: ['{ messages: [{ role: "tool", content: "a" }] }', '{ messages: 3 }', '{ messages: [], colour: 1 }'],
  gemini: ['{ contents: [{ role: "user", parts: [{ text: 1 }] }] }', '{ contents: [], colour: 1 }',
    '{ contents: [], toolConfig: { functionCallingConfig: { mode: "SOME" } } }'],
  mistral: [`{ model: "m", messages: [${user}], colour: 1 }`, '{ messages: [] }',
    '{ model: "m", messages: [{ role: "user", content: [{ type: "text", text: 1 }] }] }'],
  openai: [`{ model: "m", messages: [${user}], colour: 1 }`, '{ messages: [] }',
    '{ model: "m", messages: [{ role: "tool", content: "a" }] }'],
  'openai-responses': ['{ model: "m", input: [{ type: "function_call", name: "a" }] }', '{ model: "m", colour: 1 }',
    '{ model: "m", input: [{ role: "user", content: [{ type: "input_image" }] }] }'],
};

const [from, to] = process.argv.slice(2);
for (const file of readdirSync(from).filter((name) => name.endsWith('.txt'))) {
  const adapter = basename(file, '.txt');
  if (!types[adapter])
    throw new Error(`${adapter} has no type in types.mjs`);
  let out = types[adapter], name = '', count = 0;
  for (const line of readFileSync(join(from, file), 'utf8').split('\n')) {
    if (line.startsWith('== '))
      name = line.slice(3);
    if (!line.startsWith('{'))
      continue;
    out += `// ${name}\nconst x${++count}: Request = ${line.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')};\n`;
  }
  wrong[adapter].forEach((request, i) => {
    out += `// @ts-expect-error\nconst wrong${i}: Request = ${request};\n`;
  });
  out += 'export {};\n';
  writeFileSync(join(to, `${adapter}.ts`), out);
  console.log(`${adapter} ${count}`);
}
