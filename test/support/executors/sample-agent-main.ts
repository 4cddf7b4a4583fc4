/**
 * An executor for tests: a real process that speaks the protocol by the official package, and does what the lines of its prompt
 * say, also what no decent one would do. `sample-steps.ts` has the words. Its arguments say what it is like.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { agent, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import { createSessions } from './sample-sessions.ts';
import { linesIn, playSteps } from './sample-steps.ts';

const { values } = parseArgs({
  options: {
    /** Listens on a free port and says which, in place of its pipes. */
    tcp: { type: 'boolean', default: false },
    /** Where sessions are kept for later lives; without it none can be loaded. */
    store: { type: 'string' },
    /** Takes up sessions without telling their past. */
    resume: { type: 'boolean', default: false },
    /** How modes are offered. */
    modes: { type: 'string', default: 'modes' },
    protocol: { type: 'string', default: '1' },
    /** What it wants before there is a session. */
    auth: { type: 'boolean', default: false },
    /** Where it stops to answer: `initialize` or `session`. */
    silent: { type: 'string' },
    /** Answers the first greeting with something else. */
    nonsense: { type: 'boolean', default: false },
    /** Prints so many lines that are no messages, and never answers. */
    babbles: { type: 'string' },
    /** Ends before it says anything. */
    broken: { type: 'boolean', default: false },
    image: { type: 'boolean', default: false },
    http: { type: 'boolean', default: false },
    /** A folder with a file of steps for each goal: it plays those for the goal that it is told, and nothing else. */
    plays: { type: 'string' },
    /** Does not end when its input does. */
    stays: { type: 'boolean', default: false },
  },
});

if (values.broken) {
  process.stderr.write('a module is missing\nError: cannot begin, the key is sk-ant-REDACTED\n    at begin\n\nNode.js v24\n');
  process.exit(3);
}
if (values.babbles !== undefined) {
  process.stdin.resume();
  process.stdout.write('Welcome, the key is sk-ant-REDACTED\n'.repeat(Number(values.babbles)));
}
if (values.stays) setInterval(() => undefined, 60_000);

/** As a task package names it. */
function playsFor(folder: string, told: readonly string[]): readonly string[] {
  const goal = told.flatMap((line) => /^ *goal: "(\w+)"$/.exec(line)?.[1] ?? [])[0] ?? '';
  return readFileSync(join(folder, `plays-${goal}`), 'utf8').split('\n');
}

const never = new Promise<never>(() => undefined);

function serve(input: Readable, output: Writable): void {
  const sessions = createSessions(values.store, values.modes);
  const running = new Map<string, AbortController>();
  const raw = (text: string): Promise<void> =>
    new Promise((resolve) => {
      output.write(text, () => resolve());
    });
  const stream = ndJsonStream(Writable.toWeb(output), Readable.toWeb(input) as ReadableStream<Uint8Array>);
  agent({ name: 'sample' })
    .onRequest(methods.agent.initialize, async () => {
      if (values.silent === 'initialize') return await never;
      if (values.nonsense) return { hello: 'there' } as never;
      return {
        protocolVersion: Number(values.protocol),
        agentInfo: { name: 'sample', title: 'Sample', version: '9.8.7' },
        agentCapabilities: {
          loadSession: values.store !== undefined && !values.resume,
          promptCapabilities: { image: values.image },
          mcpCapabilities: { http: values.http },
          sessionCapabilities: { list: {}, close: {}, ...(values.resume ? { resume: {} } : {}) },
        },
        authMethods: [{ id: 'login', name: 'Sample login', description: 'Run `sample login`' }],
      };
    })
    .onRequest(methods.agent.session.new, async ({ params }) => {
      if (values.silent === 'session') return await never;
      if (values.auth) throw RequestError.authRequired({ details: 'no login was found' });
      return sessions.create(params);
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      for (const text of sessions.past(params.sessionId))
        await client.notify(methods.client.session.update, {
          sessionId: params.sessionId,
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
        });
      return sessions.facts(params.sessionId);
    })
    .onRequest(methods.agent.session.resume, ({ params }) => sessions.facts(params.sessionId))
    .onRequest(methods.agent.session.list, () => ({ sessions: [] }))
    .onRequest(methods.agent.session.close, ({ params }) => {
      process.stderr.write(`closed ${params.sessionId}\n`);
      return {};
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => sessions.setMode(params.sessionId, params.modeId))
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      sessions.setOption(params.sessionId, params.configId, String(params.value)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => running.get(params.sessionId)?.abort())
    .onRequest(methods.agent.session.prompt, async ({ params, client, requestId }) => {
      const abort = new AbortController();
      running.set(params.sessionId, abort);
      const play = {
        ...{ client, raw, requestId, signal: abort.signal, session: params.sessionId, request: params },
        cwd: process.cwd(),
        about: sessions.about(params.sessionId),
        said: [] as string[],
        closeOutput: () => output.end(),
      };
      const lines = values.plays === undefined ? linesIn(params) : playsFor(values.plays, linesIn(params));
      const answer = await playSteps(play, lines);
      sessions.remember(params.sessionId, play.said.join(''));
      return answer;
    })
    .connect(stream);
}

if (values.tcp) {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    serve(socket, socket);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
  });
} else if (values.babbles === undefined) {
  serve(process.stdin, process.stdout);
  if (!values.stays) process.stdin.on('end', () => process.exit(0));
}
