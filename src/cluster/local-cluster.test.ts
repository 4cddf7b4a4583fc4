/** Three Restate servers with a real database and workers, and a worker that is told to stop in the middle of a run. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseOwnPorts } from '../../test/support/cluster/own-ports.ts';
import { startedBy, stillThere } from '../../test/support/process/process-tree.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { systemRandom } from '../base/random.ts';
import type { LivePiece } from '../engine/port.ts';
import { userText } from '../events/messages.ts';
import { createPostgresLive } from '../live/postgres-live.ts';
import { openProject } from '../project/open.ts';
import type { Project } from '../project/project.ts';
import { createAdmin } from './admin.ts';
import { type LocalCluster, startLocalCluster } from './local-cluster.ts';

const root = mkdtempSync(join(tmpdir(), 'troupe-three-'));
const checkout = join(import.meta.dirname, '..', '..');
let cluster: LocalCluster;
let project: Project;
const log: string[] = [];
const KEY = `sk-proj-${'aB3xY9'.repeat(8)}`;
const said = ({ delta }: LivePiece): string => (delta.type === 'tool' ? '' : delta.text);

beforeAll(async () => {
  mkdirSync(join(root, 'agents'));
  const frontmatter = 'name: slow\nmodel: scripted:slow.yaml\ntools: [shell]\npermissions: { shell: allow }';
  writeFileSync(join(root, 'agents', 'slow.md'), `---\n${frontmatter}\n---\nYou work.\n`);
  const wait = { name: 'shell', input: { command: 'touch begun; while ! test -e go; do sleep 0.05; done' } };
  writeFileSync(join(root, 'slow.yaml'), JSON.stringify([{ toolCalls: [wait] }, { text: 'Done.' }]));
  writeFileSync(join(root, 'agents', 'talker.md'), '---\nname: talker\nmodel: scripted:talker.yaml\n---\nYou talk.\n');
  writeFileSync(join(root, 'talker.yaml'), JSON.stringify([{ text: `These are words of a worker, its key ${KEY} and more.` }]));
  await chooseOwnPorts(root, 3);
  cluster = await startLocalCluster({
    root,
    folder: join(root, '.troupe', 'cluster'),
    nodes: 3,
    workers: 2,
    env: { PATH: process.env['PATH'], HOME: root },
    packages: [join(checkout, 'tools', 'cluster')],
    program: join(checkout, 'src', 'cli', 'main.ts'),
    clock: systemClock,
    random: systemRandom,
    say: (text) => void log.push(text),
    gaveUp: () => undefined,
  });
  const env = { HOME: root, TROUPE_LEDGER: cluster.settings.ledger, TROUPE_ENGINE: cluster.settings.engine };
  project = await openProject({ cwd: root, env });
});

afterAll(async () => {
  await project?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

describe('a cluster with three Restate servers', () => {
  it('is one cluster, whose workers are known once', async () => {
    expect(cluster.settings.engine.split(',')).toHaveLength(3);
    const admin = createAdmin(cluster.admin);
    expect(await admin.nodes()).toBe(3);
    expect((await admin.deployments()).map(({ services }) => services)).toEqual([['troupe-run', 'troupe-session']]);
  });

  it('lets a worker that is told to stop finish what it works on, and starts another', async () => {
    const started = await project.engine.start({ agent: 'slow', input: userText('go'), workspace: root });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await expect.poll(() => existsSync(join(root, 'begun'))).toBe(true);
    const owner = (await project.ledger.runs({ run: started.handle.run }))[0]?.owner;
    const resumed = () => project.ledger.read({ session: started.handle.session, types: ['run.resumed'] });
    // On a busy machine one may have been too slow to begin, and another has taken its place: that is not what is tried here.
    const before = await resumed();
    process.kill(owner?.pid ?? 0, 'SIGTERM');
    await expect.poll(() => log.join('\n')).toContain('takes no new work; 1 under way');
    writeFileSync(join(root, 'go'), '');
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(await resumed()).toEqual(before);
    await expect.poll(() => log.filter((line) => line.endsWith(': ready')).length).toBe(3);
    expect(log.join('\n')).toContain('it is started again');
  });

  it('has the words of its workers told to whoever watches, on whichever machine', async () => {
    const heard: LivePiece[] = [];
    const stop = project.live.hear((piece) => heard.push(piece));
    // A worker hears of who watches a moment later, and what it says before that is told to nobody.
    await expect
      .poll(async () => {
        const started = await project.engine.start({ agent: 'talker', input: userText('talk'), workspace: root });
        if (started.kind !== 'started') throw new Error(started.error.message);
        await started.handle.done;
        return heard.length;
      })
      .toBeGreaterThan(0);
    expect(heard[0]).toMatchObject({ agent: 'talker', turn: 1, terminal: true, delta: { type: 'text' } });
    await expect.poll(() => heard.map(said).join('')).toContain('words of a worker, its key [redacted');
    expect(heard.map(said).join('')).not.toContain(KEY);
    stop();
  });

  it('tells words to nobody who does not watch any more, also when it was killed', async () => {
    let ahead = 0;
    const clock = { ...systemClock, elapsed: () => systemClock.elapsed() + ahead };
    const channel = () =>
      createPostgresLive({
        ...{ url: cluster.settings.ledger, clock, random: systemRandom, redact: (text) => text },
        watch: () => () => undefined,
      });
    const [driving, watching, killed] = [channel(), channel(), channel()];
    expect(driving.outside()).toBeUndefined();
    const heard: LivePiece[] = [];
    const stop = watching.hear((piece) => heard.push(piece));
    await expect.poll(() => driving.outside() !== undefined).toBe(true);
    const long = 'All that was said, at length. '.repeat(1_000);
    const piece = { session: 'ses_1', run: 'run_1', agent: 'speaker', turn: 1, attempt: 1, terminal: true, offset: 0 };
    driving.outside()?.({ ...(piece as LivePiece), delta: { type: 'text', text: long } });
    await expect.poll(() => heard.map(said).join('')).toBe(long);
    stop();
    await expect.poll(() => driving.outside()).toBeUndefined();
    killed.hear(() => undefined);
    await expect.poll(() => driving.outside() !== undefined).toBe(true);
    await killed.close();
    expect(driving.outside()).toBeDefined();
    ahead = 4 * limits.liveHereMs;
    expect(driving.outside()).toBeUndefined();
    await Promise.all([driving.close(), watching.close()]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const before = startedBy(process.pid).filter(({ command }) => command.includes(root) || /postgres|restate/.test(command));
    expect(before.length).toBeGreaterThan(4);
    await project.close();
    await cluster.stop();
    await expect.poll(() => stillThere(before)).toEqual([]);
  });
});
