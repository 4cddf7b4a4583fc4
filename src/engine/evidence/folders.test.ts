/** Members that work in folders of their own are judged by what was done there, and by nothing that was done elsewhere. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, type Brain, calls, reports, turnOf } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import type { Tool } from '../../tools/port.ts';

const created = keptWorlds();
const top = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-folders-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const put: Tool = {
  name: 'put',
  description: 'Writes x.ts',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  replay: 'never',
  reportsChanges: true,
  run: async (input, { workspace }) => {
    const { text } = input as { text: string };
    writeFileSync(join(workspace, 'x.ts'), text);
    const payload = { path: 'x.ts', before: null, after: sha256(text), addedLines: 1, removedLines: 0, diff: `+${text}` };
    return { kind: 'ok', content: [{ type: 'text', text: 'put' }], evidence: [{ type: 'file.diff', payload }] };
  },
};

/** `first` and `second` work in folders of their own; whose claims were backed, in the order in which they were checked. */
async function backed(mode: 'broadcast' | 'sequential', brain: Brain): Promise<readonly boolean[]> {
  const folder = mkdtempSync(join(top, 'case-'));
  const workspaces = { first: join(folder, 'first'), second: join(folder, 'second') };
  for (const path of Object.values(workspaces)) {
    mkdirSync(path);
    writeFileSync(join(path, 'x.ts'), 'as it was');
  }
  const member = (name: string) => agent({ name, tools: ['put'], permissions: { put: 'allow' } });
  const lead = agent({ name: 'lead', tools: [], group: { mode, workers: ['first', 'second'] } });
  const world = created({ brain, tools: [put], agents: [lead, member('first'), member('second')] });
  const origin = { kind: 'group', workspaces } as const;
  const started = await world.engine.start({ agent: 'lead', input: userText('Go'), workspace: folder, origin });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  const checks = await world.ledger.read({ session: started.handle.session, types: ['evidence.checked'] });
  return checks.map((event) => event.event_type === 'evidence.checked' && event.payload.verified);
}

const claims = [{ kind: 'file', path: 'x.ts' }];

it('a change of the same path in another folder does not take away from a claim', async () => {
  const firstWrote = Promise.withResolvers<void>();
  const secondWrote = Promise.withResolvers<void>();
  const brain: Brain = async (asked) => {
    const isFirst = asked.agent === 'first';
    if (turnOf(asked) === 1) {
      if (!isFirst) await firstWrote.promise;
      return calls({ name: 'put', input: { text: `made by ${asked.agent}` } });
    }
    if (isFirst) {
      firstWrote.resolve();
      await secondWrote.promise;
    } else secondWrote.resolve();
    return reports('done', { claims });
  };
  expect(await backed('broadcast', brain)).toEqual([true, true]);
});

it('a change of the same path in another folder does not prove a claim', async () => {
  const brain: Brain = (asked) =>
    asked.agent === 'first' && turnOf(asked) === 1
      ? calls({ name: 'put', input: { text: 'as it was' } })
      : reports('done', { claims });
  expect(await backed('sequential', brain)).toEqual([true, false]);
});
