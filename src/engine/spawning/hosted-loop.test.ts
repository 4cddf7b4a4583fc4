import { describe, expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { agent, createWorld, reports } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { threadOf } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { runLoop } from '../../loop/loop.ts';
import type { LoopHost } from '../../runner/port.ts';
import { readAll } from '../record/read-all.ts';

const kept = closedAfterwards();

/** Says of each loop that a process plays it, and plays it here. */
function createHost(): LoopHost & { readonly threads: string[] } {
  const threads: string[] = [];
  return {
    threads,
    async run(input, ports, { thread, onProcess }) {
      threads.push(thread);
      onProcess({ kind: 'started', pid: 7, attempt: 1 });
      const result = await runLoop(input, ports);
      onProcess({ kind: 'ended', pid: 7, exitCode: 0, signal: null, why: 'done' });
      return result;
    },
    warm: () => undefined,
    close: async () => undefined,
  };
}

describe('the loop of a run', () => {
  it.each<[string, AgentDefinition['isolation'], string | undefined, boolean]>([
    ['is played here', undefined, undefined, false],
    ['is hosted when its file says so', 'process', undefined, true],
    ['is hosted when it was spawned', undefined, 'client', true],
    ['is played here when it was spawned and its file says so', 'inline', 'client', false],
  ])('%s', async (_name, isolation, by, hosted) => {
    const host = createHost();
    const agents = [agent(present({ isolation }))];
    const world = kept(createWorld({ brain: () => reports('Done.'), agents, engineOptions: { host } }));
    const handle = await start(world, by === undefined ? {} : { origin: { kind: 'client', by } });
    expect(await resultOf(handle)).toMatchObject({ report: { body: 'Done.' } });
    expect(host.threads).toEqual(hosted ? [threadOf(handle.run)] : []);
    const events = await readAll(world.ledger, handle.session, { types: ['process.started', 'process.ended'] });
    expect(events.map(({ event_type }) => event_type)).toEqual(hosted ? ['process.started', 'process.ended'] : []);
  });
});
