/** What happens in the same moment: the same id on two servers, and tasks that ended within one millisecond. */
import { TaskState } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { request, said, taskIn } from '../../../test/support/a2a/peer.ts';
import { serveProject } from '../../../test/support/a2a/serve-project.ts';
import { connect, OWNER, type Served, served } from '../../../test/support/a2a/served.ts';
import type { RunFilter, RunRow } from '../../ledger/port.ts';
import { wordsPart } from './task-out.ts';

/** Another server of the same project, which sees other rows. */
async function beside({ project }: Served, rows: (filter: RunFilter, seen: readonly RunRow[]) => readonly RunRow[]) {
  const { ledger } = project;
  return await serveProject({
    ...project,
    ledger: { ...ledger, runs: async (filter) => rows(filter, await ledger.runs(filter)) },
  });
}

it('other words under an id that another server has just used are refused, and begin nothing', async () => {
  await using server = await served();
  const message = said('Do it.');
  await (await server.client(OWNER)).sendMessage(request(message));
  let hidden = 1;
  await using other = await beside(server, ({ run }, seen) => (run !== undefined && hidden-- > 0 ? [] : seen));
  const client = await connect(other.origin, OWNER, 'JSONRPC');
  const more = { ...message, parts: [wordsPart('Do more.')] };
  await expect(client.sendMessage(request(more))).rejects.toThrow('used before');
  expect(hidden).toBeLessThan(1);
  expect(await server.project.ledger.runs({ roots: true })).toHaveLength(1);
});

it('pages of a list tell tasks apart that ended in the same millisecond', async () => {
  await using server = await served();
  const client = await server.client(OWNER);
  const ids: string[] = [];
  for (const text of ['One.', 'Two.', 'Three.']) ids.push(taskIn(await client.sendMessage(request(said(text)))).id);
  await using other = await beside(server, (_, seen) => seen.map((row) => ({ ...row, endedAt: 1_000 })));
  const lister = await connect(other.origin, OWNER, 'JSONRPC');
  const listed: string[] = [];
  let pageToken = '';
  do {
    const page = await lister.listTasks({
      ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, statusTimestampAfter: undefined },
      ...{ pageToken, pageSize: 1 },
    });
    listed.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(listed.toSorted()).toEqual(ids.toSorted());
});
