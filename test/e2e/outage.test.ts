/** While a model cannot be asked, everybody sees that the run waits, and until when: also from another process. */
import { expect, it } from 'vitest';
import { startModelServer } from '../support/models/model-server.ts';
import { agentWith, createTestProject, objectIn } from './support-project.ts';

it('an outage shows as waiting with the time of the next attempt, as long as somebody drives the run', async () => {
  await using project = await createTestProject('', agentWith('maxRetries: 1'));
  const second = Promise.withResolvers<void>();
  await project.serve({ fault: 'status', status: 503, headers: { 'retry-after': '55' } }, async () => {
    await second.promise;
    return { text: 'Done.' };
  });
  const running = project.start(['run', 'helper', 'Go.']);
  await running.says('503');
  expect((await project.look('show', 'last')).out).toMatch(/helper {2}attempt 2 in \d+s, waiting for openai\/test-model/);
  const shown = objectIn((await project.look('show', 'last', '--json')).out);
  const { out } = await project.look('ps', '--json');
  const listed = objectIn(out.slice(1, -2));
  const failed = (await project.look('logs', 'last', '--jsonl')).out.split('\n').find((line) => line.includes('model.failed'));
  const { timestamp, payload } = objectIn(failed ?? '{}') as { timestamp: string; payload: { nextInMs: number } };
  const nextAttemptAt = Date.parse(timestamp) + payload.nextInMs;
  expect(shown).toMatchObject({ status: 'running', tree: [{ status: 'running', nextAttemptAt }] });
  expect(listed).toMatchObject({ state: 'running', nextAttemptAt });
  // Nobody asks again for a run that nobody drives.
  running.kill('SIGKILL');
  await running.ended;
  second.resolve();
  expect((await project.look('show', 'last')).out).not.toContain('attempt 2 in');
  expect(objectIn((await project.look('ps', '--json')).out.slice(1, -2))).toMatchObject({ nextAttemptAt: null });
  expect(objectIn((await project.look('show', 'last', '--json')).out)).toMatchObject({ tree: [{ nextAttemptAt: null }] });
});

it('a provider that nobody reaches is waited for, beyond the number of tries, and asked as soon as it is back', async () => {
  await using project = await createTestProject('', agentWith('maxRetries: 0\noutagePatience: 5m'));
  const gone = await project.serve({ text: 'Never.' });
  const port = Number(new URL(gone.origin).port);
  await gone.close();
  const running = project.start(['run', 'helper', 'Go.']);
  await running.saysTimes('ECONNREFUSED', 2);
  const back = await startModelServer(() => ({ text: 'Done.' }), { port });
  expect(await running.ended).toMatchObject({ code: 0, out: 'Done.\n' });
  expect(back.requests).toHaveLength(1);
  await back.close();
});
