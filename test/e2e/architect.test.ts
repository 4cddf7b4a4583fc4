/** An architect and its executor in a real repository: worktrees, patches, acceptance, and what the user has is left alone. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseJson } from '../../src/base/json.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { testTerminal } from '../support/test-terminal.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/22-architect');
const PROMPT = 'Add a CLI tool to this repo and cover it with tests.';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-architect-'));
  await cp(EXAMPLE, folder, { recursive: true });
  // An agent of the project in the place of the built-in executor; the demo has that one.
  const lead = join(folder, 'agents/lead.md');
  await writeFile(lead, (await readFile(lead, 'utf8')).replace('executor: builtin', 'executor: hand'));
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'first');
  // What somebody has not committed is part of what tasks begin from, and stays as it is.
  await writeFile(join(folder, 'workspace/src/draft.js'), 'export const draft = true;\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const git = (...parameters: readonly string[]): string =>
  execFileSync('git', [...parameters], { cwd: join(folder, 'workspace'), encoding: 'utf8' });

async function troupe(...words: readonly string[]) {
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder };
  const terminal = testTerminal({ cwd: folder, env });
  const code = await runProgram([...words], terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

async function eventsOfRun(): Promise<readonly LedgerEvent[]> {
  const { out } = await troupe('logs', 'last', '--jsonl');
  return out
    .trim()
    .split('\n')
    .map((line) => {
      const parsed = parseJson(line);
      if (!parsed.ok) throw new Error(line);
      return parsed.value as unknown as LedgerEvent;
    });
}

const ofType = <Type extends LedgerEvent['event_type']>(events: readonly LedgerEvent[], type: Type) =>
  events.filter((event): event is Extract<LedgerEvent, { event_type: Type }> => event.event_type === type);

it('has a command added by two executors at once, proves it, and touches nothing of the user’s', async () => {
  const { code, out, err } = await troupe('run', 'lead', PROMPT);
  expect(code, err).toBe(0);
  expect(out).toContain('The repository has a command now');
  expect(err).toMatch(/^completed, verified · /m);
  expect(git('status', '--porcelain')).toBe('?? src/draft.js\n');
  expect((await readdir(join(folder, 'workspace'))).toSorted()).toEqual(
    ['.git', 'README.md', 'check-readme.js', 'package.json', 'src', 'test'].toSorted(),
  );
  const events = await eventsOfRun();
  const [first, second] = ofType(events, 'task.package').map(({ payload }) => payload);
  expect(parse(first?.yaml ?? '')).toMatchObject({
    task_id: first?.task,
    instruction: { scope: { include_paths: ['bin/', 'test/slugify.test.js', 'package.json'] } },
    runtime: { tool_mode: 'full', environment_fingerprint: expect.stringMatching(/^env:\/\/hash\/[0-9a-f]{12}$/) },
  });
  // Both were at work before either had ended.
  const working = events.findIndex(({ event_type, payload }) => event_type === 'run.ended' && payload.finalAgent === 'hand');
  const begun = ofType(events.slice(0, working), 'run.started').filter(({ payload }) => payload.origin.kind === 'task');
  expect(begun).toHaveLength(2);
  // What was written outside of its scope was taken back, and is kept.
  const [captured] = ofType(events, 'task.captured').filter(({ payload }) => payload.task === first?.task);
  expect(captured?.payload.undone).toMatchObject([{ path: 'NOTES.md', kept: expect.any(String) }]);
  expect(await readFile(captured?.payload.undone[0]?.kept ?? '', 'utf8')).toContain('I also left some notes here.');
  const [merged] = ofType(events, 'task.merged');
  expect(merged?.payload).toMatchObject({ tasks: [first?.task, second?.task], files: 4, conflicts: [] });
  expect(merged?.payload.patch).toMatch(/^artifact:\/\/patches\//);
  // What was known is kept before anybody works.
  const snapshots = events.flatMap(({ event_type }, index) => (event_type === 'task.snapshot' ? [index] : []));
  const firstWork = events.findIndex(({ event_type, payload }) => event_type === 'run.started' && payload.origin.kind === 'task');
  expect(snapshots.filter((index) => index < firstWork)).toHaveLength(2);
  const listed = ofType(events, 'artifact.manifest').map(({ payload }) => payload.artifacts?.map(({ type }) => type) ?? []);
  expect(listed).toContainEqual(expect.arrayContaining(['patch', 'test_report']));
  expect(ofType(events, 'cli.stdout').length).toBeGreaterThan(0);
  const [config] = ofType(events, 'session.config').filter(({ payload }) => payload.agent === 'lead');
  expect(config?.payload.config).toMatchObject({ limits: { max_cli_calls_per_task: 6, max_cli_duration_seconds: 300 } });
});

it('in place, takes back what an executor writes outside of its scope, and tells it', async () => {
  const file = join(folder, 'agents/lead.md');
  await writeFile(file, (await readFile(file, 'utf8')).replace('parallel: 2', 'workspace: in-place'));
  const { code, err } = await troupe('run', 'lead', PROMPT);
  expect(code, err).toBe(0);
  const [captured] = ofType(await eventsOfRun(), 'task.captured');
  expect(captured?.payload.undone).toMatchObject([{ path: 'NOTES.md', why: expect.any(String), kept: expect.any(String) }]);
  expect(await readFile(captured?.payload.undone[0]?.kept ?? '', 'utf8')).toContain('I also left some notes here.');
  const names = await readdir(join(folder, 'workspace'));
  expect(names).toContain('bin');
  expect(names).not.toContain('NOTES.md');
  expect(await readFile(join(folder, 'workspace/src/draft.js'), 'utf8')).toBe('export const draft = true;\n');
});

it('shows its packages before anything is handed over, and goes on from there', async () => {
  const planned = await troupe('run', 'lead', PROMPT, '--plan-only');
  expect(planned.code, planned.err).toBe(0);
  const packages = parseAllDocuments(planned.out).map((document) => document.toJS() as { instruction: { goal: string } });
  expect(packages.map(({ instruction }) => instruction.goal.split(' ')[0])).toEqual(['Add', 'Document']);
  expect(ofType(await eventsOfRun(), 'run.started').some(({ payload }) => payload.origin.kind === 'task')).toBe(false);
  expect(planned.err).not.toContain('hands task-');
  // A plan has no files and no place of its own: whoever plans the same has all of it, too.
  const worktrees = spawnSync('git', ['worktree', 'list'], { cwd: join(folder, 'workspace'), encoding: 'utf8' });
  expect(worktrees.stdout.trim().split('\n')).toHaveLength(1);
  const again = await troupe('run', 'lead', PROMPT, '--plan-only');
  expect(parseAllDocuments(again.out), again.err).toHaveLength(2);
  const resumed = await troupe('resume', 'last');
  expect(resumed.code, resumed.err).toBe(0);
  expect(resumed.err).toMatch(/^completed, verified · /m);
});

it('the demo has the built-in executor add a command and its tests, and proves it, without a key', async () => {
  const { code, out, err } = await troupe('demo');
  expect(code, err).toBe(0);
  expect(out).toContain('The repository has a command now');
  expect(err).toMatch(/^completed, verified · /m);
  expect(err).toMatch(/hands task-\w+ to builtin; must pass: node --test/);
  const demo = /looks at what it did, in (\S+)\./.exec(err)?.[1] ?? '';
  const applied = await troupe('-C', demo, 'apply', 'last');
  expect(applied.code, applied.err).toBe(0);
  const tool = spawnSync(process.execPath, ['bin/slugify.js', 'Hello, World'], { cwd: join(demo, 'workspace') });
  expect(String(tool.stdout)).toBe('hello-world\n');
  await rm(demo, { recursive: true, force: true });
  expect(await troupe('demo', 'fixr')).toMatchObject({ code: 2, err: expect.stringContaining('fixer') });
});
