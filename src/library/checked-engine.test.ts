import { describe, expect, it } from 'vitest';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { userText } from '../events/messages.ts';
import { createTemporaryProject } from '../testing/temporary-project.ts';
import type { RunOutcome } from './run-outcome.ts';

const asker = defineAgent({ name: 'asker', prompt: 'You ask.', tools: ['ask', 'shell'] });
const asks = [
  { toolCalls: [{ name: 'ask', input: { question: 'Who?' } }] },
  { toolCalls: [{ name: 'shell', input: { command: 'echo hello' } }] },
  { finalReport: '{{lastToolResult}}' },
];
const openWait = (outcome: RunOutcome) => {
  if (outcome.status !== 'waiting' || outcome.waits[0] === undefined) throw new Error(`not waiting: ${outcome.status}`);
  return outcome.waits[0];
};

describe('the engine of a program', () => {
  it('writes down no answer that is none, and takes one that fits what was asked', async () => {
    await using project = await createTemporaryProject({ agents: [asker], replies: asks });
    const { engine, ledger } = project.troupe;
    const asked = openWait(await project.troupe.run('asker', 'Go.'));
    const bad: unknown[] = [{ approved: true }, { kind: 'yes' }, 'me', null, undefined, { kind: 'text' }, { kind: 'approved' }];
    for (const given of bad)
      await expect(engine.answer(asked.run, asked.wait, given as { kind: 'denied' })).rejects.toMatchObject({ code: 'usage' });
    expect(await engine.answer(asked.run, asked.wait, { kind: 'text', text: 'Me.' })).toMatchObject({ kind: 'accepted' });

    const wanted = openWait(await project.troupe.resume(asked.run));
    const text = engine.answer(wanted.run, wanted.wait, { kind: 'text', text: 'yes' });
    await expect(text).rejects.toMatchObject({ fix: 'A permission is approved or denied.' });
    const shown = wanted.kind === 'permission' ? wanted.shown : undefined;
    await engine.answer(wanted.run, wanted.wait, { kind: 'approved', whole: true }, { shown });
    const ended = await project.troupe.resume(asked.run);
    expect(ended.status).toBe('completed');
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    const answers = await ledger.read({ session: ended.session, types: ['approval.answered'] });
    expect(answers.map(({ payload }) => payload)).toMatchObject([{ where: 'library' }, { where: 'library', shown }]);
  });

  it('approves no input that does not fit the tool, and says what is wrong with it', async () => {
    await using project = await createTemporaryProject({ agents: [asker], replies: asks.slice(1) });
    const { engine, ledger } = project.troupe;
    const waiting = await project.troupe.run('asker', 'Go.');
    const { run, wait } = openWait(waiting);
    const { session } = waiting;
    const unfit = { comand: 'echo bye' };
    const why = expect.stringContaining('`command` is required');
    expect(await engine.answer(run, wait, { kind: 'approved', input: unfit })).toEqual({ kind: 'unfit', why });
    const given = project.troupe.resume(run, { approve: () => ({ input: unfit }) });
    await expect(given).rejects.toMatchObject({ code: 'usage', message: why, fix: expect.stringContaining('by their names') });
    expect(await ledger.read({ session, types: ['approval.answered'] })).toEqual([]);
    const ended = await project.troupe.resume(run, { approve: () => ({ input: { command: 'echo bye' } }) });
    expect(ended).toMatchObject({ status: 'completed', report: { body: expect.stringContaining('bye') } });
  });

  it('starts, cancels and pauses nothing for what cannot be', async () => {
    await using project = await createTemporaryProject({ agents: [asker], replies: asks });
    const { engine } = project.troupe;
    const start = (more: object) =>
      engine.start({ agent: 'asker', input: userText('Go.'), workspace: project.folder, ...more } as Parameters<
        typeof engine.start
      >[0]);
    await expect(start({ budget: { dollars: 1 } })).rejects.toMatchObject({ code: 'usage' });
    await expect(start({ input: 'Go.' })).rejects.toThrow('"input" must be what `userText` gives');
    await expect(start({ modle: 'x/y' })).rejects.toThrow('Did you mean "model"?');
    const { run } = await project.troupe.run('asker', 'Go.');
    await expect(engine.cancel(run, undefined as unknown as string)).rejects.toThrow('the reason must be text');
    await expect(engine.pause(run, 7 as unknown as string)).rejects.toThrow('the reason must be text');
  });
});
