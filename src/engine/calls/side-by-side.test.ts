/** Two agents side by side in one workspace: what one has proved must still hold when the other has changed files after it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agent, calls, createWorld, reports, turnOf, type World } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { userText } from '../../events/messages.ts';
import type { ModelRequest } from '../../models/port.ts';
import { createGuard } from '../../tools/closed/guard.ts';
import { shellTool } from '../../tools/shell/shell.ts';
import { createWorkspaceWatch } from '../../tools/watch/workspace-watch.ts';
import { readAll } from '../record/read-all.ts';

const environment = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) };
const PASSES = "require('node:test')('holds', () => require('node:assert').ok(require('./state.js')));\n";

async function endedOf(world: World) {
  const [run] = await world.ledger.runs({});
  const events = await readAll(world.ledger, run?.session as never, { types: ['run.ended'] });
  return events.flatMap(({ event_type, payload }) => (event_type === 'run.ended' ? [payload] : []));
}

/** `ann` proves the tests; `ben` goes on after her, and does as he is told. */
async function broadcast(deed: string) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-beside-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'state.js'), 'module.exports = true;\n');
  writeFileSync(join(folder, 'state.test.js'), PASSES);
  const claim = (claims: object[]) => reports('Done.', { claims: claims as never });
  const play = async (request: ModelRequest) => {
    const turn = turnOf(request);
    if (request.agent === 'ann')
      return turn === 1
        ? calls({ name: 'shell', input: { command: 'node --test' } })
        : claim([{ kind: 'command', command: 'node --test' }]);
    if (turn > 1) return claim([{ kind: 'file', path: 'own.txt' }]);
    await expect.poll(async () => (await endedOf(world)).length).toBe(1);
    return calls({ name: 'shell', input: { command: deed } });
  };
  const worker = (name: string) => agent({ name, tools: ['shell'], permissions: { shell: 'allow' } });
  const world: World = createWorld({
    agents: [
      agent({ name: 'lead', tools: [], group: { mode: 'broadcast', workers: ['ann', 'ben'] } }),
      worker('ann'),
      worker('ben'),
    ],
    tools: [shellTool({ guard: createGuard(), clock: systemClock, environment })],
    engineOptions: { workspaces: createWorkspaceWatch({ clock: systemClock, environment }) },
    brain: play,
  });
  onTestFinished(() => world.close());
  const started = await world.engine.start({ agent: 'lead', input: userText('Go.'), workspace: folder });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(end.kind);
  const own = (await endedOf(world)).map(({ finalAgent, verification }) => [finalAgent, verification.state]);
  return { verification: end.result.verification, own };
}

it('tests that are older than the change of somebody beside them prove nothing in the end', async () => {
  const { verification, own } = await broadcast("echo mine > own.txt; echo 'module.exports = false;' > state.js");
  expect(own.slice(0, 2)).toEqual([
    ['ann', 'verified'],
    ['ben', 'verified'],
  ]);
  expect(verification).toMatchObject({
    state: 'unverified',
    reasons: ['command "node --test": files were changed after it had passed'],
  });
});

it('what was run again after the last change holds for both', async () => {
  const { verification } = await broadcast('echo mine > own.txt && node --test');
  expect(verification).toEqual({ state: 'verified' });
});
