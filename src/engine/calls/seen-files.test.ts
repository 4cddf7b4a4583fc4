/** What an agent has seen of files is remembered, by turn, over crashes and from prompt to prompt. Agents undo nothing. */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start } from '../../../test/conformance/engine/checks.ts';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { agent, calls, createWorld, reports, says, turnOf, type World, type WorldOptions } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { ModelRequest } from '../../models/port.ts';
import { createBuiltIns } from '../../tools/built-ins.ts';
import { readAll } from '../record/read-all.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'troupe-seen-')));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});
const kept = closedAfterwards();

const builtIns = [...createBuiltIns({ clock: systemClock, random: systemRandom, environment: process.env }).values()].map(
  (make) => make(),
);
const tools = ['read', 'write', 'edit', 'ask'];
const reads = { name: 'read', input: { path: 'a.txt' } };
const reading = (offset: number, limit: number) => ({ name: 'read', input: { path: 'a.txt', offset, limit } });
const writes = (content: string) => ({ name: 'write', input: { path: 'a.txt', content } });
const edits = (old: string, fresh: string) => ({ name: 'edit', input: { path: 'a.txt', old, new: fresh } });

function createdWorld(options: WorldOptions): World {
  return kept(createWorld({ agents: [agent({ tools, permissions: {} })], tools: builtIns, ...options }));
}

const put = (text: string) => writeFile(join(folder, 'a.txt'), text);
const held = () => readFile(join(folder, 'a.txt'), 'utf8');

/** The text of the last tool result that the model was given. */
function told(request: ModelRequest): string {
  const last = request.messages.findLast((message) => message.role === 'tool');
  const part = last?.role === 'tool' ? last.content.at(-1) : undefined;
  return (part?.content ?? []).map((one) => (one.type === 'text' ? one.text : '')).join('');
}

describe('one agent', () => {
  it('cannot write over what it has not read, nor over what has changed since; having read it again, it can', async () => {
    await put('one');
    const heard: string[] = [];
    const world = createdWorld({
      brain: async (request) => {
        heard.push(told(request));
        switch (turnOf(request)) {
          case 1:
            return calls(writes('blind'));
          case 2:
            return calls(reads);
          case 3:
            await put('by another');
            return calls(writes('late'));
          case 4:
            return calls(reads);
          case 5:
            return calls(writes('in time'));
          default:
            return says('Done.');
        }
      },
    });
    await resultOf(await start(world, { workspace: folder }));
    expect(heard[1]).toContain('you have not read it');
    expect(heard[3]).toContain('was changed since you read it');
    expect(heard[5]).toContain('Replaced a.txt');
    expect(await held()).toBe('in time');
  });

  it('does not go by what it reads in the same turn: it decided before it saw that', async () => {
    await put('one');
    const heard: string[] = [];
    const world = createdWorld({
      brain: async (request) => {
        heard.push(told(request));
        if (turnOf(request) === 1) return calls(reads);
        if (turnOf(request) === 2) await put('by another');
        return turnOf(request) === 2 ? calls(reads, writes('late')) : says('Done.');
      },
    });
    await resultOf(await start(world, { workspace: folder }));
    expect(heard[2]).toContain('was changed since you read it');
    expect(await held()).toBe('by another');
  });

  it.each([
    // What is read, then written: the answer to the write, and what the file holds.
    ['a part', [reading(1, 5)], 'you have not seen line 6'],
    ['parts that leave a gap', [reading(1, 5), reading(7, 20)], 'you have not seen line 6'],
    ['the end', [reading(11, 20)], 'you have not seen line 1'],
    ['nothing of it', [reading(100, 5)], 'you have not seen line 1'],
    ['a part, and a piece edited', [reading(1, 5), edits('line 3\n', 'line three\n')], 'you have not seen line 1;'],
    ['nothing, and a piece edited', [edits('line 3\n', 'line three\n')], 'you have not seen line 1;'],
    ['a part, and an edit that changes nothing', [reading(1, 5), edits('line 3', 'line 3')], 'you have not seen line 6'],
    ['all, then a part', [reads, reading(1, 5)], 'Replaced a.txt'],
    ['all in parts', [reading(11, 20), reading(1, 5), reading(4, 9)], 'Replaced a.txt'],
    ['all, and a piece edited', [reads, edits('line 3\n', 'line three\n')], 'Replaced a.txt'],
  ])('that has read %s does not lose the rest by a write', async (_what, before, answer) => {
    await put(Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join(''));
    const heard: string[] = [];
    const world = createdWorld({
      brain: (request) => {
        heard.push(told(request));
        const call = [...before, writes('short')][turnOf(request) - 1];
        return call === undefined ? says('Done.') : calls(call);
      },
    });
    await resultOf(await start(world, { workspace: folder }));
    expect(heard.at(-1)).toContain(answer);
    expect((await held()) === 'short').toBe(answer.startsWith('Replaced'));
  });

  it('whose result was cut has seen what stands before the gap; a line that is too long is never seen whole', async () => {
    await put(`${Array.from({ length: 400 }, (_, index) => `line ${index + 1} ${'x'.repeat(60)}\n`).join('')}`);
    await writeFile(join(folder, 'long.txt'), `one\n${'x'.repeat(5_000)}\n`);
    const heard: string[] = [];
    const long = { name: 'write', input: { path: 'long.txt', content: 'short' } };
    const rest = (line: number) => [0, 1, 2].map((step) => reading(line + step * 120, 120));
    const unseen = () => Number(/not seen line (\d+);/.exec(heard.find((text) => text.includes('a.txt has')) ?? '')?.[1]);
    const world = createdWorld({
      brain: (request) => {
        heard.push(told(request));
        if (turnOf(request) === 1) return calls(reads, { name: 'read', input: { path: 'long.txt' } });
        if (turnOf(request) === 2) return calls(long);
        if (turnOf(request) === 3) return calls(writes('short'));
        if (turnOf(request) === 4) return calls(...rest(unseen()));
        return turnOf(request) === 5 ? calls(writes('short')) : says('Done.');
      },
    });
    await resultOf(await start(world, { workspace: folder }));
    expect(heard[2]).toContain('long.txt has 2 lines and you have not seen line 2; nothing was changed. It is too long');
    expect(unseen()).toBeGreaterThan(20);
    expect(unseen()).toBeLessThan(200);
    expect(heard.at(-1)).toContain('Replaced a.txt');
  });

  it('remembers over the end of a process, and from one prompt to the next', async () => {
    await put('one');
    const path = join(folder, 'ledger.db');
    const heard: string[] = [];
    const brain: WorldOptions['brain'] = async (request) => {
      heard.push(told(request));
      switch (turnOf(request)) {
        case 1:
          return calls(reads);
        case 2:
          return calls({ name: 'ask', input: { question: 'Go on?' } });
        case 3:
          return calls(edits('one', 'two'));
        case 4:
          return says('Done.');
        case 5:
          await put('by another');
          return calls(writes('late'));
        default:
          return says('Done again.');
      }
    };
    const session = 'ses_seen' as SessionId;
    const first = createdWorld({ path, brain });
    const handle = await start(first, { workspace: folder, session });
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    await first.close();
    await put('by another, which has one in it');
    const second = createdWorld({ path, brain, seed: 2 });
    for (const wait of await second.engine.waits(handle.run))
      await second.engine.answer(wait.run, wait.wait, { kind: 'text', text: 'yes' });
    const resumed = await second.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    await resultOf(resumed.handle);
    expect(heard.at(-1)).toContain('was changed since you read it');
    await resultOf(await start(second, { workspace: folder, session }));
    expect(heard.at(-1)).toContain('was changed since you read it');
    expect(await held()).toBe('by another');
  });

  it('a write that changes nothing is no evidence for a claim', async () => {
    await put('same');
    const world = createdWorld({
      brain: (request) =>
        turnOf(request) === 1 ? calls(writes('same')) : reports('Written.', { claims: [{ kind: 'file', path: 'a.txt' }] }),
    });
    const handle = await start(world, { workspace: folder });
    expect(await resultOf(handle)).toMatchObject({ status: 'completed_unverified' });
    const types = (await readAll(world.ledger, handle.session)).map((event) => event.event_type);
    expect(types).not.toContain('file.diff');
  });
});

describe('several agents', () => {
  it('that change one file at once undo nothing: who comes too late is told, reads again and succeeds', async () => {
    const names = ['ann', 'bob', 'cid', 'dot', 'eve', 'fay'];
    await put('start\n');
    const late: string[] = [];
    const adds = (request: ModelRequest) => {
      const text = told(request);
      if (text.includes('was changed since you read it')) {
        late.push(text);
        return calls(reads);
      }
      if (text.startsWith('Replaced')) return says('Done.');
      if (text === '') return calls(reads);
      const lines = text.split('\n').map((line) => line.replace(/^\d+\t/, ''));
      return calls(writes(`${[...lines, request.agent].join('\n')}\n`));
    };
    const world = createdWorld({
      agents: [
        agent({ tools: [], permissions: {}, agents: names, maxToolCallsPerTurn: 20 }),
        ...names.map((name) => agent({ name, tools, permissions: {}, maxTurns: 60 })),
      ],
      brain: (request) => {
        if (request.agent !== 'worker') return adds(request);
        if (turnOf(request) > 1) return says('All done.');
        return calls(...names.map((name) => ({ name, input: { prompt: 'Add your name.', reason: 'to see' } })));
      },
    });
    expect(await resultOf(await start(world, { workspace: folder }))).toMatchObject({ status: 'completed' });
    expect((await held()).trim().split('\n').sort()).toEqual([...names, 'start']);
    expect(late.length).toBeGreaterThan(0);
    expect(late.join('\n')).toMatch(/by the agent (ann|bob|cid|dot|eve|fay)/);
  });
});

describe('a crash', () => {
  it('between a change and its record leaves a file that has to be read again', async () => {
    await put('one');
    const heard: string[] = [];
    const world = createdWorld({
      agents: [agent({ tools, permissions: { edit: 'ask' } })],
      brain: (request) => {
        heard.push(told(request));
        if (turnOf(request) === 1) return calls(reads);
        return turnOf(request) === 2 ? calls(edits('one', 'two')) : says('Done.');
      },
    });
    const handle = await start(world, { workspace: folder });
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    // As if the edit had been made by a process that died before it could say so.
    await put('two, one');
    const [first] = await world.engine.waits(handle.run);
    await world.engine.answer(handle.run, first?.wait ?? '', { kind: 'approved' });
    // What was approved was another change, and that is sure to be refused: nobody is asked once more.
    await resumedResult(world, handle.run);
    expect(await world.engine.waits(handle.run)).toEqual([]);
    expect(heard.at(-1)).toContain('was changed since you read it');
    expect(await held()).toBe('two, one');
  });
});
