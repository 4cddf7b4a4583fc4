/**
 * The draft of version 2. A prompt is answered at once, and its end is told as a state of the session; the executor does files
 * and commands by itself; modes are options like any other.
 */
import { isJsonObject } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { loginWords, OURSELVES, type PromptParams, type ProtocolDialect, pairsOf } from './dialect.ts';
import type { AcpPeer, PeerTrouble } from './peer.ts';
import { greeted2, idle2, permission2, stateUpdate2 } from './schemas-2.ts';
import { createUpdateTranslation } from './translation.ts';

/** It has no files and terminals of ours. */
const ASKABLE = new Set(['session/request_permission', 'elicitation/create']);

export function version2(): ProtocolDialect {
  const translation = createUpdateTranslation();
  const states = createStates();
  let asked = 0;
  return {
    version: 2,
    greeting: (_entry, questions) => ({
      ...{ protocolVersion: 2, info: OURSELVES },
      capabilities: questions ? { elicitation: { form: {} } } : {},
    }),
    introduced(answer, { mcp }) {
      const parsed = greeted2.safeParse(answer);
      if (!parsed.success) return undefined;
      const { protocolVersion, info, capabilities, authMethods = [] } = parsed.data;
      const { prompt, mcp: takes = {} } = capabilities?.session ?? {};
      const kinds = (['stdio', 'http'] as const).filter((kind) => takes[kind] !== undefined);
      return {
        ...{ version: info?.version, protocol: protocolVersion, canLoad: false, canResume: true, canClose: true },
        ...{ takesImages: prompt?.image !== undefined, mcp: mcp ?? kinds },
        logins: authMethods.map(({ methodId, ...login }) => loginWords(methodId, login)),
      };
    },
    server: (server) =>
      server.kind === 'stdio'
        ? { type: 'stdio', name: server.name, command: server.command, args: server.args, env: pairsOf(server.env) }
        : { type: 'http', name: server.name, url: server.url, headers: pairsOf(server.headers) },
    facts: factsOf,
    option: (session, id, value) => ({ sessionId: session, configId: id, type: 'id', value }),
    prompt(params, peer) {
      translation.clear();
      return states.prompt(params, peer);
    },
    updates(params) {
      if (states.told(params)) return [];
      return translation.updates(params, factsOf);
    },
    asked(method, params) {
      if (!ASKABLE.has(method)) return undefined;
      if (method !== 'session/request_permission') return { params };
      asked += 1;
      return { params: permissionOf(params, `permission-${asked}`) };
    },
  };
}

/** Options have their ids under another name. */
function factsOf(answer: unknown): unknown {
  if (!isJsonObject(answer) || !Array.isArray(answer['configOptions'])) return answer;
  const configOptions = answer['configOptions'].map((one) => (isJsonObject(one) ? { ...one, id: one['configId'] ?? null } : one));
  return { ...answer, configOptions };
}

/** What is asked about: a call, a command, or something that is told in words only. */
function permissionOf(params: unknown, id: string): unknown {
  const parsed = permission2.safeParse(params);
  if (!parsed.success) return params;
  const { title, description, subject, ...rest } = parsed.data;
  const said = [title, description].filter(Boolean).join(': ');
  if (subject?.type === 'tool_call' && isJsonObject(subject.toolCall))
    return { ...rest, toolCall: { ...subject.toolCall, title: subject.toolCall['title'] ?? said } };
  const { command, cwd, toolCallId } = subject ?? {};
  if (subject?.type === 'command' && command !== undefined)
    return { ...rest, toolCall: { toolCallId: toolCallId ?? id, title: said, kind: 'execute', rawInput: { command, cwd } } };
  return { ...rest, toolCall: { toolCallId: id, title: said, kind: 'other' } };
}

/** What the session is doing, as far as a prompt waits for its end. */
function createStates() {
  let waiting: { readonly session: string; readonly over: (end: Result<unknown, PeerTrouble>) => void } | undefined;
  let hasBegun = false;
  return {
    /** True when it was about states. */
    told(params: unknown): boolean {
      const parsed = stateUpdate2.safeParse(params);
      if (!parsed.success) return false;
      const { sessionId, update } = parsed.data;
      if (waiting?.session !== sessionId) return true;
      // Being idle may be told again, and of what was before: only what has begun can be over.
      if (update.state !== 'idle') hasBegun = true;
      else if (hasBegun) waiting.over(endOf(update));
      return true;
    },
    async prompt(params: PromptParams, peer: AcpPeer): Promise<Result<unknown, PeerTrouble>> {
      hasBegun = false;
      const idle = new Promise<Result<unknown, PeerTrouble>>((over) => {
        waiting = { session: params.sessionId, over };
      });
      const taken = await peer.request('session/prompt', params);
      const end = taken.ok ? await Promise.race([idle, peer.closed.then(() => fail<PeerTrouble>({ kind: 'closed' }))]) : taken;
      waiting = undefined;
      return end;
    },
  };
}

function endOf(update: object): Result<unknown, PeerTrouble> {
  const { stopReason, error } = idle2.parse(update);
  // What it used stands beside it, as in version 1.
  if (stopReason !== 'error') return ok({ ...update, stopReason: stopReason ?? 'end_turn' });
  const { code = 0, message = 'it did not say why', data } = error ?? {};
  return fail({ kind: 'refused', code, message, data });
}
