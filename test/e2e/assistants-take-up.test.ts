/** What a server that died has left goes on with the next one, though nobody asks for it. */
import { expect, it } from 'vitest';
import { connectStdio } from '../support/assistants/client.ts';
import { only, sessionOf } from '../support/assistants/ledger.ts';
import { createAssistantsProject, toolsOf } from '../support/assistants/served-project.ts';
import { eras } from '../support/mcp/fixture-http.ts';

it.each(eras)('a run goes on with the next server that a client of %s starts', async (era) => {
  const killed = Promise.withResolvers<void>();
  const { project, model } = await createAssistantsProject({ talker: 'description: Talks' }, async () => {
    await killed.promise;
    return { text: 'Still here.', delayMs: 300 };
  });
  await using _project = project;
  const first = await connectStdio(project, era);
  const { process_id } = await toolsOf(first).spawn('talker', 'Talk.');
  await expect.poll(() => model.requests.length).toBe(1);
  process.kill(first.pid, 'SIGKILL');
  killed.resolve();
  await first[Symbol.asyncDispose]();

  await using _second = await connectStdio(project, era);
  const ends = async () => only(await sessionOf(project.folder, process_id), 'run.ended').map(({ payload }) => payload.status);
  await expect.poll(ends).toEqual(['completed']);
  // Some clients start a server to ask what it is and end it at once: such a one must not begin what it cannot finish.
  expect(only(await sessionOf(project.folder, process_id), 'run.resumed')).toHaveLength(1);
  expect(model.requests).toHaveLength(2);
});
