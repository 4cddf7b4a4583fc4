import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { start } from '../../test/conformance/engine/checks.ts';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { agent, calls, createWorld, says, turnOf } from '../../test/support/world.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { textResult } from '../tools/port.ts';
import { createRuleBook, withRuleBook } from './rule-book.ts';

it('keeps rules for one project, and every process sees them', async () => {
  await using project = await temporaryProject();
  const env = { HOME: project.root };
  const [here, there, other] = [createRuleBook('/a', env), createRuleBook('/a', env), createRuleBook('/b', env)];
  expect(here.rules()).toEqual([]);
  const rules = [{ tool: 'shell', pattern: '= a  b\nc' }, { tool: 'x__y' }];
  for (const rule of rules) expect(await here.add(rule)).toEqual({ ok: true, value: undefined });
  for (const rule of rules) {
    expect(here.rules()).toContainEqual(rule);
    expect(there.rules()).toContainEqual(rule);
  }
  expect(other.rules()).toEqual([]);
  await there.remove({ tool: 'x__y' });
  expect(here.rules()).toEqual([rules[0]]);
});

it('believes no file that is not for this project', async () => {
  await using project = await temporaryProject();
  const book = createRuleBook('/a', { HOME: project.root });
  await book.add({ tool: 'shell', pattern: 'npm test' });
  for (const [index, text] of [
    '',
    '{',
    '[]',
    '{"tool":"shell"}',
    '{"project":"/b","tool":"shell"}',
    '{"project":"/a","tool":7}',
  ].entries())
    writeFileSync(join(book.folder, `${index}.json`), text);
  expect(readdirSync(book.folder)).toHaveLength(7);
  expect(book.rules()).toEqual([{ tool: 'shell', pattern: 'npm test' }]);
});

it('is written by an answer for the whole project, and by no other', async () => {
  await using project = await temporaryProject();
  const book = createRuleBook(project.root, { HOME: project.root });
  const ran: string[] = [];
  const shell = {
    ...{ name: 'shell', description: '', inputSchema: { type: 'object' }, replay: 'never' as const },
    run: async (input: Json) => textResult(String(ran.push(JSON.stringify(input)))),
  };
  const world = createWorld({
    agents: [agent({ tools: ['shell'], permissions: { shell: 'ask' } })],
    tools: [shell],
    brain: (request) => {
      const command = ['npm test', 'npm run lint'][turnOf(request) - 1];
      return command === undefined ? says('Done.') : calls({ name: 'shell', input: { command } });
    },
  });
  const engine = withRuleBook(world.engine, book);
  try {
    let handle = await start(world, { workspace: project.root });
    for (const scope of [undefined, 'project'] as const) {
      const end = await handle.done;
      if (end.kind !== 'waiting') throw new Error(end.kind);
      for (const { run, wait } of end.waits)
        await engine.answer(run, wait, { kind: 'approved', whole: true, remember: true, ...present({ scope }) });
      const resumed = await engine.resume(handle.run);
      if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
      handle = resumed.handle;
    }
    await handle.done;
    expect(ran).toHaveLength(2);
    expect(book.rules()).toEqual([{ tool: 'shell', pattern: 'npm run lint' }]);
  } finally {
    await engine.close();
  }
});

it.each([
  ['an answer that does not count', undefined, { shown: '0'.repeat(64) }, 'other'],
  ['an approval of what is protected', 'agents' as const, {}, 'accepted'],
])('is not written by %s', async (_name, protection, answering, outcome) => {
  await using project = await temporaryProject();
  const book = createRuleBook(project.root, { HOME: project.root });
  const write = {
    ...{ name: 'write', description: '', inputSchema: { type: 'object' }, replay: 'never' as const },
    protects: async () => protection,
    target: async () => 'agents/a.md',
    run: async () => textResult('done'),
  };
  const world = createWorld({
    agents: [agent({ tools: ['write'], permissions: { write: protection === undefined ? 'ask' : 'allow' } })],
    tools: [write],
    engineOptions: { opening: () => 'ask' },
    brain: (request) => (turnOf(request) === 1 ? calls({ name: 'write', input: { path: 'agents/a.md' } }) : says('Done.')),
  });
  const engine = withRuleBook(world.engine, book);
  try {
    const end = await (await start(world, { workspace: project.root })).done;
    const [wait] = end.kind === 'waiting' ? end.waits : [];
    if (wait?.kind !== 'permission') throw new Error(end.kind);
    expect(wait.rule).toBe(protection === undefined ? 'write agents/a.md' : 'protected:agents agents/a.md');
    const always = { kind: 'approved', whole: true, remember: true, scope: 'project' } as const;
    expect(await engine.answer(wait.run, wait.wait, always, answering)).toMatchObject({ kind: outcome });
    expect(book.rules()).toEqual([]);
  } finally {
    await engine.close();
  }
});

it('takes no more rules than there may be, and says so', async () => {
  await using project = await temporaryProject();
  const book = createRuleBook('/a', { HOME: project.root });
  await book.add({ tool: 'first' });
  for (let index = 1; index < limits.rememberedRules; index += 1) writeFileSync(join(book.folder, `${index}.json`), '{}');
  expect(await book.add({ tool: 'one more' })).toEqual({ ok: false, error: expect.stringContaining('rememberedRules') });
  expect(book.rules()).toEqual([{ tool: 'first' }]);
});
