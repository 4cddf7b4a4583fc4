/** How a session begins, is left, found again, cancelled and ended, and what of it outlives a process. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executorWorld, follower, heldClock, openedWorld, steps } from '../../../test/support/executors/executor-world.ts';
import { leaves } from '../../../test/support/process/process-tree.ts';
import { limits } from '../../base/limits.ts';

/** As it stands in a file. */
const PLACE = ['$', '{PLACE}'].join('');

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
/** What holds in both versions of the protocol. */
const VERSIONS = [{ protocol: 1 }, { protocol: 2 }] as const;

const numberIn = (text: string, word: string): number => Number(new RegExp(`${word} (\\d+)`).exec(text)?.[1]);

describe('a beginning', () => {
  it.each([
    [['--broken'], 'crashed', /^Sample ended with exit code 3 during the first greeting.* Its last words: .*cannot begin/, 1],
    [['--nonsense'], 'protocol', /^Sample answered the first greeting with something that is not the protocol/, 1],
    [['--protocol', '7'], 'protocol', /speaks version 7 of the protocol, and we speak version 1/, 1],
    [['--auth'], 'auth', /^Sample wants somebody to log in: .*no login was found/, 1],
    [['--auth'], 'auth', /^Sample wants somebody to log in: .*no login was found/, 2],
  ] as const)('of one that is %j fails as %s', async (args, why, message, protocol) => {
    const { open } = await executorWorld({ args, protocol, fields: { needs: ['SAMPLE_KEY'] } });
    const opened = await open();
    expect(opened).toMatchObject({ ok: false, error: { why, message: expect.stringMatching(message) } });
    expect(JSON.stringify(opened)).not.toContain('sk-ant-');
    if (why === 'auth')
      expect(opened).toMatchObject({
        error: { fix: 'Set SAMPLE_KEY, or log in with Sample itself (Sample login: Run `sample login`).' },
      });
    if (why === 'crashed')
      expect(opened).toMatchObject({ error: { exitCode: 3, stderr: expect.stringContaining('[redacted]') } });
  });

  it.each([
    ['initialize', limits.executorStartMs],
    ['session', limits.executorSessionMs],
  ])('of one that is silent at %s ends in time', async (silent, ms) => {
    const clock = heldClock(ms);
    const { open } = await executorWorld({ args: ['--silent', silent], clock });
    const opening = open();
    const ringing = setInterval(() => clock.ring(ms), 10);
    expect(await opening).toMatchObject({ error: { why: 'timeout', message: expect.stringContaining(`within ${ms / 1000} s`) } });
    clearInterval(ringing);
  });

  it('of one that does not speak the version of its entry says so', async () => {
    const { open } = await executorWorld({ fields: { protocol: 2 } });
    expect(await open()).toMatchObject({
      ...{ ok: false, error: { why: 'protocol', message: 'Sample speaks version 1 of the protocol, and we speak version 2.' } },
    });
    const first = await executorWorld({ protocol: 2, fields: { protocol: 1 } });
    expect(await first.open()).toMatchObject({ ok: false });
  });

  it('that is given up ends what was started', async () => {
    const { executors, cwd } = await executorWorld({ args: ['--silent', 'initialize'] });
    const abort = new AbortController();
    const opening = executors.open({ executor: 'sample', key: 'a', cwd, mcp: [] }, abort.signal);
    abort.abort();
    expect(await opening).toMatchObject({ ok: false, error: { why: 'crashed' } });
  });

  it('of one that is not there says how to get it', async () => {
    const fields = { command: ['no-such-agent', '--acp'], install: 'npm install -g no-such-agent' };
    const { open } = await executorWorld({ fields });
    expect(await open()).toMatchObject({
      error: { message: 'Sample is not installed: there is no no-such-agent.', fix: 'Install it: npm install -g no-such-agent' },
    });
    const far = await executorWorld({ tcp: true, fields: { address: '127.0.0.1:1' } });
    expect(await far.open()).toMatchObject({ error: { message: 'Sample cannot be reached at 127.0.0.1:1: ECONNREFUSED.' } });
    expect(await far.open({ cwd: join(far.cwd, 'missing') })).toMatchObject({ error: { message: /no longer exists/ } });
  });

  it('gives it the basics and what its entry names, and nothing else', async () => {
    const environment = {
      ...{
        PATH: process.env['PATH'],
        HOME: '/home/user',
        OPENAI_API_KEY: 'sk-1',
        SAMPLE_KEY: 'k',
        PLACE: 'here',
        SECRET_TOKEN: 't',
      },
    };
    const fields = { keys: ['SAMPLE_KEY', 'NOT_SET'], env: { FILLED: `a-${PLACE}` } };
    const { session } = await openedWorld({ environment, fields });
    const { text } = await session.prompt(steps('env'), follower());
    expect(text.trim().split(' ').sort()).toEqual(
      ['FILLED', 'HOME', 'PATH', 'PWD', 'SAMPLE_KEY', 'TERM', 'TROUPE_EXECUTOR_MARK'].sort(),
    );
    const missing = await executorWorld({ environment: {}, fields: { env: { X: PLACE } } });
    expect(await missing.open()).toMatchObject({ error: { message: 'Sample needs PLACE, which is not set.' } });
  });
});

describe('modes, models and servers', () => {
  const stdio = { kind: 'stdio', name: 'near', command: 'server', args: ['-x'], env: { A: 'b' } } as const;
  const http = { kind: 'http', name: 'far', url: 'http://127.0.0.1:1/mcp', headers: { H: 'v' } } as const;

  it.each([
    { how: 'modes', args: ['--modes', 'modes', '--http'], protocol: 1 },
    { how: 'options', args: ['--modes', 'options', '--http'], protocol: 1 },
    { how: 'options of version 2', args: ['--http'], protocol: 2 },
  ] as const)('are set where they are offered as $how', async ({ args, protocol }) => {
    const fields = { modes: { 'read-only': 'plan', full: 'agent' } };
    const { session } = await openedWorld(
      { args, protocol, fields },
      {
        ...{ mode: 'read-only', model: 'large', mcp: [stdio, http] },
      },
    );
    expect(session.about).toMatchObject({ mode: 'plan', model: 'large', without: [], mcp: ['stdio', 'http'] });
    const { text } = await session.prompt(steps('about'), follower());
    expect(JSON.parse(text)).toMatchObject({ mode: 'plan', model: 'large', mcp: ['stdio:near', 'http:far'] });
  });

  it('that are not there are told', async () => {
    const { session } = await openedWorld(
      { args: ['--modes', 'none'], fields: { modes: { full: 'agent' } } },
      {
        ...{ mode: 'full', model: 'huge', mcp: [http] },
      },
    );
    expect(session.about.without).toEqual([
      'It cannot be given the MCP server far: it takes none over http.',
      'Sample has no mode agent; it offers none.',
      'Sample has no model huge; it offers small, large.',
    ]);
    const plain = await openedWorld({}, { mode: 'read-only' });
    expect(plain.session.about.without).toEqual(['Sample has no mode in which it changes nothing.']);
  });

  it('whose ids are addresses are found by their ends', async () => {
    const { session } = await openedWorld({ fields: { modes: { full: 'agent' } } }, { mode: 'full' });
    expect(session.about).toMatchObject({ mode: 'https://modes.example#agent', without: [] });
  });
});

describe('an image', () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'aGk=' } as const;
  it('goes to one that takes it, and is named to one that does not', async () => {
    const seeing = await openedWorld({ args: ['--image'] });
    const { text } = await seeing.session.prompt([...steps('got'), image], follower());
    expect(JSON.parse(text)).toEqual([
      ['text', ['text']],
      ['image', ['data', 'mimeType']],
    ]);
    const blind = await openedWorld();
    const handlers = follower();
    expect((await blind.session.prompt([...steps('got'), image], handlers)).text).not.toContain('image",');
    expect(handlers.notices()).toEqual(['It takes no images: it is told only that there was one.']);
  });
});

describe('a session that is left', () => {
  it.each(VERSIONS)('is found again with what it asks and what it said meanwhile: version $protocol', async ({ protocol }) => {
    const { session, open } = await openedWorld({ protocol });
    const first = follower({ decide: () => new Promise(() => undefined) });
    void session.prompt(steps('say before', 'ask * may I', 'say after'), first);
    await expect.poll(() => first.asked.length).toBe(1);
    session.leave();
    expect(first.asked[0]?.signal.aborted).toBe(true);
    const again = await open({ executor: 'whatever' });
    if (!again.ok) throw new Error('not found again');
    expect(again.value).toMatchObject({ restored: 'live', session: session.session });
    const second = follower();
    const ended = await again.value.resume(second);
    expect(ended).toMatchObject({ stop: 'end_turn', text: 'before\npermission y-once\nafter\n' });
    expect(second.asked).toHaveLength(1);
    expect(second.updates.map((one) => one.kind)).toEqual(['text', 'text']);
    expect(again.value.resume(follower())).toBeUndefined();
  });

  it('does not take the answer of who has left', async () => {
    const { session } = await openedWorld();
    const answers: ((decision: 'allow_once') => void)[] = [];
    const first = follower({ decide: () => new Promise((resolve) => answers.push(resolve)) });
    void session.prompt(steps('ask * go'), first);
    await expect.poll(() => answers.length).toBe(1);
    session.leave();
    for (const answer of answers) answer('allow_once');
    expect(await session.resume(follower({ decide: () => 'reject_once' }))).toMatchObject({ text: 'permission n-once\n' });
    expect(await session.prompt(steps('say next'), follower())).toMatchObject({ text: 'next\n' });
  });

  it('keeps the end of a prompt for who comes', async () => {
    const { session, cwd, outside } = await openedWorld();
    const call = (status: string) => `update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"${status}"}`;
    const said = steps('say a', 'say b', call('pending'), 'say c', call('completed'), `touch ${join(outside, 'done')}`);
    void session.prompt([...said, ...steps(`write ${join(cwd, 'f')} x`)], follower());
    session.leave();
    await expect.poll(() => existsSync(join(outside, 'done'))).toBe(true);
    // A file is written only when somebody allows it: that waits.
    const second = follower();
    const resumed = session.resume(second);
    expect(await resumed).toMatchObject({ kind: 'ended', text: expect.stringMatching(/^a\nb\nc\nwrote .*\n$/) });
    // What came while nobody was there is told in as few words as there can be; on a busy machine the rest comes by itself.
    const told = second.updates.map((one) => (one.kind === 'text' ? one.text : one.kind === 'call' ? one.call.status : ''));
    expect(told.join('')).toMatch(/^a\nb\n(pending)?(completed)?c\n(completed)?wrote .*\n$/);
    expect(told).toContain('completed');
    expect(second.files).toHaveLength(1);
  });

  it('ends by itself after a while', async () => {
    const clock = heldClock(limits.executorIdleMs);
    const { session, open } = await openedWorld({ clock });
    const handlers = follower();
    void session.prompt(steps('pid', 'cancelled'), handlers);
    await expect.poll(() => handlers.updates.length).toBe(1);
    const pid = session.about.pid ?? 0;
    session.leave();
    clock.ring(limits.executorIdleMs);
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await open()).toMatchObject({ value: { restored: 'new' } });
  });

  it('is taken over by a second one that opens it', async () => {
    const { session, open } = await openedWorld();
    const first = follower({ decide: () => new Promise(() => undefined) });
    void session.prompt(steps('ask * x'), first);
    await expect.poll(() => first.asked.length).toBe(1);
    const again = await open();
    if (!again.ok) throw new Error('not found again');
    expect(await again.value.resume(follower())).toMatchObject({ text: 'permission y-once\n' });
  });
});

describe('a session of an earlier life', () => {
  it.each([
    { how: 'loaded', args: [], protocol: 1 },
    { how: 'resumed', args: ['--resume'], protocol: 1 },
    { how: 'resumed in version 2', args: [], protocol: 2 },
  ] as const)('is $how, and its past is not told again', async ({ args, protocol }) => {
    const world = await executorWorld();
    const store = join(world.outside, 'store');
    mkdirSync(store);
    const options = { args: ['--store', store, ...args], cwd: world.cwd, protocol };
    const first = await openedWorld(options);
    await first.session.prompt(steps('say remembered'), follower());
    const { session: id } = first.session;
    await first.executors.close();
    const second = await openedWorld(options, { session: id });
    expect(second.session).toMatchObject({ restored: 'loaded', session: id, about: { canLoad: true, without: [] } });
    const handlers = follower();
    const usage = 'update {"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":3,"currency":"USD"}}';
    expect(await second.session.prompt(steps('say fresh', usage), handlers)).toEqual({
      ...{ kind: 'ended', stop: 'end_turn', text: 'fresh\n', cut: false },
    });
  });

  it('that is gone becomes a new one, which is told', async () => {
    const world = await executorWorld();
    const { session } = await openedWorld({ args: ['--store', world.outside] }, { session: 'long-gone' });
    expect(session.restored).toBe('new');
    expect(session.about.without).toEqual(['Its session long-gone could not be taken up again: this is a new one.']);
    const unable = await openedWorld({}, { session: 'x' });
    expect(unable.session).toMatchObject({ restored: 'new', about: { canLoad: false } });
  });
});

describe('a cancel', () => {
  it.each(VERSIONS)('reaches the executor, and what it asks is answered so: version $protocol', async ({ protocol }) => {
    const { session } = await openedWorld({ protocol });
    const handlers = follower({ decide: () => new Promise(() => undefined) });
    const prompted = session.prompt(steps('ask * x', 'cancelled'), handlers);
    await expect.poll(() => handlers.asked.length).toBe(1);
    handlers.abort.abort();
    expect(await prompted).toMatchObject({ stop: 'cancelled', text: 'permission cancelled\n' });
    expect(handlers.asked[0]?.signal.aborted).toBe(true);
    expect(await session.prompt(steps('say on'), follower())).toMatchObject({ text: 'on\n' });
  });

  it('stops commands, and counts also when it is answered with an error', async () => {
    const { session } = await openedWorld();
    const handlers = follower();
    const prompted = session.prompt(steps('run-on sleep 306', 'error-when-cancelled'), handlers);
    await expect.poll(() => handlers.updates.length).toBe(1);
    handlers.abort.abort();
    expect(await prompted).toMatchObject({ kind: 'ended', stop: 'cancelled' });
    expect(handlers.commands).toMatchObject([{ line: 'sleep 306', stopped: true, signal: 'SIGTERM' }]);
  });

  it.each(VERSIONS)('ends one that does not hear: version $protocol', async ({ protocol }) => {
    const clock = heldClock(limits.executorCancelMs, limits.executorEndMs);
    const { session } = await openedWorld({ clock, protocol, args: ['--stays'] });
    const handlers = follower();
    const prompted = session.prompt(steps('say deaf', 'hang'), handlers);
    await expect.poll(() => handlers.updates.length).toBe(1);
    handlers.abort.abort();
    const ringing = setInterval(() => {
      clock.ring(limits.executorCancelMs);
      clock.ring(limits.executorEndMs);
    }, 10);
    expect(await prompted).toMatchObject({ stop: 'cancelled', text: 'deaf\n' });
    clearInterval(ringing);
    expect(handlers.notices()).toEqual([expect.stringContaining('(executorCancelMs), and was ended')]);
    await expect.poll(() => isRunning(session.about.pid ?? 0)).toBe(false);
  });

  it('before it begins cancels at once', async () => {
    const { session } = await openedWorld();
    const handlers = follower();
    handlers.abort.abort();
    expect(await session.prompt(steps('cancelled'), handlers)).toMatchObject({ stop: 'cancelled' });
  });
});

describe('the end', () => {
  it('takes along its children, and daemons that left its group', async () => {
    const { session } = await openedWorld();
    const { text } = await session.prompt(steps('stderr some words', 'child', 'daemon marked', 'daemon unmarked'), follower());
    const child = numberIn(text, 'child');
    const [marked = 0, unmarked = 0] = [...text.matchAll(/daemon (\d+)/g)].map(([, pid]) => Number(pid));
    const ended = await session.end();
    expect(ended).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^some words\nclosed sample-/) });
    // One that was ended is there until the machine's first process has heard of it.
    await expect.poll(() => isRunning(child)).toBe(false);
    if (process.platform === 'linux') {
      await expect.poll(() => isRunning(marked)).toBe(false);
      expect(ended.survivors).toEqual([`${marked} sleep 307`, `${unmarked} sleep 307 (perhaps its own; left alone)`]);
    }
    process.kill(unmarked, 'SIGKILL');
    expect(await session.end()).toBe(ended);
  });

  it.each([{ tcp: false }, { tcp: true }])('takes along daemons of commands that it had us run (%j)', async ({ tcp }) => {
    const { session } = await openedWorld({ tcp });
    const { text } = await session.prompt(steps(`run . - ${leaves('sleep 309')}`), follower());
    const daemon = Number(/\d+/.exec(text.slice(text.indexOf('output')))?.[0]);
    const ended = await session.end();
    if (process.platform !== 'linux') return;
    expect(ended.survivors).toEqual([expect.stringMatching(`^${daemon} `)]);
    await expect.poll(() => isRunning(daemon)).toBe(false);
  });

  it('of one that does not end when its input does is made', async () => {
    const clock = heldClock(limits.executorEndMs);
    const { session, executors } = await openedWorld({ args: ['--stays'], clock });
    const ringing = setInterval(() => clock.ring(limits.executorEndMs), 10);
    await executors.close();
    clearInterval(ringing);
    expect(await session.end()).toMatchObject({ signal: 'SIGTERM' });
    expect(await executors.open({ executor: 'sample', key: 'b', cwd: '/', mcp: [] }, new AbortController().signal)).toMatchObject(
      {
        error: { message: 'The project was closed.' },
      },
    );
  });

  it.each(VERSIONS)('in the middle of a prompt cancels it: version $protocol', async ({ protocol }) => {
    const { session } = await openedWorld({ protocol });
    const handlers = follower();
    const prompted = session.prompt(steps('say x', 'cancelled'), handlers);
    await expect.poll(() => handlers.updates.length).toBe(1);
    await session.end();
    expect(await prompted).toMatchObject({ kind: 'ended', stop: 'cancelled', text: 'x\n' });
  });

  it('leaves others alone: many sessions at once', async () => {
    const { executors, cwd } = await executorWorld();
    const signal = new AbortController().signal;
    const texts = await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        const opened = await executors.open({ executor: 'sample', key: `run-${at}`, cwd, mcp: [] }, signal);
        if (!opened.ok) return opened.error.message;
        writeFileSync(join(cwd, `${at}.txt`), String(at));
        const ended = await opened.value.prompt(steps(`read ${join(cwd, `${at}.txt`)}`), follower());
        await opened.value.end();
        return ended.text;
      }),
    );
    expect(texts).toEqual(Array.from({ length: 6 }, (_, at) => `read "${at}"\n`));
  });
});
