/** A program stays with a run that another process has taken up, until it rests there. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { createWorld, says } from '../../test/support/world.ts';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { userText } from '../events/messages.ts';
import { defineTool } from '../tools/define-tool.ts';
import { driveToRest } from './drive-to-rest.ts';
import { restElsewhere } from './rest-elsewhere.ts';
import type { CompanyOptions } from './run-options.ts';
import { openTroupe, type Troupe } from './troupe.ts';

/** Asks once, and is answered and gone on with by another project on the same ledger, whose call lasts until it is let go. */
async function shared(whenAside: (letGo: () => void) => void, options: CompanyOptions) {
  const working = Promise.withResolvers<void>();
  const free = Promise.withResolvers<string>();
  const tool = defineTool({
    ...{ name: 'sell', description: 'Sells.', input: z.object({}), timeoutMs: 20_000 },
    run: async (_input, { signal }) => {
      working.resolve();
      signal.addEventListener('abort', () => free.resolve('stopped'));
      return await free.promise;
    },
  });
  const agents = [defineAgent({ name: 'clerk', prompt: 'You sell.', tools: ['sell'] })];
  const project = await temporaryProject({ 'replies.yaml': '[{ toolCalls: [{ name: sell }] }, { text: Sold. }]' });
  const { root } = project;
  // Whoever stands aside looks now and then whether the other is done.
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback, hold) {
      if (delayMs === limits.inboxLookMs) whenAside(() => free.resolve('done'));
      return systemClock.after(delayMs, callback, hold);
    },
  };
  const opened = (by: Clock) =>
    openTroupe(
      { cwd: root, root, env: { HOME: root }, flags: { defaultModel: 'scripted:replies.yaml' }, clock: by },
      { agents, tools: [tool] },
    );
  const [here, there] = [await opened(clock), await opened(systemClock)];
  let other: ReturnType<Troupe['resume']> | undefined;
  const approve = async ({ run }: { readonly run: RunId }): Promise<undefined | boolean> => {
    await expect.poll(async () => (await here.ledger.runs({ run }))[0]?.owner).toBeNull();
    other = there.resume(run, { approve: () => true });
    await working.promise;
    return true;
  };
  const outcome = await here.run('clerk', 'Sell.', { ...options, approve });
  return {
    ...{ outcome, other: await other },
    async [Symbol.asyncDispose]() {
      await here.close();
      await there.close();
      await project[Symbol.asyncDispose]();
    },
  };
}

it('is told how it ended there, and of everything that happened', async () => {
  const seen: string[] = [];
  const onEvent: CompanyOptions['onEvent'] = ({ event_type }) => void seen.push(event_type);
  await using played = await shared((letGo) => letGo(), { onEvent });
  expect(played.outcome).toMatchObject({ status: 'completed', report: { body: 'Sold.' }, usage: { toolCalls: 1 } });
  expect(played.other).toEqual(played.outcome);
  expect(seen).toContain('tool.result');
  expect(seen.at(-1)).toBe('run.ended');
});

it('leaves when it wants to, and what it asked for is done there', async () => {
  const stop = new AbortController();
  await using played = await shared(() => stop.abort(), { signal: stop.signal });
  expect(['interrupted', 'cancelled']).toContain(played.outcome.status);
  expect(played.other).toMatchObject({ status: 'cancelled' });
});

it('is not left by whoever lost it in the middle of its work', async () => {
  const world = createWorld({ brain: () => says('Done.') });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const { handle } = started;
  await handle.done;
  const { engine, ledger } = world;
  const beside = { ledger, engine, clock: systemClock, leaving: new AbortController().signal };
  const company = {
    ...{ engine, oneByOne: false, answer: async () => undefined },
    follow: async (done: Promise<unknown>) => void (await done),
    elsewhere: (run: RunId) => restElsewhere(beside, run),
  };
  const end = await driveToRest(company, { ...handle, done: Promise.resolve({ kind: 'lost' }) });
  expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  await world.close();
});
