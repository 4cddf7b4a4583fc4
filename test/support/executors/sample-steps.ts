/** What the sample executor can be told to do, one step a line: `word rest`. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import {
  type AgentContext,
  type JsonRpcId,
  methods,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { fileSteps } from './sample-files.ts';
import type { SampleSession } from './sample-sessions.ts';

export interface Play {
  readonly client: AgentContext;
  readonly raw: (text: string) => Promise<void>;
  readonly closeOutput: () => void;
  readonly requestId: JsonRpcId;
  readonly signal: AbortSignal;
  readonly session: string;
  /** The folder of the session. */
  readonly cwd: string;
  readonly request: PromptRequest;
  readonly about: SampleSession;
  readonly said: string[];
}

export type Step = (rest: string, play: Play) => Promise<unknown>;

const never = new Promise<never>(() => undefined);

const tell = (play: Play, update: SessionUpdate): Promise<void> =>
  play.client.notify(methods.client.session.update, { sessionId: play.session, update });

/** Whatever the protocol would not let through. */
const tellAnything = (play: Play, update: object): Promise<void> =>
  play.client.notify('session/update', { sessionId: play.session, update });

async function say(play: Play, text: string): Promise<void> {
  play.said.push(text);
  await tell(play, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
}

const reasonOf = (error: unknown): string => (error instanceof RequestError ? `${error.code} ${error.message}` : String(error));

async function saying(play: Play, work: () => Promise<string>): Promise<void> {
  await say(play, `${await work().catch((error: unknown) => `error ${reasonOf(error)}`)}\n`);
}

const whenCancelled = (play: Play): Promise<void> =>
  new Promise((resolve) => {
    if (play.signal.aborted) resolve();
    play.signal.addEventListener('abort', () => resolve(), { once: true });
  });

const OPTIONS = [
  { optionId: 'z-always', name: 'Always', kind: 'allow_always' as const },
  { optionId: 'y-once', name: 'Yes', kind: 'allow_once' as const },
  { optionId: 'n-once', name: 'No', kind: 'reject_once' as const },
];

const STEPS: Readonly<Record<string, Step>> = {
  say: (rest, play) => say(play, `${rest}\n`),
  think: (rest, play) => tell(play, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: rest } }),
  plan: (rest, play) =>
    tell(play, {
      sessionUpdate: 'plan',
      entries: rest.split('|').map((content, at) => ({
        ...{ content, priority: at === 0 ? 'high' : 'low' },
        status: at === 0 ? 'in_progress' : 'pending',
      })),
    }),
  /** `update {…}`: an update as it stands. */
  update: (rest, play) => tellAnything(play, JSON.parse(rest) as object),
  other: (rest, play) =>
    play.client.notify('session/update', {
      sessionId: 'another',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: rest } },
    }),
  /** `ask kind,kind TITLE`: a permission, with options of these kinds or the usual ones. */
  async ask(rest, play) {
    const [kinds = '', ...title] = rest.split(' ');
    const options = kinds === '*' ? OPTIONS : OPTIONS.filter(({ kind }) => kinds.split(',').includes(kind));
    await saying(play, async () => {
      const { outcome } = await play.client.request<RequestPermissionResponse>(methods.client.session.requestPermission, {
        sessionId: play.session,
        toolCall: {
          toolCallId: `ask-${title.join('-')}`,
          title: title.join(' '),
          kind: 'execute',
          rawInput: { command: title.join(' ') },
        },
        options,
      });
      return `permission ${outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome}`;
    });
  },
  /** Asks, and takes the question back as soon as somebody says `SIGUSR2`. */
  async 'ask-and-withdraw'(rest, play) {
    const abort = new AbortController();
    process.once('SIGUSR2', () => abort.abort());
    await saying(play, async () => {
      const { outcome } = await play.client.request<RequestPermissionResponse>(
        methods.client.session.requestPermission,
        { sessionId: play.session, toolCall: { toolCallId: 'w', title: rest }, options: OPTIONS },
        { cancellationSignal: abort.signal },
      );
      return `permission ${outcome.outcome}`;
    });
  },
  async elicit(rest, play) {
    await saying(play, async () => {
      const answer = await play.client.request(methods.client.elicitation.create, {
        ...{ mode: 'form', sessionId: play.session, message: rest },
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      });
      return `elicited ${JSON.stringify(answer)}`;
    });
  },
  async write(rest, play) {
    const [path = '', ...content] = rest.split(' ');
    await saying(play, async () => {
      await play.client.request(methods.client.fs.writeTextFile, { sessionId: play.session, path, content: content.join(' ') });
      return `wrote ${path}`;
    });
  },
  async read(rest, play) {
    const [path = '', line, limit] = rest.split(' ');
    await saying(play, async () => {
      const { content } = await play.client.request(methods.client.fs.readTextFile, {
        ...{ sessionId: play.session, path },
        ...(line === undefined ? {} : { line: Number(line) }),
        ...(limit === undefined ? {} : { limit: Number(limit) }),
      });
      return `read ${JSON.stringify(content)}`;
    });
  },
  /** `run CWD LIMIT COMMAND`. */
  async run(rest, play) {
    const [cwd = '.', limit = '', ...command] = rest.split(' ');
    await saying(play, async () => {
      const terminal = await play.client.createTerminal({
        ...{ sessionId: play.session, command: command.join(' '), env: [{ name: 'SAMPLE', value: 'given' }] },
        ...(cwd === '.' ? {} : { cwd }),
        ...(limit === '-' ? {} : { outputByteLimit: Number(limit) }),
      });
      await tell(play, {
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'run',
        content: [{ type: 'terminal', terminalId: terminal.id }],
      });
      const exit = await terminal.waitForExit();
      const { output, truncated } = await terminal.currentOutput();
      await tell(play, {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'completed',
        content: [{ type: 'terminal', terminalId: terminal.id }],
      });
      await terminal.release();
      const gone = await terminal.currentOutput().catch(reasonOf);
      return `ran ${JSON.stringify({ exit, output, truncated, gone })}`;
    });
  },
  async 'run-and-kill'(rest, play) {
    await saying(play, async () => {
      const [command = '', ...args] = rest.split(' ');
      const terminal = await play.client.createTerminal({ sessionId: play.session, command, args });
      await terminal.kill();
      const exit = await terminal.waitForExit();
      return `killed ${exit.signal}`;
    });
  },
  /** Leaves it running. */
  async 'run-on'(rest, play) {
    await saying(play, async () => {
      const terminal = await play.client.createTerminal({ sessionId: play.session, command: rest });
      return `running ${terminal.id}`;
    });
  },
  async method(rest, play) {
    await saying(play, async () => JSON.stringify(await play.client.request(rest, { sessionId: play.session })));
  },
  about: (_rest, play) => say(play, `${JSON.stringify(play.about)}\n`),
  got: (_rest, play) => say(play, `${JSON.stringify(play.request.prompt.map(({ type, ...one }) => [type, Object.keys(one)]))}\n`),
  env: (_rest, play) => say(play, `${Object.keys(process.env).sort().join(' ')}\n`),
  pid: (_rest, play) => say(play, `pid ${process.pid}\n`),
  /** Without asking anybody: what a shell says to it, and with which code it ends. */
  async shell(rest, play) {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', rest], { encoding: 'utf8', cwd: play.about.cwd || undefined });
    await say(play, `shell ${JSON.stringify({ status, stdout, stderr })}\n`);
  },
  /** Without asking anybody. */
  async touch(rest) {
    writeFileSync(rest, '');
  },
  /** `unless PATH word rest`: the first time, when there is no such file. */
  async unless(rest, play) {
    const [path = '', word = '', ...more] = rest.split(' ');
    if (existsSync(path)) return undefined;
    writeFileSync(path, '');
    return await STEPS[word]?.(more.join(' '), play);
  },
  async stderr(rest) {
    process.stderr.write(`${rest}\n`);
  },
  stop: async (rest) => ({ stopReason: rest as PromptResponse['stopReason'] }),
  usage: async (rest) => ({ stopReason: 'end_turn', ...(JSON.parse(rest) as object) }),
  answer: async (rest) => JSON.parse(rest) as PromptResponse,
  async error(rest) {
    const [code, ...message] = rest.split(' ');
    throw new RequestError(Number(code), message.join(' '));
  },

  // what no decent one does
  async cancelled(_rest, play) {
    await whenCancelled(play);
    return { stopReason: 'cancelled' };
  },
  async 'error-when-cancelled'(_rest, play) {
    await whenCancelled(play);
    throw new Error('AbortError');
  },
  hang: () => never,
  async die(rest) {
    process.exit(Number(rest));
  },
  async 'kill-itself'() {
    process.kill(process.pid, 'SIGKILL');
    await never;
  },
  async eof(_rest, play) {
    play.closeOutput();
    await never;
  },
  raw: (rest, play) => play.raw(`${rest}\n`),
  'half-a-line': async (rest, play) => {
    await play.raw(rest);
    process.exit(0);
  },
  async junk(rest, play) {
    for (let at = 0; at < Number(rest); at += 1) await play.raw(`log line ${at} with sk-ant-REDACTED\n`);
  },
  async twice(_rest, play) {
    const answer = `${JSON.stringify({ jsonrpc: '2.0', id: play.requestId, result: { stopReason: 'end_turn' } })}\n`;
    await play.raw(answer + answer);
    await never;
  },
  async flood(rest, play) {
    const [count = '0', size = '1'] = rest.split(' ');
    const text = 'x'.repeat(Number(size));
    const update = JSON.stringify({
      ...{ jsonrpc: '2.0', method: 'session/update' },
      params: { sessionId: play.session, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    });
    for (let at = 0; at < Number(count); at += 1) await play.raw(`${update}\n`);
  },
  async 'flood-calls'(rest, play) {
    for (let at = 0; at < Number(rest); at += 1)
      await tell(play, { sessionUpdate: 'tool_call', toolCallId: `c${at}`, title: 'one of many' });
  },
  async 'flood-requests'(rest, play) {
    const params = { sessionId: play.session, toolCall: { toolCallId: 'f', title: 'flood' }, options: OPTIONS };
    for (let at = 0; at < Number(rest); at += 1)
      await play.raw(`${JSON.stringify({ jsonrpc: '2.0', id: `f${at}`, method: 'session/request_permission', params })}\n`);
    await never;
  },
  async 'long-line'(rest, play) {
    const piece = 'y'.repeat(1_000_000);
    for (let sent = 0; sent < Number(rest); sent += piece.length) await play.raw(piece);
    await never;
  },
  deep: (rest, play) =>
    play.raw(`{"jsonrpc":"2.0","method":"session/update","params":${'['.repeat(Number(rest))}${']'.repeat(Number(rest))}}\n`),
  /** A process that leaves the group and the parent, with or without our mark. */
  async daemon(rest, play) {
    const env = rest === 'unmarked' ? { PATH: process.env['PATH'] } : process.env;
    const child = spawn('setsid', ['sleep', '307'], { stdio: 'ignore', env });
    child.unref();
    await say(play, `daemon ${child.pid}\n`);
  },
  /** `serve PATH`: out of the group, answers everybody who comes to the socket. */
  async serve(rest, play) {
    const server = `require('node:net').createServer((one) => one.end('yes'))`;
    const code = `${server}.listen(${JSON.stringify(rest)}, () => console.log('up'))`;
    const child = spawn('setsid', [process.execPath, '-e', code], { cwd: play.cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.destroy();
    child.unref();
  },
  /** In the group. */
  async child(_rest, play) {
    const child = spawn('sleep', ['308'], { stdio: 'ignore' });
    child.unref();
    await say(play, `child ${child.pid}\n`);
  },
};

export const linesIn = ({ prompt }: PromptRequest): readonly string[] =>
  prompt.flatMap((part) => (part.type === 'text' ? part.text.split('\n') : []));

export async function playSteps(whole: Play, lines: readonly string[]): Promise<PromptResponse> {
  for (const line of lines) {
    const [word = '', ...rest] = line.split(' ');
    const answer = await (STEPS[word] ?? fileSteps[word])?.(rest.join(' '), whole);
    if (typeof answer === 'object' && answer !== null) return answer as PromptResponse;
  }
  return { stopReason: whole.signal.aborted ? 'cancelled' : 'end_turn' };
}
