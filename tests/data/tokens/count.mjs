// count.mjs -- print the table of true counts: node tests/data/tokens/count.mjs > tests/data/tokens/counts
//
// The truth is o200k_base as gpt-tokenizer 4.0.0 has it. Install that outside of the repository and name the
// folder:
//
//     mkdir /tmp/count && cd /tmp/count && npm i gpt-tokenizer@4.0.0
//     TOKENIZER=/tmp/count node .../tests/data/tokens/count.mjs
//
// A line is a file, an offset and a length in bytes, and how many tokens that part of the file has: the whole
// file first, then windows of 50 to 2,000 bytes that split no character. The same windows every time.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const installed = createRequire(path.join(path.resolve(process.env.TOKENIZER ?? "."), "package.json"));
const { encode } = installed("gpt-tokenizer/encoding/o200k_base");
const windows = 40;
let dice = 16;

function below(limit) {
  dice = (Math.imul(dice, 1103515245) + 12345) >>> 0;
  return Math.floor(((dice >>> 8) / 2 ** 24) * limit);
}

function row(name, bytes, from, to) {
  const text = bytes.subarray(from, to).toString("utf8");
  const tokens = encode(text, { disallowedSpecial: new Set() }).length;
  console.log(`${name} ${from} ${to - from} ${tokens}`);
}

const inside = (byte) => (byte & 0xc0) === 0x80;
const names = fs.readdirSync(here).filter((name) => !name.includes(".") && name !== "counts");
for (const name of names.sort()) {
  const bytes = fs.readFileSync(path.join(here, name));
  row(name, bytes, 0, bytes.length);
  for (let i = 0; i < windows; i++) {
    // as many of 50 to 100 bytes as of 1,000 to 2,000
    const length = Math.min(Math.round(50 * 40 ** (below(1000) / 1000)), bytes.length);
    let from = below(bytes.length - length + 1);
    while (from > 0 && inside(bytes[from])) from--;
    let to = from + length;
    while (to < bytes.length && inside(bytes[to])) to++;
    row(name, bytes, from, to);
  }
}
