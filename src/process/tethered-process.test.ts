import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { endMarked, markedProcesses, runningProcesses } from '../../test/support/process/marked-processes.ts';
import { startTethered, type TetheredOptions } from './tethered-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-tethered-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { PATH: process.env['PATH'] ?? '' };
const start = (program: string, args: readonly string[], options: Partial<TetheredOptions> = {}) =>
  startTethered(program, args, { folder, environment, input: 'none', ...options }).child;

/** How it ended and what it wrote. */
async function outcome(child: ReturnType<typeof start>) {
  const [[code, signal], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code, signal, stdout, stderr };
}

describe('a tethered process', () => {
  it('ends as it would alone', async () => {
    const sh = (command: string) => outcome(start('sh', ['-c', command, 'name', 'a b', '']));
    expect(await sh('echo "$0,$1,$2,$#"; echo err >&2; exit 7')).toEqual({
      code: 7,
      signal: null,
      stdout: 'name,a b,,2\n',
      stderr: 'err\n',
    });
    expect(await sh('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL', stderr: '' });
    expect(await sh('kill -15 $$')).toMatchObject({ code: null, signal: 'SIGTERM', stderr: '' });
  });

  it('is the process that was started, leads its group and has no children but its own', async () => {
    const child = start('sh', ['-c', 'echo $$; ps -A -o ppid=,pgid=,pid= | sed "s/  */ /g; s/^ //"; true']);
    const { stdout } = await outcome(child);
    const [own, ...rows] = stdout.trim().split('\n');
    expect(Number(own)).toBe(child.pid);
    const family = rows.map((row) => row.split(' ').map(Number)).filter(([, group]) => group === child.pid);
    // The leader, `ps` and `sed`.
    expect(family.map(([parent]) => parent === child.pid).sort()).toEqual([false, true, true]);
  });

  it('gets its input whole, from the first byte on', async () => {
    const child = start('cat', [], { input: 'pipe' });
    const sent = `\n\n${'é\u2028\r\n'.repeat(200_000)}last`;
    child.stdin.end(sent);
    expect(await outcome(child)).toMatchObject({ code: 0, stdout: sent });
  });

  it('reads from nothing without input', async () => {
    expect(await outcome(start('sh', ['-c', 'test -c /dev/stdin && cat && echo nothing']))).toMatchObject({
      stdout: 'nothing\n',
    });
  });

  it('fails to start as the system says', async () => {
    const [missing] = await once(start('/no/such/program', []), 'error');
    expect(missing).toMatchObject({ code: 'ENOENT', path: '/no/such/program' });
    const [unknown] = await once(start('no-such-program', []), 'error');
    expect(unknown).toMatchObject({ code: 'ENOENT', path: 'no-such-program' });
    const [nowhere] = await once(start('true', [], { folder: join(folder, 'missing') }), 'error');
    expect(nowhere).toMatchObject({ code: 'ENOENT' });
  });

  it('gets its variables, also those that no shell would pass on', async () => {
    const given = { ...environment, ODD: ' $(x) "\n', HOME: '/' };
    const print = ['-e', 'delete process.env.PWD; process.stdout.write(JSON.stringify(process.env))'];
    const plain = await outcome(start(process.execPath, print, { environment: given }));
    expect(JSON.parse(plain.stdout)).toMatchObject(given);
    const odd = await outcome(start(process.execPath, print, { environment: { ...given, 'a.b': '1' } }));
    expect(JSON.parse(odd.stdout)).toMatchObject({ ...given, 'a.b': '1' });
  });

  it('is one of many at once', async () => {
    const ended = await Promise.all(
      Array.from({ length: 100 }, (_, index) => outcome(start('sh', ['-c', `echo ${index}; exit ${index}`]))),
    );
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(ended.map((_, index) => [index, `${index}\n`]));
    const reapers = runningProcesses().filter((one) => one.parent === process.pid && one.command.includes('troupe-reaper'));
    expect(reapers).toHaveLength(1);
  });
});

describe('the end of this process', () => {
  let count = 0;
  const live = (ending: string) => {
    count += 1;
    const mark = `troupe-tethered-${process.pid}-${count}`;
    const place = mkdtempSync(join(folder, 'life-'));
    const main = join(import.meta.dirname, '../../test/support/process/tethered-parent-main.ts');
    const parent = spawn(process.execPath, [main, mark, place, ending], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      parent.kill('SIGKILL');
      endMarked(mark);
    });
    const reaperOf = () =>
      runningProcesses().find((one) => one.parent === parent.pid && one.command.includes('troupe-reaper'))?.pid;
    return { mark, place, parent, reaperOf };
  };
  it('in the very tick of a start leaves nothing, and nothing began', async () => {
    const { mark, place, parent } = live('suddenly');
    expect(await once(parent, 'exit')).toEqual([null, 'SIGKILL']);
    await expect.poll(() => markedProcesses(mark)).toEqual([]);
    expect(readdirSync(place)).toEqual([]);
  });

  it('by exit takes them along too', async () => {
    const { mark, place, parent } = live('exit');
    expect(await once(parent, 'exit')).toEqual([3, null]);
    expect(readdirSync(place)).toHaveLength(5);
    await expect.poll(() => markedProcesses(mark)).toEqual([]);
  });

  it('is not held up by what stands by', async () => {
    expect(await once(live('return').parent, 'exit')).toEqual([0, null]);
  });

  it.each(['as it was', 'after its reaper was killed'])('spares what was released, %s', async (how) => {
    const { mark, parent, reaperOf } = live('hold');
    const [line] = await once(parent.stdout, 'data');
    const released: number[] = String(line).trim().split(' ').map(Number);
    const first = reaperOf();
    expect(first).toBeDefined();
    if (how !== 'as it was' && first !== undefined) {
      process.kill(first, 'SIGTERM');
      process.kill(first, 'SIGKILL');
      await expect.poll(reaperOf).not.toSatisfy((pid) => pid === undefined || pid === first);
    }
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    const leaders = () => new Set(runningProcesses().flatMap(({ pid, command }) => (command.includes(mark) ? [pid] : [])));
    await expect.poll(leaders).toEqual(new Set(released));
    for (const pid of released) process.kill(-pid, 'SIGKILL');
    await expect.poll(() => markedProcesses(mark)).toEqual([]);
  });
});
