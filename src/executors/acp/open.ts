/** Starts or reaches an executor and opens a session with it, by the Agent Client Protocol. */
import { present } from '../../base/present.ts';
import { ok, type Result } from '../../base/result.ts';
import { MARK_VARIABLE } from '../../process/processes.ts';
import { changedBetween } from '../../tools/closed/closed-files.ts';
import { minimalEnvironment } from '../../tools/shell/environment.ts';
import { insideOf } from '../../tools/shell/walls.ts';
import { connectPeer } from '../acp-wire/peer.ts';
import { version1 } from '../acp-wire/version-1.ts';
import { version2 } from '../acp-wire/version-2.ts';
import type { ExecutorEntry } from '../entry.ts';
import { onlyRead } from '../kept-in.ts';
import type { ExecutorFailure, ExecutorSession, OpenExecutor } from '../port.ts';
import type { Link } from '../start/link.ts';
import { type AcpClientNeeds, type Reached, reachExecutor } from '../start/reach.ts';
import { answerCallback, type CallbackNeeds, noSuchMethod } from './callbacks.ts';
import { createReadVersions } from './files.ts';
import { beginSession, type HandshakeNeeds, introduce } from './handshake.ts';
import { createSession, type LiveSession } from './session.ts';
import { createState, type ExecutorState } from './state.ts';
import type { TerminalNeeds } from './terminals.ts';

export async function openAcp(
  entry: ExecutorEntry,
  asked: OpenExecutor,
  needs: AcpClientNeeds,
  signal: AbortSignal,
): Promise<Result<{ readonly live: LiveSession; readonly restored: 'new' | 'loaded' }, ExecutorFailure>> {
  const touched = await touchedSince(asked.cwd, needs);
  const reached = await reachExecutor(entry, asked, needs, signal);
  if (!reached.ok) return reached;
  return await givenUpOn(signal, reached.value.link, async () => {
    const { state, handshake } = await talk(reached.value, entry, asked.mode, needs);
    const known = await introduce(handshake, asked.questions === true);
    if (!known.ok) return known;
    const opened = await beginSession({ ...asked, cwd: reached.value.folder }, known.value, state, handshake);
    if (!opened.ok) return opened;
    const { clock, redact } = needs;
    return ok({
      live: createSession(opened.value, { clock, redact, ...present({ touched }) }),
      restored: opened.value.restored,
    });
  });
}

/** From before it is started. Whoever is told of a change is not told again. */
async function touchedSince(folder: string, { closed }: AcpClientNeeds): Promise<ExecutorSession['touched']> {
  if (closed === undefined) return undefined;
  let before = await closed(folder);
  return async () => {
    const now = await closed(folder);
    const changed = changedBetween(before, now);
    before = now;
    return changed;
  };
}

/** When nobody waits any more it ends, and with it everything that is asked of it. */
async function givenUpOn<Value>(signal: AbortSignal, link: Link, work: () => Promise<Value>): Promise<Value> {
  const giveUp = (): void => void link.end();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

async function talk(
  { link, folder, sandbox }: Reached,
  entry: ExecutorEntry,
  mode: OpenExecutor['mode'],
  needs: AcpClientNeeds,
): Promise<{ readonly state: ExecutorState; readonly handshake: HandshakeNeeds }> {
  const { clock, random, guard, redact } = needs;
  const inside = insideOf(needs.keeping?.sandbox, folder, needs.keeping?.places);
  const enter: TerminalNeeds['enter'] = (program) =>
    inside === undefined
      ? Promise.resolve(ok({ ...program, left: () => [] }))
      : inside.sandbox.enter(program, mode === 'read-only' ? onlyRead(inside.walls) : inside.walls);
  const state = createState({ clock, redact, enter, titleIsCommand: entry.titleIsCommand === true });
  const dialect = entry.protocol === 2 ? version2() : version1;
  const never = AbortSignal.abort();
  const callbacks: CallbackNeeds = {
    ...{ follower: state.follower, terminals: state.terminals, calls: state.calls },
    files: { folder, guard, clock, random, missingFile: entry.missingFile ?? 'error', seen: createReadVersions() },
    walled: async () => inside !== undefined && (await inside.sandbox.state()).kind === 'on',
    environment: minimalEnvironment(needs.environment),
    mark: { [MARK_VARIABLE]: link.mark },
    over: () => state.turn?.over ?? never,
    isOwn: (session) => session === state.session,
  };
  const peer = await connectPeer(
    link,
    {
      update: (params) => {
        for (const update of dialect.updates(params)) state.told(update);
      },
      fault: state.fault,
      request: async (method, params, signal) => {
        const asked = dialect.asked(method, params);
        return asked === undefined ? noSuchMethod(method) : await answerCallback(method, asked.params, signal, callbacks);
      },
    },
    clock,
    dialect.version,
  );
  const handshake = { entry, link, peer, dialect, clock, redact, junk: () => state.junk, ...present({ sandbox }) };
  return { state, handshake };
}
