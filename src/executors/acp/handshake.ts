/**
 * From a link to a session that can be prompted: who it is and what it can do, an earlier session or a new one, its mode and
 * model. Each step has a time limit, and whatever fails, nothing is left running.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Introduced, PromptParams, ProtocolDialect } from '../acp-wire/dialect.ts';
import type { AcpPeer, PeerTrouble } from '../acp-wire/peer.ts';
import { type OfferedFacts, offeredFacts, sessionMade } from '../acp-wire/schemas.ts';
import type { ExecutorEntry } from '../entry.ts';
import type { ExecutorAbout, ExecutorFailure, OpenExecutor } from '../port.ts';
import type { Link } from '../start/link.ts';
import { chooseMode, chooseModel } from './choices.ts';
import { executorFailureOf, type FailureParts, malformed } from './failures.ts';
import type { ExecutorState } from './state.ts';

export interface OpenedSession {
  readonly entry: ExecutorEntry;
  readonly link: Link;
  readonly peer: AcpPeer;
  readonly state: ExecutorState;
  /** The executor's own id. */
  readonly session: string;
  readonly restored: 'new' | 'loaded';
  readonly about: ExecutorAbout;
  readonly canClose: boolean;
  readonly takesImages: boolean;
  readonly logins: readonly string[];
  prompt(params: PromptParams): Promise<Result<unknown, PeerTrouble>>;
}

export interface HandshakeNeeds {
  readonly entry: ExecutorEntry;
  readonly link: Link;
  readonly peer: AcpPeer;
  readonly dialect: ProtocolDialect;
  readonly clock: Clock;
  /** What it is kept in. */
  readonly sandbox?: string | undefined;
  redact(text: string): string;
  /** The first line that was no message. */
  junk(): string | undefined;
}

type Failed = Promise<{ readonly ok: false; readonly error: ExecutorFailure }>;

export async function introduce(needs: HandshakeNeeds, questions: boolean): Promise<Result<Introduced, ExecutorFailure>> {
  const { entry, peer, dialect } = needs;
  const answer = await peer.request('initialize', dialect.greeting(entry, questions), limits.executorStartMs);
  const spoken = peer.version();
  if (spoken !== undefined && spoken !== dialect.version) return await otherVersion(spoken, needs);
  if (!answer.ok) return await failed(answer.error, 'the first greeting (executorStartMs)', needs);
  const known = dialect.introduced(answer.value, entry);
  return known === undefined ? await notTheProtocol('the first greeting', needs) : ok(known);
}

async function otherVersion(spoken: number, { entry, link, dialect: { version } }: HandshakeNeeds): Failed {
  await link.end();
  const message = `${entry.title} speaks version ${spoken} of the protocol, and we speak version ${version}.`;
  const fix = spoken === 1 ? 'Take `protocol` out of its entry in executors.yaml.' : entry.install;
  return fail({ why: 'protocol', message, ...present({ fix }) });
}

export async function beginSession(
  asked: OpenExecutor,
  known: Introduced,
  state: ExecutorState,
  needs: HandshakeNeeds,
): Promise<Result<OpenedSession, ExecutorFailure>> {
  const { entry, peer, link, dialect } = needs;
  const without: string[] = [];
  const mcpServers = asked.mcp.flatMap((server) => {
    if (known.mcp.includes(server.kind)) return [needs.dialect.server(server)];
    without.push(`It cannot be given the MCP server ${server.name}: it takes none over ${server.kind}.`);
    return [];
  });
  const made = await sessionOf(asked, mcpServers, known, state, needs);
  if (!made.ok) return await failed(made.error.trouble, made.error.doing, needs, known.logins);
  if (made.value === undefined) return await notTheProtocol('a new session', needs);
  const { session, facts, restored } = made.value;
  state.session = session;
  if (asked.session !== undefined && restored === 'new')
    without.push(`Its session ${asked.session} could not be taken up again: this is a new one.`);
  const mode = await chooseMode(asked.mode, facts, session, needs);
  const model = await chooseModel(asked.model, facts, session, needs);
  without.push(...mode.without, ...model.without);
  state.mode = mode.current;
  const about: ExecutorAbout = {
    ...{ executor: entry.name, protocol: known.protocol, canLoad: known.canLoad || known.canResume, asks: entry.asks, without },
    ...{ modes: mode.offered, mcp: known.mcp, images: known.takesImages },
    ...present({ version: known.version, pid: link.pid, mode: mode.current, model: model.current, sandbox: needs.sandbox }),
  };
  return ok({
    ...{ entry, link, peer, state, session, restored, about },
    ...{ canClose: known.canClose, takesImages: known.takesImages, logins: known.logins },
    prompt: (params) => dialect.prompt(params, peer),
  });
}

interface Made {
  readonly session: string;
  readonly facts: OfferedFacts;
  readonly restored: 'new' | 'loaded';
}

interface NotMade {
  readonly trouble: PeerTrouble;
  readonly doing: string;
}

/** The earlier one where it can be taken up, otherwise a new one. What it tells of its past meanwhile is known here already. */
async function sessionOf(
  { session, cwd }: OpenExecutor,
  mcpServers: readonly object[],
  known: Introduced,
  state: ExecutorState,
  { peer, dialect }: HandshakeNeeds,
): Promise<Result<Made | undefined, NotMade>> {
  const again = known.canResume ? 'session/resume' : known.canLoad ? 'session/load' : undefined;
  if (session !== undefined && again !== undefined) {
    state.session = session;
    const loaded = await peer.request(again, { sessionId: session, cwd, mcpServers }, limits.executorSessionMs);
    const facts = offeredFacts.safeParse(loaded.ok ? dialect.facts(loaded.value ?? {}) : undefined);
    if (facts.success) return ok({ session, facts: facts.data, restored: 'loaded' });
    if (!loaded.ok && loaded.error.kind !== 'refused')
      return fail({ trouble: loaded.error, doing: 'to take up a session (executorSessionMs)' });
    state.session = undefined;
  }
  const made = await peer.request('session/new', { cwd, mcpServers }, limits.executorSessionMs);
  if (!made.ok) return fail({ trouble: made.error, doing: 'a new session (executorSessionMs)' });
  const parsed = sessionMade.safeParse(dialect.facts(made.value));
  return ok(parsed.success ? { session: parsed.data.sessionId, facts: parsed.data, restored: 'new' } : undefined);
}

const SEES_LITTLE =
  'It runs inside walls, where it sees its workspace, its own package and what its entry names: if it misses something, name that ' +
  'under sandbox.read or sandbox.write in executors.yaml.';

async function failed(trouble: PeerTrouble, doing: string, needs: HandshakeNeeds, logins?: readonly string[]): Failed {
  const { entry, link, peer, redact, junk, sandbox } = needs;
  const parts: FailureParts = {
    ...{ entry, doing, redact, logins, end: link.end, junk },
    flood: async () => (await peer.closed)?.message,
  };
  const failure = await executorFailureOf(trouble, parts);
  await link.end();
  return fail(sandbox === undefined || failure.why !== 'crashed' ? failure : { ...failure, fix: SEES_LITTLE });
}

async function notTheProtocol(doing: string, { entry, link }: HandshakeNeeds): Failed {
  const { stderr } = await link.end();
  return fail({ ...malformed(entry, doing), ...present({ stderr: stderr === '' ? undefined : stderr }) });
}
