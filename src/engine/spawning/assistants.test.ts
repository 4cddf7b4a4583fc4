import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { playsAgain } from '../../../test/support/replayed.ts';
import {
  agent,
  type Brain,
  calls,
  createWorld,
  reports,
  says,
  turnOf,
  type World,
  type WorldOptions,
} from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { bareExecutor } from '../../agents/definition/to-definition.ts';
import { assistantTools } from '../../assistants/agent-tools.ts';
import { createMessageService } from '../../assistants/threads/message-service.ts';
import { systemClock } from '../../base/clock.ts';
import { childRunId, createIds, threadOf } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import { ok } from '../../base/result.ts';
import { type Message, userText } from '../../events/messages.ts';
import { openSqliteLedger } from '../../ledger/sqlite/store.ts';
import type { ModelRequest } from '../../models/port.ts';
import { type Tool, textResult } from '../../tools/port.ts';
import type { RunHandle } from '../port.ts';
import { readAll } from '../record/read-all.ts';

const kept = closedAfterwards();

const TOOLS = ['spawn_assistant', 'poll_assistant', 'send_message', 'recv_message', 'cancel_assistant'];
const boss = (changes = {}) => agent({ name: 'boss', tools: TOOLS, maxTurns: 20, ...changes });
const helper = (changes = {}) => agent({ name: 'helper', tools: [], ...changes });

interface Play {
  readonly brains: Readonly<Record<string, Brain>>;
  readonly agents?: WorldOptions['agents'];
  readonly engineOptions?: WorldOptions['engineOptions'];
  /** Beside those of assistants. */
  readonly tools?: readonly Tool[];
}

function createdWorld({ brains, agents = [boss(), helper()], engineOptions = {}, tools: others = [] }: Play): World {
  const ids = createIds(systemClock, systemRandom);
  const ledger = openSqliteLedger({ path: ':memory:', clock: systemClock, ids, validate: true });
  const service = createMessageService({ ledger, clock: systemClock, ids });
  const own: readonly Tool[] = assistantTools({
    assistants: {
      ...service,
      list: async () => ok({ items: [], totalItems: 0 }),
      search: async () => ok([]),
    },
    clock: systemClock,
  });
  const tools = [...own, ...others];
  const world = createWorld({
    ledger,
    agents,
    tools,
    brain: (request, call) => (brains[request.agent ?? ''] as Brain)(request, call),
    engineOptions: { messageTools: async () => tools.filter(({ name }) => name.endsWith('_message')), ...engineOptions },
  });
  const close = async (): Promise<void> => {
    await world.close();
    await playsAgain(ledger);
    await ledger.close();
  };
  kept({ ...world, close });
  return world;
}

async function started(world: World, more = {}): Promise<RunHandle> {
  const outcome = await world.engine.start({ agent: 'boss', input: userText('Do it.'), workspace: '.', ...more });
  if (outcome.kind !== 'started') throw new Error(JSON.stringify(outcome));
  return outcome.handle;
}

async function result(handle: RunHandle) {
  const end = await handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  return end.result;
}

const spawn = (query: string, run_mode = 'async') => ({
  name: 'spawn_assistant',
  input: { assistant_id: 'helper', query, run_mode },
});
const textIn = (messages: readonly Message[]): string => JSON.stringify(messages);
const heard = (request: ModelRequest, words: string): boolean => textIn(request.messages).includes(words);
const processIn = (request: ModelRequest): string => /run_[0-9a-z]{20}/.exec(textIn(request.messages))?.[0] ?? '';

it('an executor that no file names is no assistant, whoever says its name', async () => {
  const bare = bareExecutor('executor:pi') as AgentDefinition;
  const spawnBare = { name: 'spawn_assistant', input: { assistant_id: 'executor:pi', query: 'go', run_mode: 'sync' } };
  const asks: Brain = (request) => (turnOf(request) === 1 ? calls(spawnBare) : says(textIn(request.messages)));
  const world = createdWorld({ brains: { boss: asks }, agents: [boss(), bare] });
  expect(JSON.stringify(await result(await started(world)))).toContain('There is no assistant with the id');
});

describe('an agent that builds on an assistant whose claims are not backed', () => {
  const unbacked: Brain = () => reports('All tests pass.', { claims: [{ kind: 'command', command: 'npm test' }] });
  const agents = [boss(), helper({ tools: ['recv_message'] })];

  it.each(['sync', 'async'])('is told, and is no better: %s', async (mode) => {
    let told = '';
    const world = createdWorld({
      agents,
      brains: {
        helper: unbacked,
        boss: (request) => {
          if (turnOf(request) === 1) return calls(spawn('Test it.', mode));
          told = textIn(request.messages);
          if (!told.includes('All tests pass.'))
            return calls({ name: 'poll_assistant', input: { process_id: processIn(request), wait_ms: 60_000 } });
          return reports('Done.');
        },
      },
    });
    expect(await result(await started(world))).toMatchObject({
      status: 'completed_unverified',
      verification: { state: 'unverified', reasons: [expect.stringMatching(/^helper: command "npm test": /)] },
    });
    expect(told).toContain('unverified');
    expect(told.indexOf('this command was not run')).toBeGreaterThan(0);
  });
});

describe('an agent that spawns assistants', () => {
  it('gets the report of one that has ended before its next turn', async () => {
    const world = createdWorld({
      brains: {
        helper: () => says('The bug is in line 7.'),
        boss: (request) => {
          if (turnOf(request) === 1) return calls(spawn('Find the bug.'));
          if (!heard(request, 'line 7'))
            return calls({ name: 'poll_assistant', input: { process_id: processIn(request), wait_ms: 60_000 } });
          return reports('It is in line 7.');
        },
      },
    });
    const handle = await started(world);
    expect(await result(handle)).toMatchObject({ status: 'completed', report: { body: 'It is in line 7.' } });
    const events = await readAll(world.ledger, handle.session);
    const child = childRunId(handle.run, 'turn/1/tool/0');
    expect(events.find((event) => event.event_type === 'message.sent')?.payload).toMatchObject({
      thread: threadOf(child),
      from: { assistant: 'helper', run: child },
      to: { assistant: 'boss', run: handle.run },
      content: 'The bug is in line 7.',
      kind: 'report',
    });
    const included = events.filter((event) => event.event_type === 'message.included');
    expect(included).toHaveLength(1);
    const request = events.find(
      (event) =>
        event.run_id === handle.run && event.step === (included[0]?.payload as { request?: string } | undefined)?.request,
    );
    expect(request?.event_type).toBe('model.request');
    expect(
      events
        .filter((event) => event.event_type === 'context.noted')
        .map(({ payload }) => JSON.stringify(payload))
        .join(),
    ).toContain('# Assistant Orchestration');
  });

  it('waits for one that it spawned sync, and is not told twice', async () => {
    const world = createdWorld({
      brains: {
        helper: () => says('Forty-two.'),
        boss: (request) => (turnOf(request) === 1 ? calls(spawn('Work it out.', 'sync')) : reports(textIn(request.messages))),
      },
    });
    const { report } = await result(await started(world));
    expect(report.body.split('Forty-two.')).toHaveLength(2);
    expect(report.body).toContain('finished');
  });

  it('reaches it with a message while it works, and the assistant reaches back', async () => {
    const world = createdWorld({
      agents: [boss(), helper({ maxTurns: 30 })],
      brains: {
        helper: (request) => {
          const thread_id = /thr_[0-9a-z]{20}/.exec(textIn(request.messages))?.[0] ?? '';
          if (turnOf(request) === 1)
            return calls({ name: 'send_message', input: { to_assistant_id: 'boss', thread_id, message: 'Which file?' } });
          if (!heard(request, 'main.ts'))
            return calls({ name: 'recv_message', input: { thread_id, unread_only: true, wait_ms: 60_000 } });
          return says('main.ts is fine.');
        },
        boss: (request) => {
          const thread_id = /thr_[0-9a-z]{20}/.exec(textIn(request.messages))?.[0] ?? '';
          const process_id = processIn(request);
          if (turnOf(request) === 1) return calls(spawn('Check the file.'));
          if (heard(request, 'is fine')) return reports('Checked.');
          if (heard(request, 'Which file?') && !heard(request, '"success":true') && !heard(request, 'main.ts'))
            return calls({ name: 'send_message', input: { to_assistant_id: 'helper', thread_id, message: 'It is main.ts.' } });
          return calls({ name: 'poll_assistant', input: { process_id, wait_ms: 60_000 } });
        },
      },
    });
    expect(await result(await started(world))).toMatchObject({ status: 'completed', report: { body: 'Checked.' } });
  });

  it('hears a message that comes while it gives its answer before the answer counts', async () => {
    let send: () => Promise<unknown> = async () => undefined;
    const world = createdWorld({
      brains: {
        boss: () => says('unused'),
        helper: async (request) => {
          if (turnOf(request) === 1) {
            await send();
            return says('Done.');
          }
          return says(heard(request, 'Focus on security') ? 'Done, with security.' : 'Done again.');
        },
      },
    });
    const service = createMessageService({ ledger: world.ledger, clock: systemClock, ids: createIds(systemClock, systemRandom) });
    let handle: RunHandle | undefined;
    send = async () => {
      const thread_id = threadOf((handle as RunHandle).run);
      const input = { to_assistant_id: 'helper', thread_id, message: 'Focus on security vulnerabilities' };
      const sent = await service.send({ kind: 'client', name: 'user' }, input, { signal: new AbortController().signal });
      expect(sent).toEqual({ ok: true, value: { success: true } });
    };
    const gate = Promise.withResolvers<void>();
    const inner = send;
    send = async () => {
      await gate.promise;
      await inner();
    };
    handle = await started(world, { agent: 'helper', origin: { kind: 'client', by: 'user' } });
    gate.resolve();
    expect(await result(handle)).toMatchObject({ report: { body: 'Done, with security.' } });
  });

  it('takes its assistants with it when it ends, and can cancel one', async () => {
    const never = Promise.withResolvers<never>();
    const asked: string[] = [];
    const world = createdWorld({
      brains: {
        helper: async (request) => {
          asked.push(String(request.agent));
          await Promise.race([never.promise, new Promise((resolve) => request.signal.addEventListener('abort', resolve))]);
          return { kind: 'failed', error: { kind: 'cancelled', message: 'cancelled' } };
        },
        boss: (request) => {
          if (turnOf(request) === 1) return calls(spawn('One.'), spawn('Two.'));
          if (turnOf(request) === 2) return calls({ name: 'cancel_assistant', input: { process_id: processIn(request) } });
          return reports('Enough.');
        },
      },
    });
    const handle = await started(world);
    expect(await result(handle)).toMatchObject({ status: 'completed' });
    const rows = await world.ledger.runs({ session: handle.session });
    expect(rows.map(({ agent, state }) => `${agent} ${state}`).toSorted()).toEqual([
      'boss completed',
      'helper cancelled',
      'helper cancelled',
    ]);
  });

  it.each([
    ['a tool', []],
    ['a tool, and a sub-agent beside it', [{ name: 'quick', input: { prompt: 'Go.', reason: 'it is quick' } }]],
  ])('takes one with it that is between two turns, and is played again with no turn more: behind %s', async (_what, beside) => {
    const begun = Promise.withResolvers<void>();
    const untilStopped: Tool = {
      ...{ name: 'wait', description: 'waits', inputSchema: { type: 'object' }, replay: 'safe', readOnly: true },
      async run(_input, { signal }) {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return textResult('stopped');
      },
    };
    const world = createdWorld({
      agents: [boss(), helper({ tools: ['wait'], agents: ['quick'] }), agent({ name: 'quick', tools: [] })],
      tools: [untilStopped],
      brains: {
        helper: () => calls({ name: 'wait', input: {} }, ...beside),
        quick: () => says('Done.'),
        boss: async (request) => {
          if (turnOf(request) === 1) return calls(spawn('Wait.'));
          await begun.promise;
          // Played again it comes to its end only when its assistant could have asked once more.
          return turnOf(request) < 8
            ? calls({ name: 'poll_assistant', input: { process_id: processIn(request) } })
            : reports('Enough.');
        },
      },
    });
    const handle = await started(world);
    expect(await result(handle)).toMatchObject({ status: 'completed' });
    const ends = (await readAll(world.ledger, handle.session)).filter((one) => one.event_type === 'run.ended');
    expect(ends.map(({ payload }) => payload).slice(-2)).toMatchObject([
      { status: 'cancelled', turns: 1 },
      { status: 'completed' },
    ]);
  });

  it.each([
    ['perParent', { perParent: 1 }, 'assistants.perParent'],
    ['perSession', { perSession: 1 }, 'assistants.perSession'],
  ])('is told which limit holds: %s', async (_name, assistants, words) => {
    const world = createdWorld({
      engineOptions: { assistants },
      brains: {
        helper: (request) =>
          new Promise((resolve) => {
            request.signal.addEventListener('abort', () =>
              resolve({ kind: 'failed', error: { kind: 'cancelled', message: '' } }),
            );
          }),
        boss: (request) =>
          turnOf(request) === 1
            ? calls(spawn('One.'))
            : turnOf(request) === 2
              ? calls(spawn('Two.'))
              : reports(textIn(request.messages)),
      },
    });
    expect((await result(await started(world))).report.body).toContain(words);
  });

  it('does not go deeper than allowed', async () => {
    const world = createdWorld({
      agents: [boss(), agent({ name: 'helper', tools: TOOLS })],
      engineOptions: { assistants: { depth: 2 } },
      brains: {
        boss: (request) => (turnOf(request) === 1 ? calls(spawn('Deeper.', 'sync')) : reports(textIn(request.messages))),
        helper: (request) => (turnOf(request) === 1 ? calls(spawn('Deeper.', 'sync')) : reports(textIn(request.messages))),
      },
    });
    const handle = await started(world);
    expect((await result(handle)).report.body).toContain('assistants.depth');
    expect(await world.ledger.runs({ session: handle.session })).toHaveLength(3);
  });

  it('says that there is no such assistant', async () => {
    const world = createdWorld({
      brains: {
        boss: (request) =>
          turnOf(request) === 1
            ? calls({ name: 'spawn_assistant', input: { assistant_id: 'nobody', query: 'x' } })
            : reports(textIn(request.messages)),
      },
    });
    expect((await result(await started(world))).report.body).toContain('search_assistant');
  });
});

describe('a spawned root', () => {
  it('asks its client in its thread, and goes on after the answer', async () => {
    const asking = helper({ tools: ['ask'] });
    const ask: Tool = {
      name: 'ask',
      description: 'asks',
      inputSchema: { type: 'object' },
      replay: 'safe',
      kind: 'question',
    };
    const world = createdWorld({
      agents: [asking],
      engineOptions: { tools: async () => ok([ask]) },
      brains: {
        helper: (request) =>
          turnOf(request) === 1
            ? calls({ name: 'ask', input: { question: 'Red or blue?' } })
            : says(textIn(request.messages.slice(-1))),
      },
    });
    const handle = await started(world, { agent: 'helper', origin: { kind: 'client', by: 'alice' } });
    const end = await handle.done;
    expect(end.kind).toBe('waiting');
    const events = await readAll(world.ledger, handle.session);
    expect(events.find((event) => event.event_type === 'message.sent')?.payload).toMatchObject({
      kind: 'question',
      to: { assistant: 'alice' },
    });
    if (end.kind !== 'waiting') return;
    for (const wait of end.waits) await world.engine.answer(wait.run, wait.wait, { kind: 'text', text: 'Blue.' });
    const resumed = await world.engine.resume(handle.run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    expect((await result(resumed.handle)).report.body).toContain('Blue.');
    const reported = (await readAll(world.ledger, handle.session)).filter((event) => event.event_type === 'message.sent');
    expect(reported.map(({ payload }) => (payload as { kind?: string }).kind)).toEqual(['question', 'report']);
  });
});
