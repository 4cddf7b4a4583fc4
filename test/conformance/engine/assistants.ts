/** Engine conformance: assistants that are spawned, work beside their parent, and exchange messages with it. */
import { expect } from 'vitest';
import { assistantTools } from '../../../src/assistants/agent-tools.ts';
import { createMessageService } from '../../../src/assistants/threads/message-service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { childRunId, createIds, threadOf } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ok } from '../../../src/base/result.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import type { Tool } from '../../../src/tools/port.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import { type EngineCase, type EngineWorlds, resultOf, start, statesOf, untilStopped } from './checks.ts';

const TOOLS = ['spawn_assistant', 'poll_assistant', 'send_message', 'recv_message', 'cancel_assistant'];
const boss = agent({ name: 'boss', tools: TOOLS, maxTurns: 30 });
const helper = agent({ name: 'helper', tools: [], maxTurns: 30 });

function toolsOn(ledger: Ledger): readonly Tool[] {
  const service = createMessageService({ ledger, clock: systemClock, ids: createIds(systemClock, systemRandom) });
  const list = async () => ok({ items: [], totalItems: 0 });
  return assistantTools({ assistants: { ...service, list, search: async () => ok([]) }, clock: systemClock });
}

async function office(
  worlds: EngineWorlds,
  brains: { readonly boss: Brain; readonly helper: Brain },
  limits = {},
): Promise<World> {
  let tools: readonly Tool[] = [];
  return await worlds.create({
    agents: [boss, helper],
    brain: (request, call) => (request.agent === 'boss' ? brains.boss : brains.helper)(request, call),
    wrapLedger: (ledger) => {
      tools = toolsOn(ledger);
      return ledger;
    },
    engineOptions: {
      assistants: limits,
      tools: async (definition) => ok(tools.filter(({ name }) => definition.tools?.includes(name) === true)),
      messageTools: async () => tools.filter(({ name }) => name.endsWith('_message')),
    },
  });
}

const spawn = (query: string, run_mode = 'async') => ({
  name: 'spawn_assistant',
  input: { assistant_id: 'helper', query, run_mode },
});
const textIn = (request: ModelRequest): string => JSON.stringify(request.messages);
const heard = (request: ModelRequest, words: string): boolean => textIn(request).includes(words);
const processIn = (request: ModelRequest): string => /run_[0-9a-z]{20}/.exec(textIn(request))?.[0] ?? '';
const threadIn = (request: ModelRequest): string => /thr_[0-9a-z]{20}/.exec(textIn(request))?.[0] ?? '';
const poll = (request: ModelRequest) => ({
  name: 'poll_assistant',
  input: { process_id: processIn(request), wait_ms: 5_000 },
});

export const assistantCases: readonly EngineCase[] = [
  {
    name: 'the report of an assistant reaches whoever spawned it, once',
    async play(worlds) {
      const world = await office(worlds, {
        helper: () => says('The bug is in line 7.'),
        boss: (request) => {
          if (turnOf(request) === 1) return calls(spawn('Find the bug.'));
          return heard(request, 'line 7') ? reports('It is in line 7.') : calls(poll(request));
        },
      });
      const handle = await start(world, { agent: 'boss' });
      expect(await resultOf(handle)).toMatchObject({ status: 'completed', report: { body: 'It is in line 7.' } });
      const events = await readAll(world.ledger, handle.session);
      const child = childRunId(handle.run, 'turn/1/tool/0');
      expect(events.filter((event) => event.event_type === 'message.sent').map(({ payload }) => payload)).toMatchObject([
        { thread: threadOf(child), from: { run: child }, to: { run: handle.run }, kind: 'report' },
      ]);
      expect(events.filter((event) => event.event_type === 'message.included')).toHaveLength(1);
    },
  },
  {
    name: 'an assistant that is waited for answers the call that spawned it',
    async play(worlds) {
      const world = await office(worlds, {
        helper: () => says('Forty-two.'),
        boss: (request) => (turnOf(request) === 1 ? calls(spawn('Work it out.', 'sync')) : reports(textIn(request))),
      });
      const { report } = await resultOf(await start(world, { agent: 'boss' }));
      expect(report.body.split('Forty-two.')).toHaveLength(2);
      expect(report.body).toContain('finished');
    },
  },
  {
    name: 'messages reach an assistant at work, and its parent',
    async play(worlds) {
      const world = await office(worlds, {
        helper: (request) => {
          const thread_id = threadIn(request);
          if (turnOf(request) === 1)
            return calls({ name: 'send_message', input: { to_assistant_id: 'boss', thread_id, message: 'Which file?' } });
          if (heard(request, 'main.ts')) return says('main.ts is fine.');
          return calls({ name: 'recv_message', input: { thread_id, unread_only: true, wait_ms: 5_000 } });
        },
        boss: (request) => {
          const thread_id = threadIn(request);
          if (turnOf(request) === 1) return calls(spawn('Check the file.'));
          if (heard(request, 'is fine')) return reports('Checked.');
          if (heard(request, 'Which file?') && !heard(request, 'main.ts'))
            return calls({ name: 'send_message', input: { to_assistant_id: 'helper', thread_id, message: 'It is main.ts.' } });
          return calls(poll(request));
        },
      });
      const result = await resultOf(await start(world, { agent: 'boss' }));
      expect(result).toMatchObject({ status: 'completed', report: { body: 'Checked.' } });
    },
  },
  {
    name: 'assistants end with their parent, or when it cancels them',
    async play(worlds) {
      const world = await office(worlds, {
        helper: untilStopped,
        boss: (request) => {
          if (turnOf(request) === 1) return calls(spawn('One.'), spawn('Two.'));
          if (turnOf(request) === 2) return calls({ name: 'cancel_assistant', input: { process_id: processIn(request) } });
          return reports('Enough.');
        },
      });
      const handle = await start(world, { agent: 'boss' });
      expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['boss completed', 'helper cancelled', 'helper cancelled']);
    },
  },
  ...['perParent', 'perSession'].map((limit) => ({
    name: `an agent is told which limit of its assistants holds: ${limit}`,
    async play(worlds: EngineWorlds) {
      const world = await office(
        worlds,
        {
          helper: untilStopped,
          boss: (request) => {
            if (turnOf(request) === 1) return calls(spawn('One.'));
            return turnOf(request) === 2 ? calls(spawn('Two.')) : reports(textIn(request));
          },
        },
        { [limit]: 1 },
      );
      expect((await resultOf(await start(world, { agent: 'boss' }))).report.body).toContain(`assistants.${limit}`);
    },
  })),
];
