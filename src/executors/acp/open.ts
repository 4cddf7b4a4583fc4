/** Starts or reaches an executor and opens a session with it, by the Agent Client Protocol. */
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Entered, Program } from '../../sandbox/port.ts';
import { type ClosedFiles, changedBetween } from '../../tools/files/closed-files.ts';
import type { Guard } from '../../tools/files/guard.ts';
import { workspaceRoot } from '../../tools/files/workspace.ts';
import { expandVariables, minimalEnvironment } from '../../tools/shell/environment.ts';
import { insideOf } from '../../tools/shell/walls.ts';
import { connectPeer } from '../acp-wire/peer.ts';
import { version1 } from '../acp-wire/version-1.ts';
import { version2 } from '../acp-wire/version-2.ts';
import type { ExecutorEntry } from '../entry.ts';
import { type ExecutorKeeping, executorWalls, keepingOf } from '../kept-in.ts';
import type { ExecutorFailure, ExecutorSession, OpenExecutor } from '../port.ts';
import { programPath } from '../program.ts';
import { answerCallback, type CallbackNeeds, noSuchMethod } from './callbacks.ts';
import { beginSession, type HandshakeNeeds, introduce } from './handshake.ts';
import { connectTcp, type Link, startProcess } from './link.ts';
import { createSession, type LiveSession } from './session.ts';
import { createState, type ExecutorState } from './state.ts';
import type { TerminalNeeds } from './terminals.ts';

export interface AcpClientNeeds {
  readonly clock: Clock;
  readonly random: Random;
  /** Ours, of which an executor gets the basics and what its entry names. */
  readonly environment: Environment;
  readonly guard: Guard;
  /** What executors are kept in; without it nothing. */
  readonly keeping?: ExecutorKeeping | undefined;
  /** Files that are closed to whoever works in this folder, as they are now. */
  closed?(folder: string): Promise<ClosedFiles>;
  /** All that there are: what one keeps is closed to the others. */
  readonly others?: readonly ExecutorEntry[] | undefined;
  redact(text: string): string;
}

export async function openAcp(
  entry: ExecutorEntry,
  asked: OpenExecutor,
  needs: AcpClientNeeds,
  signal: AbortSignal,
): Promise<Result<{ readonly live: LiveSession; readonly restored: 'new' | 'loaded' }, ExecutorFailure>> {
  const touched = await touchedSince(asked.cwd, needs);
  const reached = await reach(entry, asked, needs, signal);
  if (!reached.ok) return reached;
  return await givenUpOn(signal, reached.value.link, async () => {
    const { state, handshake } = await talk(reached.value, entry, needs);
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

interface Reached {
  readonly link: Link;
  /** The real path of its folder. */
  readonly folder: string;
  /** What it is kept in. */
  readonly sandbox?: string | undefined;
}

async function reach(
  entry: ExecutorEntry,
  { cwd, mcp }: Pick<OpenExecutor, 'cwd' | 'mcp'>,
  needs: AcpClientNeeds,
  signal: AbortSignal,
): Promise<Result<Reached, ExecutorFailure>> {
  const root = await workspaceRoot(cwd);
  if (!root.ok) return fail({ why: 'unavailable', message: root.error });
  const folder = root.value;
  const { reach: way, title, install } = entry;
  if (way.kind === 'tcp') {
    if (needs.keeping !== undefined && keepingOf(entry, needs.keeping) === 'on') return fail(cannotBeKept(entry));
    const link = await connectTcp(way.host, way.port, needs.clock, signal);
    if (link.ok) return ok({ link: link.value, folder });
    const where = `${way.host}:${way.port}`;
    return fail({
      ...{ why: 'unavailable', message: `${title} cannot be reached at ${where}: ${link.error}.` },
      fix: `Start it there, or correct its address in executors.yaml.`,
    });
  }
  const environment = executorEnvironment(entry, needs.environment);
  if (!environment.ok)
    return fail({
      ...{ why: 'unavailable', message: `${title} needs ${environment.error.join(' and ')}, which is not set.` },
      fix: `Set it, or take it out of its entry in executors.yaml.`,
    });
  const program = { file: way.program, args: way.args, folder, environment: environment.value };
  // Inside walls a program that is not there would look like one that ended at once.
  const isThere = programPath(way.program, folder, environment.value['PATH']) !== undefined;
  const entered = isThere ? await enter(entry, program, mcp, needs) : ok<Entered>({ ...program, left: () => [] });
  if (!entered.ok) return entered;
  const { sandbox, left } = entered.value;
  const { clock, redact } = needs;
  const start = { program: entered.value.file, args: entered.value.args, folder, environment: entered.value.environment };
  const link = await startProcess(
    { ...start, ...(sandbox === undefined ? {} : { left }) },
    { clock, redact, mark: Buffer.from(needs.random.bytes(12)).toString('hex') },
  );
  if (link.ok) return ok({ link: link.value, folder, ...present({ sandbox }) });
  left();
  const missing = link.error === 'ENOENT';
  return fail({
    why: 'unavailable',
    message: missing
      ? `${title} is not installed: there is no ${way.program}.`
      : `${way.program} cannot be started: ${link.error}.`,
    ...present({ fix: missing && install !== undefined ? `Install it: ${install}` : undefined }),
  });
}

/** Inside walls, where there are some and nobody has chosen otherwise. */
async function enter(
  entry: ExecutorEntry,
  program: Program,
  mcp: OpenExecutor['mcp'],
  { keeping, others = [] }: AcpClientNeeds,
): Promise<Result<Entered, ExecutorFailure>> {
  if (keeping === undefined) return ok({ ...program, left: () => [] });
  const { folder, environment } = program;
  const entered = await keeping.sandbox.enter(program, executorWalls(entry, others, { folder, environment, mcp }, keeping));
  return entered.ok ? entered : fail({ why: 'unavailable', message: `${entry.title}: ${entered.error}`, fix: NO_WALLS });
}

const NO_WALLS =
  'troupe doctor says what is missing. The executor builtin needs no walls around itself; to let this one run without any, ' +
  'write sandbox: auto, or start with TROUPE_SANDBOX=off.';

const cannotBeKept = ({ title }: ExecutorEntry): ExecutorFailure => ({
  why: 'unavailable',
  message: `${title} listens at an address, so it runs outside of the sandbox that the settings demand (sandbox: on).`,
  fix: 'Give it a command in executors.yaml, use the executor builtin, or write sandbox: auto.',
});

/** The basics, what its entry names of ours, and what its entry sets; the failure names what is missing. */
export function executorEnvironment(entry: ExecutorEntry, ours: Environment): Result<Record<string, string>, readonly string[]> {
  const passed = minimalEnvironment(ours);
  for (const name of entry.keys) {
    const value = ours[name];
    if (value !== undefined && value !== '') passed[name] = value;
  }
  const missing: string[] = [];
  for (const [name, text] of Object.entries(entry.env)) {
    const filled = expandVariables(text, ours);
    missing.push(...filled.missing);
    passed[name] = filled.text;
  }
  // Many are programs for Node. The one that runs us is there for those who find no other.
  passed['PATH'] = [passed['PATH'], dirname(process.execPath)].filter(Boolean).join(':');
  return missing.length === 0 ? ok(passed) : fail([...new Set(missing)]);
}

async function talk(
  { link, folder, sandbox }: Reached,
  entry: ExecutorEntry,
  needs: AcpClientNeeds,
): Promise<{ readonly state: ExecutorState; readonly handshake: HandshakeNeeds }> {
  const { clock, random, guard, redact } = needs;
  const inside = insideOf(needs.keeping?.sandbox, folder, needs.keeping?.places);
  const enter: TerminalNeeds['enter'] = (program) =>
    inside === undefined ? Promise.resolve(ok({ ...program, left: () => [] })) : inside.sandbox.enter(program, inside.walls);
  const state = createState({ clock, redact, enter, titleIsCommand: entry.titleIsCommand === true });
  const dialect = entry.protocol === 2 ? version2() : version1;
  const never = AbortSignal.abort();
  const callbacks: CallbackNeeds = {
    ...{ follower: state.follower, terminals: state.terminals, calls: state.calls },
    files: { folder, guard, clock, random, missingFile: entry.missingFile ?? 'error' },
    environment: minimalEnvironment(needs.environment),
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
