/** A project that is closed while a program is with a run: everybody is told how their run stands, and nothing breaks. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { userText } from '../events/messages.ts';
import type { ReplyInput } from '../models/scripted/script-file.ts';
import { createTemporaryProject } from '../testing/temporary-project.ts';
import { defineTool } from '../tools/define-tool.ts';
import { createTroupe } from './troupe.ts';

const sell = defineTool({ name: 'sell', description: 'Sells one.', input: z.object({}), run: () => 'sold' });
const clerk = defineAgent({ name: 'clerk', prompt: 'You sell.', tools: ['sell'] });
const sells: readonly ReplyInput[] = [{ toolCalls: [{ name: 'sell', input: {} }] }, { finalReport: 'Sold.' }];
const LONG_MS = 60_000;
const SOURCES = join(import.meta.dirname, '..');

const shop = (replies = sells) => createTemporaryProject({ agents: [clerk], tools: [sell], replies });

describe('a project that is closed', () => {
  it('in the moment in which a run is asked for has it interrupted, to be resumed', async () => {
    await using project = await shop();
    const { folder, troupe } = project;
    const asked = troupe.run('clerk', 'Sell one.');
    await troupe.close();
    expect(await asked).toMatchObject({ status: 'interrupted', usage: { runs: 1 } });
    await using again = await createTroupe({ root: folder, env: { HOME: folder } });
    expect(await again.ledger.runs({})).toMatchObject([{ agent: 'clerk', owner: null, endedAt: null }]);
  });

  it('while a run begins has it interrupted', async () => {
    await using project = await shop();
    const { folder: workspace, troupe } = project;
    const started = troupe.engine.start({ agent: 'clerk', input: userText('Sell one.'), workspace });
    await troupe.close();
    const begun = await started;
    if (begun.kind !== 'started') throw new Error('not started');
    expect(await begun.handle.done).toMatchObject({ kind: 'interrupted' });
  });

  it('while the model is asked cuts it off', async () => {
    const begun = Promise.withResolvers<void>();
    await using project = await createTemporaryProject({
      agents: [clerk],
      tools: [sell],
      replies: () => {
        begun.resolve();
        return { delayMs: LONG_MS, text: 'Too late.' };
      },
    });
    const asked = project.troupe.run('clerk', 'Sell one.', { onEvent: () => undefined });
    await begun.promise;
    await Promise.all([project.troupe.close(), project.troupe.close()]);
    expect(await asked).toMatchObject({ status: 'interrupted', reason: expect.any(String) });
  });

  it('while a callback has not decided yet leaves the run waiting', async () => {
    await using project = await shop();
    const thinking = Promise.withResolvers<void>();
    const approve = () => {
      thinking.resolve();
      return Promise.withResolvers<boolean>().promise;
    };
    const asked = project.troupe.run('clerk', 'Sell one.', { approve });
    await thinking.promise;
    await project.troupe.close();
    // It may have been on its way to rest.
    expect(['waiting', 'interrupted']).toContain((await asked).status);
  });

  it('takes nothing more, and says so', async () => {
    await using project = await shop();
    const { troupe } = project;
    const { run } = await troupe.run('clerk', 'Sell one.');
    await troupe.close();
    const closed = { code: 'closed', fix: expect.any(String) };
    await expect(troupe.run('clerk', 'Sell one.')).rejects.toMatchObject(closed);
    await expect(troupe.resume(run)).rejects.toMatchObject(closed);
    await expect(troupe.engine.waits(run)).rejects.toMatchObject(closed);
    await expect(troupe.engine.cancel(run, 'enough')).rejects.toMatchObject(closed);
    await troupe.close();
  });
});

describe('callbacks without types', () => {
  it.each([['yes'], [1], [null], [{ allow: true }], [{ deny: 5 }]])(
    'that decide %j are told that this is no answer, and the run waits on',
    async (decision) => {
      await using project = await shop();
      const approve = () => decision as unknown as boolean;
      const asked = project.troupe.run('clerk', 'Sell one.', { approve });
      await expect(asked).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('approve') });
      const [row] = await project.troupe.ledger.runs({ roots: true });
      const outcome = await project.troupe.resume(row?.run ?? '', { approve: () => true });
      expect(outcome).toMatchObject({ status: 'completed' });
    },
  );

  it('that answer a question with no text are told so', async () => {
    const asks = [{ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] }, { finalReport: 'Done.' }];
    await using project = await createTemporaryProject({
      agents: [defineAgent({ name: 'asker', prompt: 'You ask.', tools: ['ask'] })],
      replies: asks,
    });
    const asked = project.troupe.run('asker', 'Go.', { answer: () => null as unknown as string });
    await expect(asked).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('answer') });
    const [row] = await project.troupe.ledger.runs({ roots: true });
    expect(await project.troupe.resume(row?.run ?? '')).toMatchObject({ status: 'waiting' });
  });

  it('that deny without words give no note', async () => {
    await using project = await shop([{ toolCalls: [{ name: 'sell', input: {} }] }, { finalReport: '{{lastToolResult}}' }]);
    const outcome = await project.troupe.run('clerk', 'Sell one.', { approve: () => ({ deny: '' }) });
    expect(outcome).toMatchObject({ report: { body: 'Not run: the user said no.' } });
  });

  it.each(['onEvent', 'onText'] as const)(
    'whose %s rejects get the error back, and nothing is left unhandled',
    async (callback) => {
      await using project = await shop([{ ...sells[0], text: 'I will.' }, { finalReport: 'Sold.' }]);
      const broken = { [callback]: () => Promise.reject(new Error('broken screen')), approve: () => true };
      await expect(project.troupe.run('clerk', 'Sell one.', broken)).rejects.toThrow('broken screen');
      const [row] = await project.troupe.ledger.runs({ roots: true });
      expect(await project.troupe.resume(row?.run ?? '', { approve: () => true })).toMatchObject({ status: 'completed' });
    },
  );

  it('that take their time are done when the result is there', async () => {
    await using project = await shop();
    const written: string[] = [];
    const slow = Promise.withResolvers<void>();
    const asked = project.troupe.run('clerk', 'Sell one.', {
      approve: () => true,
      onEvent: async ({ event_type }) => {
        if (event_type === 'run.ended') setImmediate(() => slow.resolve());
        await slow.promise;
        written.push(event_type);
      },
    });
    expect((await asked).status).toBe('completed');
    expect(written.at(-1)).toBe('run.ended');
  });
});

/** Where a promise is all that a process waits for, Node ends it: seen from inside, there is nothing to see. */
const PROGRAM = `
import { defineAgent } from '${join(SOURCES, 'index.ts')}';
import { createTemporaryProject } from '${join(SOURCES, 'testing', 'index.ts')}';
const asker = defineAgent({ name: 'asker', prompt: 'You ask.', tools: ['ask'] });
const replies = [{ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] }];
await using project = await createTemporaryProject({ agents: [asker], replies });
const answer = () => new Promise(() => undefined);
const { status } = await project.troupe.run('asker', 'Go.', { answer, signal: AbortSignal.timeout(300) });
process.stdout.write(status);
`;

describe('a program', () => {
  it('that waits for an answer and for a timer that holds no process lives until one of them comes', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM]);
    expect(stdout).toBe('cancelled');
  });
});
