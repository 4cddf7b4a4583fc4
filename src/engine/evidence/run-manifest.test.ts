/** What a run leaves behind, with the real shell and real files: patch, reports and log, listed in a manifest. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { contentOf } from '../../../test/support/artifacts/sink.ts';
import { agent, calls, createWorld, reports, turnOf } from '../../../test/support/world.ts';
import { createArtifactArchive } from '../../artifacts/archive.ts';
import { createEnvironments } from '../../artifacts/environment/fingerprint.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import type { EventOf } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import { createGuard } from '../../tools/closed/guard.ts';
import { writeTool } from '../../tools/files/write.ts';
import { shellTool } from '../../tools/shell/shell.ts';
import { createWorkspaceWatch } from '../../tools/watch/workspace-watch.ts';

const environment = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
const guard = createGuard();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-manifest-')));
  folders.push(folder);
  return folder;
}

type Call = { readonly name: string; readonly input: Record<string, string> };

async function leftBy(folder: string, deeds: readonly Call[]) {
  const world = createWorld({
    agents: [agent({ tools: ['write', 'shell'], permissions: { '*': 'allow' }, maxTurns: 20 })],
    tools: [
      shellTool({ guard, clock: systemClock, environment }),
      writeTool({ guard, clock: systemClock, random: systemRandom }),
    ],
    engineOptions: {
      workspaces: createWorkspaceWatch({ clock: systemClock, environment }),
      environments: createEnvironments({ environment, redact: (text) => text }),
    },
    brain: (request) => {
      const deed = deeds[turnOf(request) - 1];
      return deed === undefined ? reports('Done.') : calls(deed);
    },
  });
  try {
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: folder });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    const { session } = started.handle;
    const events = await world.ledger.read({ session });
    const artifacts = await createArtifactArchive(world.ledger, systemClock).list({ session });
    const texts = await Promise.all(artifacts.map(async (one) => (await contentOf(world.ledger, one)).toString()));
    const manifest = events.find((event): event is EventOf<'artifact.manifest'> => event.event_type === 'artifact.manifest');
    expect((await world.ledger.verify()).kind).toBe('sound');
    return { events, artifacts, texts, manifest: manifest?.payload };
  } finally {
    await world.close();
  }
}

const write = (path: string, content: string): Call => ({ name: 'write', input: { path, content } });
const shell = (command: string): Call => ({ name: 'shell', input: { command } });
const TEST = "require('node:test').test('is', () => {});\n";

it('changes and tests of a run are a patch, a report and a log, and the manifest lists them as they are', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'old.txt'), 'one\n');
  const { artifacts, texts, manifest } = await leftBy(folder, [
    write('is.test.js', TEST),
    shell('echo two >> old.txt'),
    shell('echo three >> old.txt'),
    shell('node --test'),
  ]);
  expect(artifacts.map(({ type, ref }) => `${type} ${ref}`)).toEqual([
    'patch artifact://patches/patch-0001.diff',
    'test_report artifact://reports/node.txt',
    'log_bundle artifact://logs/commands-0001.log',
  ]);
  const entry = ({ type, ref, generated_by, checksum }: (typeof artifacts)[number]) => ({ type, ref, generated_by, checksum });
  expect(manifest).toMatchObject({
    manifest_id: expect.stringMatching(/^artifact-manifest-/),
    session_id: artifacts[0]?.session,
    generated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    environment_fingerprint: expect.stringMatching(/^env:\/\/hash\/[0-9a-f]{12}$/),
    artifacts: artifacts.map(entry),
  });
  expect(manifest?.missing_executor_manifest).toBeUndefined();
  for (const [index, text] of texts.entries())
    expect(artifacts[index]?.checksum).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
  const again = newFolder();
  writeFileSync(join(again, 'old.txt'), 'one\n');
  execFileSync('git', ['init', '-q'], { cwd: again });
  execFileSync('git', ['apply', '-'], { cwd: again, input: texts[0] });
  expect(readFileSync(join(again, 'old.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  expect(readFileSync(join(again, 'is.test.js'), 'utf8')).toBe(TEST);
  expect(texts[1]).toMatch(/^\$ node --test\n\(exit 0, \d+ ms, passed\)\n/);
  expect(texts[2]).toContain('$ echo two >> old.txt');
});

it('the environment is recorded once, under the reference that the manifest has', async () => {
  const { events, manifest } = await leftBy(newFolder(), [write('a.txt', 'a')]);
  const recorded = events.filter((event) => event.event_type === 'environment.recorded');
  expect(recorded.map((event) => (event.payload as { ref: string }).ref)).toEqual([manifest?.environment_fingerprint]);
  expect(JSON.stringify(recorded)).toContain('"node":"v');
});

it('a run that changed nothing and tested nothing leaves nothing', async () => {
  const { artifacts, manifest } = await leftBy(newFolder(), [shell('true')]);
  expect({ artifacts, manifest }).toEqual({ artifacts: [], manifest: undefined });
});
