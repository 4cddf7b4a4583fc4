import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { leaves } from '../../../test/support/process/process-tree.ts';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { runTool } from '../call.ts';
import { createGuard } from '../closed/guard.ts';
import type { ToolOutcome } from '../port.ts';
import { shellTool } from './shell.ts';
import { looksLikeTestRun } from './test-commands.ts';

const guard = createGuard();

const environment = { ...process.env, ANTHROPIC_API_KEY: 'sk-secret', EDITOR: 'vi', DEPLOY_TOKEN: 'given' };
const shell = shellTool({ clock: systemClock, environment, guard });
const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const evidenceOf = (outcome: ToolOutcome, type: string) => outcome.evidence?.find((one) => one.type === type);

/** A process that is gone or only waits to be collected. */
function isGone(pid: number): boolean {
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || / Z /.test(readFileSync(status, 'utf8'));
}

describe('the shell tool', () => {
  it('returns output, errors and the exit code, with evidence', async () => {
    await using place = await testWorkspace();
    const outcome = await shell.run({ command: 'echo out; echo err >&2; exit 3' }, place.context);
    expect(outcome.kind).toBe('error');
    expect(textOf(outcome)).toBe('out\nstderr:\nerr\n(exit code 3)');
    expect(evidenceOf(outcome, 'cli.run')?.payload).toMatchObject({ cwd: place.path, exitCode: 3, signal: null });
    expect(evidenceOf(outcome, 'cli.stdout')).toEqual({ type: 'cli.stdout', payload: { bytes: 4, head: 'out\n' } });
    expect(evidenceOf(outcome, 'cli.stderr')).toEqual({ type: 'cli.stderr', payload: { bytes: 4, head: 'err\n' } });
  });

  it('has no input to wait for, and sees little of our environment', async () => {
    await using place = await testWorkspace();
    expect(textOf(await shell.run({ command: 'cat; pwd' }, place.context))).toBe(`${place.path}\n(exit code 0)`);
    const shown = textOf(await shell.run({ command: 'env' }, place.context));
    expect(shown).toContain('TERM=dumb');
    expect(shown).not.toMatch(/sk-secret|EDITOR|DEPLOY_TOKEN/);
    const allowed = shellTool({ clock: systemClock, environment, guard, allowedVariables: ['EDITOR', 'DEPLOY_TOKEN'] });
    expect(textOf(await allowed.run({ command: 'echo $EDITOR,$DEPLOY_TOKEN' }, place.context))).toBe('vi,\n(exit code 0)');
  });

  it('tells whoever follows its processes of each, which bear a mark', async () => {
    await using place = await testWorkspace();
    const told: string[] = [];
    const began = (pid: number) => {
      told.push(`began ${pid}`);
      return () => void told.push(`ended ${pid}`);
    };
    const context = { ...place.context, processes: { mark: 'a-mark', began } };
    const outcome = await shell.run({ command: 'echo $TROUPE_EXECUTOR_MARK $$' }, context);
    const [mark, pid] = textOf(outcome).split(/\s/);
    expect([mark, told]).toEqual(['a-mark', [`began ${pid}`, `ended ${pid}`]]);
  });

  it('ends what left its group, where it bears a mark', async () => {
    await using place = await testWorkspace();
    const context = { ...place.context, processes: { mark: `left-${process.pid}`, began: () => () => undefined } };
    const outcome = await shell.run({ command: leaves('sleep 306') }, context);
    const pid = Number(textOf(outcome).split('\n')[0]);
    // Elsewhere nobody sees the marks of processes.
    if (process.platform !== 'linux') return void process.kill(pid);
    expect(textOf(outcome)).toContain(`(It left running, and that was ended:\n${pid} `);
    await expect.poll(() => isGone(pid)).toBe(true);
  });

  it('survives a command that prints 500 MB', async () => {
    await using place = await testWorkspace();
    const before = process.memoryUsage.rss();
    const outcome = await shell.run(
      { command: 'echo first; head -c 500000000 /dev/zero | tr "\\0" x; echo; echo last' },
      place.context,
    );
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
    const stdout = evidenceOf(outcome, 'cli.stdout');
    expect(stdout?.payload).toMatchObject({ bytes: 500_000_012 });
    expect(stdout?.attachment?.length).toBeLessThan(limits.toolOutputBytes + 100);
    expect(textOf(outcome)).toMatch(/^first\nx+\n\[… [\d,]+ bytes left out; of 500,000,012 …\]\nx+\nlast\n\(exit code 0\)$/);
  });

  it('stops a command that hangs, with what it printed', async () => {
    await using place = await testWorkspace();
    /** The time is over as soon as the command has begun. */
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback, hold) {
        if (delayMs !== 1_000 && delayMs !== 300) return systemClock.after(delayMs, callback, hold);
        const look = setInterval(() => {
          if (!existsSync(join(place.path, 'begun'))) return;
          clearInterval(look);
          callback();
        }, 5);
        return () => clearInterval(look);
      },
    };
    const timed = shellTool({ clock, environment, guard });
    const command = 'echo begun; touch begun; sleep 100';
    const outcome = await timed.run({ command, timeoutSeconds: 1 }, place.context);
    expect(textOf(outcome)).toBe('begun\n(stopped after 1 s)');
    rmSync(join(place.path, 'begun'));
    const stopped = await runTool(timed, { command }, place.context, { clock, timeoutMs: 300 });
    expect(textOf(stopped)).toBe('The tool ran into its time limit of 300 ms (`toolTimeout`).\nbegun\n(stopped before it ended)');
  });

  it('kills a command that ignores being asked', async () => {
    await using place = await testWorkspace();
    const cancel = new AbortController();
    const context = { ...place.context, signal: cancel.signal };
    const running = shell.run({ command: 'trap "" TERM; echo $$ > pid; while :; do sleep 0.1; done' }, context);
    while (!existsSync(join(place.path, 'pid')) || readFileSync(join(place.path, 'pid'), 'utf8') === '')
      await new Promise(setImmediate);
    const pid = Number(readFileSync(join(place.path, 'pid'), 'utf8'));
    cancel.abort();
    expect(textOf(await running)).toBe('(stopped before it ended)');
    await expect.poll(() => isGone(pid)).toBe(true);
  });

  it('takes children left behind with it', async () => {
    await using place = await testWorkspace();
    const breed =
      'for i in $(seq 20); do (sleep 300 & echo $! >> pids; wait) & done; while [ $(wc -l < pids) -lt 20 ]; do sleep 0.1; done; echo done';
    const outcome = await shell.run({ command: breed }, place.context);
    expect(textOf(outcome)).toBe('done\n(exit code 0)');
    const pids = readFileSync(join(place.path, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(20);
    // Killed is killed, but the kernel may take a moment to clear the process away.
    await expect.poll(() => pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  it('does not wait for a process that left the group and kept the pipe', async () => {
    await using place = await testWorkspace();
    const leaver = 'setsid sh -c "echo \\$\\$ > pid; exec sleep 3600"';
    const command = `${leaver} & while [ ! -s pid ]; do sleep 0.1; done; echo done`;
    const outcome = await shell.run({ command }, place.context);
    onTestFinished(() => void process.kill(left, 'SIGKILL'));
    const left = Number(readFileSync(join(place.path, 'pid'), 'utf8'));
    expect(textOf(outcome)).toBe('done\n(exit code 0)');
    expect(isGone(left)).toBe(false);
    expect(evidenceOf(outcome, 'cli.run')?.payload).toMatchObject({ exitCode: 0 });
  });

  it('says that the workspace is gone after a command deleted it', async () => {
    await using place = await testWorkspace();
    expect((await shell.run({ command: `rm -rf "${place.path}"` }, place.context)).kind).toBe('ok');
    const next = await shell.run({ command: 'true' }, place.context);
    expect(textOf(next)).toBe('The workspace folder no longer exists; an earlier command may have deleted it.');
  });

  it('says when the shell itself is missing', async () => {
    await using place = await testWorkspace();
    const broken = shellTool({ clock: systemClock, environment, guard, shell: '/no/such/shell' });
    expect(textOf(await broken.run({ command: 'true' }, place.context))).toContain('/no/such/shell could not be started');
  });

  it('reports test runs', async () => {
    await using place = await testWorkspace();
    const outcome = await shell.run({ command: 'make test' }, place.context);
    expect(evidenceOf(outcome, 'test.report')?.payload).toMatchObject({ command: 'make test', passed: false });
    expect(evidenceOf(await shell.run({ command: 'true' }, place.context), 'test.report')).toBeUndefined();
  });
});

describe('looksLikeTestRun takes a command for a test run', () => {
  it.each([
    'npm test',
    'npm run test:unit',
    'npx vitest run',
    'vitest',
    'CI=1 pytest -q',
    'cd app && cargo test --all',
    'go test ./...',
    'node --test',
    'node --no-warnings --test src',
    'make -j4 test',
    'python3 -m pytest',
    'dotnet test',
    './gradlew test',
    'time yarn test',
  ])('%s', (command) => expect(looksLikeTestRun(command)).toBe(true));

  it.each([
    'npm install vitest',
    'echo npm test',
    'cat test',
    'node test.js',
    'go build',
    'dotnet build',
    'make',
    'git commit -m "make test"',
    'ls && cat pytest.ini',
  ])('not %s', (command) => expect(looksLikeTestRun(command)).toBe(false));
});
