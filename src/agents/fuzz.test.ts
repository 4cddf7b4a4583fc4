import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type TemporaryProject, temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { checkToolNames } from './definition/tool-names.ts';
import { loadAgent, type Origin } from './file/load.ts';
import { checkGraph } from './graph.ts';
import { formatDiagnostic, isError } from './text/diagnostics.ts';

let project: TemporaryProject;
let path: string;

beforeAll(async () => {
  project = await temporaryProject({ 'agents/part.md': 'part', 'agents/round.md': `\${include:round.md}` });
  path = join(project.root, 'agents/a.md');
});
afterAll(() => project[Symbol.asyncDispose]());

/** Whatever is in the file: an agent, or errors that point into it and can be printed; it neither throws nor hangs. */
async function survives(content: string | Uint8Array, origin: Origin): Promise<void> {
  await writeFile(path, content);
  const result = await loadAgent({ path, root: project.root, origin });
  const said = result.ok ? [...result.value.diagnostics] : [...result.error];
  if (result.ok) {
    expect(said.some(isError)).toBe(false);
    said.push(...checkToolNames(result.value.definition, result.value.placeOf, { servers: [] }), ...checkGraph([result.value]));
  } else expect(said.some(isError)).toBe(true);
  const lines = (typeof content === 'string' ? content : Buffer.from(content).toString()).split('\n').length;
  for (const one of said) {
    expect(one.line).toBeGreaterThanOrEqual(1);
    expect(one.column).toBeGreaterThanOrEqual(1);
    if (one.file === 'agents/a.md') expect(one.line).toBeLessThanOrEqual(lines);
    expect(formatDiagnostic(one)).toMatch(/^[^\p{Cc}]+:\d+:\d+: (error|warning): [^\p{Cc}]+(\n {2}fix: [^\p{Cc}]+)?$/u);
  }
}

const origins = fc.constantFrom<Origin>('project', 'claude', 'opencode');

const VALID = `---
name: sorter
description: "Sorts: all"
model: [a/b, c/d]
tools: [read, "mcp:x/y"]
mcp: { x: { command: run, args: [a] } }
permissions: { shell: ask, bash: { "*": deny } }
advisors: &list [one, two]
agents: *list
router: { destinations: [three] }
handoff: { to: four, include: request }
output: { format: json, schema: { type: object, properties: { a: { type: string } } } }
budget: { usd: 1, wall: 5m }
llmTimeout: 90s
temperature: 0.5
---
Today is \${DATE}. \${include:part.md} \${include:round.md} $\${X} \${UNKNOWN}
`;

/** What tends to upset parsers of YAML, of frontmatter and of prompts. */
const NASTY = [
  ...[
    '---',
    '...',
    '\n---\n',
    '\n',
    '\r\n',
    '\r',
    '\t',
    ' ',
    ': ',
    ':',
    '- ',
    '? ',
    '#',
    '*',
    '&a ',
    '*a',
    '!!',
    '!x ',
    '|',
    '>',
    '|2-',
    '%YAML 9.9\n',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '\\',
    '<<: ',
    '~',
    'null',
    '0x',
    '1e999',
    '.nan',
    '-0',
    '__proto__: 1\n',
    'constructor: {}\n',
    'toString',
  ],
  ...[
    '${',
    '}',
    '$${',
    '${include:',
    '../',
    '\u0000',
    '\u001b[2J',
    '\ufeff',
    '\u2028',
    '\u202e',
    '\ud800',
    '😀',
    'e\u0301',
    'a'.repeat(300),
  ],
];

const mutated = fc
  .array(
    fc.record({ at: fc.nat(VALID.length), remove: fc.nat(12), insert: fc.array(fc.constantFrom(...NASTY), { maxLength: 4 }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((changes) =>
    changes.reduce((text, { at, remove, insert }) => text.slice(0, at) + insert.join('') + text.slice(at + remove), VALID),
  );

describe('any file', () => {
  it('of arbitrary bytes is survived', async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), origins, survives), { numRuns: 300 });
  });

  it('with arbitrary frontmatter is survived', async () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...NASTY), fc.constantFrom('name', 'tools', 'team', 'a')), { maxLength: 60 });
    const files = text.map((parts) => `---\n${parts.join('')}\n---\n${parts.join('')}`);
    await fc.assert(fc.asyncProperty(files, origins, survives), { numRuns: 500 });
  });

  it('that was right before somebody touched it is survived', async () => {
    await survives(VALID, 'project');
    await fc.assert(fc.asyncProperty(mutated, origins, survives), { numRuns: 500 });
  });
});

describe('what is printed as YAML', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => text.normalize('NFC'));
  const list = fc.uniqueArray(word, { minLength: 1, maxLength: 5 });
  const keys = fc.record(
    {
      description: fc.string({ unit: 'grapheme', maxLength: 200 }),
      model: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
      tools: list,
      agents: list,
      advisors: list,
      tags: list,
      examples: list,
      team: fc.record({ members: list, memberMaxTurns: fc.integer({ min: 1, max: 99 }) }),
      chat: fc.boolean(),
      maxTurns: fc.integer({ min: 1, max: 1_000 }),
      temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      permissions: fc.dictionary(word, fc.constantFrom('allow', 'ask', 'deny'), { noNullPrototype: true }),
    },
    { requiredKeys: [] },
  );

  it('is read back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(keys, async (frontmatter) => {
        await writeFile(path, `---\n${stringify(frontmatter)}---\nPrompt`);
        const result = await loadAgent({ path, root: project.root });
        if (!result.ok) {
          // A generated list may happen to name the agent itself.
          expect(result.error.map(({ message }) => message).join()).toMatch(/names itself/);
          return;
        }
        const { model, ...rest } = frontmatter;
        expect(result.value.definition).toEqual({
          ...rest,
          models: model ?? [],
          name: 'a',
          prompt: 'Prompt',
          source: 'agents/a.md',
        });
      }),
      { numRuns: 300 },
    );
  });
});
