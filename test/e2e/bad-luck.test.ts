/**
 * Bad input and bad luck, through the real command line: each row has a project of its own, against a model server on this
 * machine. Of each kind of row some are real processes, and the others are the command inside this one. What is wrong and what
 * to do about it is said, the exit code is right, and nothing that was done is lost: afterwards the ledger is sound, the run
 * can be looked at, and it goes on where it can.
 */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/models/script.ts';
import {
  agentWith,
  createTestProject,
  type Ended,
  expectErrorObject,
  expectKept,
  objectIn,
  printed,
  type TestProject,
} from './support-project.ts';

// Several processes each, side by side, on a machine that may be busy.

describe.concurrent('a file is refused:', () => {
  const broken = '---\nname: [helper\ntools: { a: b\n---\nHi.\n';
  it.for([
    ['broken YAML', 'agents/helper.md', broken, 'invalid_agent', /agents\/helper\.md:3:1: error: broken YAML/],
    [
      'an unknown key',
      'agents/helper.md',
      agentWith('maxTruns: 3'),
      'invalid_agent',
      /:3:1: .*"maxTruns"\n.*Did you mean "maxTurns"/,
    ],
    [
      'a huge agent',
      'agents/helper.md',
      agentWith('') + 'x'.repeat(2_000_000),
      'invalid_agent',
      /larger than 1048576 bytes.*\n.*fix:/,
    ],
    [
      'a binary agent',
      'agents/helper.md',
      Uint8Array.of(45, 45, 45, 10, 0, 1, 2),
      'invalid_agent',
      /binary.*\n.*fix: Save it as UTF-8/,
    ],
    [
      'an agent in another encoding',
      'agents/helper.md',
      Uint8Array.of(0xff, 0xfe, 104, 0),
      'invalid_agent',
      /not valid UTF-8|binary/,
    ],
    ['settings in broken YAML', 'troupe.yaml', 'model: [a\nbudget: {', 'config', /troupe\.yaml:2:1: error: broken YAML/],
    [
      'settings with an unknown key',
      'troupe.yaml',
      'modle: x\n',
      'config',
      /troupe\.yaml:1:1: .*"modle"\n.*Did you mean "model"/,
    ],
  ] as const)('%s', async ([name, path, content, code, message]) => {
    await using project = await createTestProject();
    const troupe = project[name === 'broken YAML' ? 'troupe' : 'look'];
    await project.script({ text: 'Hello.' });
    await project.write('agents/other.md', '---\nname: other\n---\nYou are another.\n');
    await project.write(path, content);
    const ended = await troupe('run', 'helper', 'hi');
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) });
    const asJson = await troupe('run', 'agents/helper.md', 'hi', '--json');
    expect(asJson).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    expectErrorObject(asJson, code);
  });
});

describe.concurrent('a prompt is refused that is', () => {
  it.for([
    ['binary', Uint8Array.of(104, 0, 105), /binary.*\n.*fix: put the file into the workspace/],
    ['in another encoding', Uint8Array.of(0xff, 0xfe, 0xc3), /not valid UTF-8.*\n.*fix: convert it/],
    ['too large', 'x'.repeat(4 * 1024 * 1024 + 1), /larger than 4194304 bytes \(limit promptBytes\).*\n.*fix:/],
    ['empty', ' \n', /empty.*\n.*fix:/],
  ] as const)('%s', async ([, input, message]) => {
    await using project = await createTestProject();
    await project.script({ text: 'Hello.' });
    const ended = await project.start(['run', 'helper', '-', '--json'], { input }).ended;
    expect(ended).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    expectErrorObject(ended, 'usage');
  });
});

describe.concurrent('what a server counts', () => {
  it.for([1e300, 2 ** 53])('%d tokens: it is not believed, and the run ends within its budget', async (absurd) => {
    await using project = await createTestProject('budget: { tokens: 100000 }\n');
    await project.serve({ text: 'Hello.', usage: { input: absurd, output: absurd } });
    expect(await project.look('run', 'helper', 'hi')).toMatchObject({ code: 0, out: 'Hello.\n' });
    await expectKept(project, 'completed');
  });

  it('is in doubt after a failure too, and said of as many calls as there were', async () => {
    await using project = await createTestProject('budget: { tokens: 100000 }\n', agentWith('maxRetries: 1'));
    await project.serve({ fault: 'status', status: 500 });
    expect(await project.look('run', 'helper', 'hi')).toMatchObject({ code: 5 });
    const { err } = await project.look('cost', 'last');
    expect(err).toContain('2 calls cut off or failed, counted against budgets in full; providers may have billed for them');
  });
});

interface ModelRow {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly agent?: string;
  readonly code: number;
  readonly says: RegExp;
  readonly fix?: RegExp;
  /** How often the server is asked. Where time runs out, it may do so before a request is on its way. */
  readonly asked: number | { readonly most: number };
}

/** One for each exit code is a process. */
const IN_PROCESSES: ReadonlySet<string> = new Set(['garbage', '404', 'a 429 that passes']);

const status = (code: number, headers = {}): Reply => ({ fault: 'status', status: code, headers });
const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
const modelRows: readonly ModelRow[] = [
  {
    name: 'garbage',
    replies: [{ fault: 'garbage' }],
    code: 5,
    says: /not a model's answer/,
    fix: /address of the provider/,
    asked: 2,
  },
  { name: 'HTML', replies: [{ fault: 'html' }], code: 5, says: /HTML page.*Sign in to the proxy/, fix: /sign-in page/, asked: 2 },
  { name: '401', replies: [status(401)], code: 5, says: /refused the key.*401/, fix: /API key.*troupe doctor/, asked: 1 },
  { name: '404', replies: [status(404)], code: 1, says: /refused the request.*404/, fix: /name of the model/, asked: 1 },
  {
    name: 'a 429 that passes',
    replies: [status(429, { 'retry-after': '1' }), { text: 'Hi.' }],
    code: 0,
    says: /fewer requests/,
    asked: 2,
  },
  { name: '429 without end', replies: [status(429)], code: 5, says: /fewer requests.*429/, fix: /fallback model/, asked: 2 },
  {
    name: 'a 429 that lasts an hour',
    replies: [status(429, { 'retry-after': '3600' })],
    code: 5,
    says: /429/,
    fix: /later/,
    asked: 1,
  },
  {
    name: '503 without end',
    replies: [status(503)],
    code: 5,
    says: /out of order.*503/,
    fix: /an outage: outagePatience/,
    asked: 2,
  },
  { name: '500', replies: [status(500)], code: 5, says: /out of order.*500/, fix: /Try again later/, asked: 2 },
  {
    name: 'a broken connection',
    replies: [{ fault: 'reset' }],
    code: 5,
    says: /connection broke/,
    fix: /Check the network/,
    asked: 2,
  },
  {
    name: 'nothing at all',
    replies: [{ fault: 'hang' }],
    agent: 'maxRetries: 0\nllmTimeout: 1s',
    code: 5,
    says: /within 1 s \(llmTimeout\)/,
    fix: /Raise llmTimeout/,
    asked: { most: 1 },
  },
  {
    name: 'only empty answers',
    replies: [{ text: ' ' }],
    agent: 'maxTurns: 2',
    code: 1,
    says: /its 2 turns/,
    fix: /--max-turns 4\. Or raise maxTurns/,
    asked: 2,
  },
];

describe.concurrent('a model that answers with', () => {
  it.for(modelRows)('$name', async ({ name, replies, agent = 'maxRetries: 1', code, says, fix, asked }) => {
    await using project = await createTestProject('', agentWith(agent));
    const server = await project.serve(...replies);
    const ended = await project[IN_PROCESSES.has(name) ? 'troupe' : 'look']('run', 'helper', 'hi', '--json');
    expect(ended).toMatchObject({ code, err: expect.stringMatching(says) });
    if (fix !== undefined) expect(ended.err).toMatch(new RegExp(`fix +.*${fix.source}`));
    const status = code === 0 ? 'completed' : code === 5 ? 'parked' : 'failed';
    const report = code === 5 ? null : { body: expect.stringMatching(code === 0 ? 'Hi.' : says) };
    expect(objectIn(ended.out)).toMatchObject({ status, report });
    if (typeof asked === 'number') expect(server.requests).toHaveLength(asked);
    else expect(server.requests.length).toBeLessThanOrEqual(asked.most);
    await expectKept(project, status);
  });

  it('a failure after work was done: the run is kept and goes on, and its session waits for it', async () => {
    await using project = await createTestProject('', agentWith('maxRetries: 0\ntools: [list]'));
    const server = await project.serve({ calls: [{ name: 'list' }] }, status(500), { text: 'There it is.' });
    expect((await project.troupe('run', 'helper', 'what is here?')).code).toBe(5);
    const busy = await project.look('run', 'helper', 'try again', '--session', 'last');
    expect(busy).toMatchObject({ code: 2, err: expect.stringMatching(/unfinished run/) });
    expect(await project.typed(printed(busy.err, 'resume').split(' (')[0] ?? '')).toMatchObject({
      code: 0,
      out: 'There it is.\n',
    });
    expect(server.requests[2]).toMatchObject({ toolResults: 1 });
    await expectKept(project, 'completed');
  });
});

it.concurrent('a workspace that is not there is refused', async () => {
  await using project = await createTestProject();
  await project.script({ text: 'Hello.' });
  const refused = await project.look('run', 'helper', 'hi', '--workspace', 'nowhere', '--json');
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/no workspace .*nowhere\n.*fix: make the folder/) });
  expectErrorObject(refused, 'usage');
});

/** Answers are streamed to a terminal only, so these rows have one. It mixes stdout and stderr. */
describe.concurrent('the stream of a model that', () => {
  it.for([
    ['ends with a 529 inside a 200', { fault: 'error-in-stream', error: overloaded, after: 'Half ' }, /overloaded.*Overloaded/],
    ['stops half way', { fault: 'half-stream', text: 'Half of it' }, /not a model's answer|broke/],
    ['breaks off', { fault: 'half-stream', text: 'Half of it', reset: true }, /connection broke/],
    ['is garbage', { fault: 'garbage' }, /not a model's answer/],
  ] as const)('%s', async ([, fault, says]) => {
    await using project = await createTestProject('', agentWith('maxRetries: 1'));
    const server = await project.serve(fault);
    for (const model of ['openai/test-model', 'anthropic/claude-test']) {
      const before = server.requests.length;
      const failed = await onTerminal(project, `run helper hi --model ${model}`);
      const asked = server.requests.slice(before);
      expect(asked.map((request) => request.stream)).toEqual([true, true]);
      expect(failed).toMatchObject({ code: 5, out: expect.stringMatching(says) });
    }
    await expectKept(project, 'parked');
  });

  it('hangs half way', async () => {
    await using project = await createTestProject('', agentWith('maxRetries: 1\nllmTimeout: 1s'));
    const server = await project.serve({ fault: 'hang', after: 'Half ' });
    for (const model of ['openai/test-model', 'anthropic/claude-test']) {
      const failed = await onTerminal(project, `run helper hi --model ${model}`);
      expect(failed).toMatchObject({ code: 5, out: expect.stringMatching(/within 1 s \(llmTimeout\)/) });
    }
    // On a busy machine the time may run out before a request is on its way.
    expect(server.requests.length).toBeLessThanOrEqual(4);
    await expectKept(project, 'parked');
  });
});

function onTerminal(project: TestProject, args: string): Promise<Ended> {
  return project.start(args.split(' '), { through: ['sh', '-c', 'exec script -qec "$*" /dev/null', 'sh'] }).ended;
}
