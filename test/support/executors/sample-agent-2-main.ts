/**
 * The sample executor in version 2 of the protocol: the same steps, told and asked in its words. A prompt is answered at once,
 * and its end is a state of the session.
 */
import { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { AgentContext, PromptRequest } from '@agentclientprotocol/sdk';
import { agent, methods, ndJsonStream, RequestError, type SessionConfigOption } from '@agentclientprotocol/sdk/experimental/v2';
import { createSessions } from './sample-sessions.ts';
import { linesIn, playSteps } from './sample-steps.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    auth: { type: 'boolean', default: false },
    http: { type: 'boolean', default: false },
    /** Where it stops to answer: `initialize` or `session`. */
    silent: { type: 'string' },
    /** Does not end when its input does. */
    stays: { type: 'boolean', default: false },
  },
});
if (values.stays) setInterval(() => undefined, 60_000);

const never = new Promise<never>(() => undefined);
const sessions = createSessions(values.store, 'options');
const running = new Map<string, AbortController>();
let messages = 0;

const raw = (text: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });

/** Options have their ids under another name. */
const factsOf = (id: string): { configOptions: SessionConfigOption[] } => ({
  configOptions: (sessions.facts(id).configOptions ?? []).map(({ id: configId, ...rest }) => ({
    ...{ ...rest, configId },
    options: 'options' in rest ? rest.options.map((one) => ('group' in one ? { ...one, groupId: one.group } : one)) : [],
  })) as SessionConfigOption[],
});

interface SecondContext {
  notify(method: string, params: object): Promise<void>;
  request(method: string, params: object, options?: object): Promise<unknown>;
}

/** What the steps say in version 1. */
function asFirst(client: SecondContext, messageId: string): AgentContext {
  const updateOf = (update: { readonly sessionUpdate: string } & Record<string, unknown>): object => {
    const { sessionUpdate } = update;
    if (sessionUpdate.endsWith('_chunk')) return { messageId: `${messageId}-${sessionUpdate}`, ...update };
    if (sessionUpdate === 'tool_call') return { ...update, sessionUpdate: 'tool_call_update' };
    if (sessionUpdate !== 'plan') return update;
    return { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'plan', entries: update['entries'] } };
  };
  const shim = {
    notify: (method: string, { update, ...params }: { update: never }) =>
      client.notify(method, { ...params, update: updateOf(update) }),
    request: (method: string, params: Record<string, unknown>, options?: object) => {
      const { toolCall, ...rest } = params;
      if (method !== methods.client.session.requestPermission) return client.request(method, params, options);
      return client.request(method, { ...rest, title: 'May I?', subject: { type: 'tool_call', toolCall } }, options);
    },
  };
  return shim as unknown as AgentContext;
}

agent({ name: 'sample' })
  .onRequest(methods.agent.initialize, async () => {
    if (values.silent === 'initialize') return await never;
    return {
      ...{ protocolVersion: 2, info: { name: 'sample', title: 'Sample', version: '9.8.7' } },
      capabilities: { session: { prompt: {}, mcp: { stdio: {}, ...(values.http ? { http: {} } : {}) } } },
      authMethods: [{ type: 'agent' as const, methodId: 'login', name: 'Sample login', description: 'Run `sample login`' }],
    };
  })
  .onRequest(methods.agent.session.new, async ({ params: { cwd, mcpServers = [] } }) => {
    if (values.silent === 'session') return await never;
    if (values.auth) throw RequestError.authRequired({ details: 'no login was found' });
    const { sessionId } = sessions.create({ cwd, mcpServers: mcpServers as never });
    return { sessionId, ...factsOf(sessionId) };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    sessions.past(params.sessionId);
    return factsOf(params.sessionId);
  })
  .onRequest(methods.agent.session.close, ({ params }) => {
    process.stderr.write(`closed ${params.sessionId}\n`);
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    sessions.setOption(params.sessionId, params.configId, String(params.value));
    return factsOf(params.sessionId);
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => running.get(params.sessionId)?.abort())
  .onRequest(methods.agent.session.prompt, ({ params, client, requestId }) => {
    const { sessionId: session } = params;
    const abort = new AbortController();
    running.set(session, abort);
    messages += 1;
    const messageId = `message-${messages}`;
    const second = client as unknown as SecondContext;
    const tell = (state: object) =>
      second.notify('session/update', { sessionId: session, update: { sessionUpdate: 'state_update', ...state } });
    const play = {
      ...{ client: asFirst(second, messageId), raw, requestId, signal: abort.signal, session, cwd: process.cwd() },
      ...{ request: params as unknown as PromptRequest, about: sessions.about(session), said: [] as string[] },
      closeOutput: () => process.stdout.end(),
    };
    const work = async (): Promise<void> => {
      // Nothing of an earlier prompt: it has not begun.
      await tell({ state: 'idle', stopReason: 'refusal' });
      await tell({ state: 'running' });
      const answer = await playSteps(play, linesIn(play.request)).catch((error: unknown) => ({
        stopReason: 'error',
        error: {
          code: error instanceof RequestError ? error.code : -32_603,
          message: String(error instanceof Error ? error.message : error),
        },
      }));
      sessions.remember(session, play.said.join(''));
      await tell({ state: 'idle', ...answer });
    };
    // Before its answer, or after it: both are right.
    if (messages % 2 === 0) return work().then(() => ({ messageId }));
    setImmediate(() => void work());
    return { messageId };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
if (!values.stays) process.stdin.on('end', () => process.exit(0));
