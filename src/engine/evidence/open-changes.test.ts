/** What a prompt left open is there for the next one, whatever became of the folder in between. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { agent, calls, createWorld, says } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { userText } from '../../events/messages.ts';
import type { ModelRequest } from '../../models/port.ts';
import { type OrdinaryTool, textResult } from '../../tools/port.ts';
import { createWorkspaceWatch } from '../../tools/watch/workspace-watch.ts';
import { NO_PAST } from '../record/past.ts';
import { readAll } from '../record/read-all.ts';
import { openAtStart } from './open-changes.ts';

const workspaces = createWorkspaceWatch({ clock: systemClock, environment: process.env });
/** Of the prompt, not of the conversation. */
const turnIn = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);
let place: string;
let folder: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-open-')));
  folder = join(place, 'work');
  mkdirSync(join(folder, 'test'), { recursive: true });
  writeFileSync(join(folder, 'test/a.test.js'), 'check(one);\n');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

it('a prompt during which the folder is not there leaves open what was open, and no child begins with it', async () => {
  const cut: OrdinaryTool = {
    ...{ name: 'cut', description: 'cut', inputSchema: { type: 'object' }, replay: 'never' },
    run: async (_input, { workspace }) => {
      rmSync(join(workspace, 'test/a.test.js'), { force: true });
      return textResult('');
    },
  };
  const world = createWorld({
    agents: [agent({ tools: ['cut'], agents: ['helper'], permissions: { '*': 'allow' } }), agent({ name: 'helper', tools: [] })],
    tools: [cut],
    engineOptions: { workspaces },
    brain: (request) => {
      if (request.agent === 'helper' || turnIn(request) > 2) return says('Done.');
      return turnIn(request) === 1
        ? calls({ name: 'cut' })
        : calls({ name: 'helper', input: { prompt: 'Look.', reason: 'need' } });
    },
  });
  const prompt = async (session?: SessionId): Promise<SessionId> => {
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: folder, session });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    return started.handle.session;
  };
  const session = await prompt();
  renameSync(folder, join(place, 'away'));
  await prompt(session);
  rmSync(folder, { recursive: true, force: true });
  renameSync(join(place, 'away'), folder);
  await prompt(session);
  const all = await readAll(world.ledger, session, { types: ['run.started'] });
  const open = all.map((event) => (event.event_type === 'run.started' ? [event.payload.agent, event.payload.open?.length] : []));
  expect(open).toEqual([
    ['worker', undefined],
    ['helper', undefined],
    ['worker', 1],
    ['helper', undefined],
    ['worker', 1],
    ['helper', undefined],
  ]);
  await world.close();
});

it('what was done in a worktree that is gone is settled when somebody has committed what came of it', async () => {
  const gone = { folder: join(place, 'gone'), path: 'test/a.test.js', before: 'as it was', changes: [3] };
  const past = { ...NO_PAST, facts: { approved: [], members: [], open: [gone] } };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args], {
      cwd: folder,
    });
  expect(await openAtStart({ workspaces }, past, folder)).toEqual({ open: [gone] });
  git('init', '-q');
  expect(await openAtStart({ workspaces }, past, folder)).toEqual({ open: [gone] });
  git('add', '-A');
  git('commit', '-qm', 'first');
  expect(await openAtStart({ workspaces }, past, folder)).toEqual({});
  const there = { ...gone, folder: place };
  expect(await openAtStart({ workspaces }, { ...past, facts: { ...past.facts, open: [there] } }, folder)).toEqual({
    open: [there],
  });
});
