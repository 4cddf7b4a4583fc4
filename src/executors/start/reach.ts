/** The way to an executor: a process that is started, in an image, inside walls or as it is; or an address where it listens. */
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { MARK_VARIABLE } from '../../process/processes.ts';
import type { Entered, Program } from '../../sandbox/port.ts';
import type { ClosedFiles } from '../../tools/closed/closed-files.ts';
import type { Guard } from '../../tools/closed/guard.ts';
import { workspaceRoot } from '../../tools/files/workspace.ts';
import { expandVariables, minimalEnvironment } from '../../tools/shell/environment.ts';
import { commandWalls } from '../../tools/shell/walls.ts';
import type { ExecutorEntry } from '../entry.ts';
import { imageProgram } from '../image.ts';
import { type ExecutorKeeping, executorWalls, keepingOf, onlyRead } from '../kept-in.ts';
import type { ExecutorFailure, OpenExecutor } from '../port.ts';
import { programPath } from '../program.ts';
import { connectTcp, type Link, startProcess } from './link.ts';

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

export interface Reached {
  readonly link: Link;
  /** The real path of its folder. */
  readonly folder: string;
  /** What it is kept in. */
  readonly sandbox?: string | undefined;
}

export async function reachExecutor(
  entry: ExecutorEntry,
  { cwd, ...asked }: Pick<OpenExecutor, 'cwd' | 'mcp' | 'mode'>,
  needs: AcpClientNeeds,
  signal: AbortSignal,
): Promise<Result<Reached, ExecutorFailure>> {
  const root = await workspaceRoot(cwd);
  if (!root.ok) return fail({ why: 'unavailable', message: root.error });
  const folder = root.value;
  const { reach: way, title, install } = entry;
  const mark = Buffer.from(needs.random.bytes(12)).toString('hex');
  if (way.kind === 'tcp') {
    if (needs.keeping !== undefined && keepingOf(entry, needs.keeping) === 'on') return fail(cannotBeKept(entry));
    const link = await connectTcp(way, { clock: needs.clock, mark }, signal);
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
  const entered = await entering(entry, program, asked, mark, needs);
  if (!entered.ok) return entered;
  const { sandbox, left, file, args, after } = entered.value;
  const { clock, redact } = needs;
  const link = await startProcess(
    { program: file, args, folder, environment: entered.value.environment, ...present({ left, after }) },
    { clock, redact, mark },
  );
  if (link.ok) return ok({ link: link.value, folder, ...present({ sandbox }) });
  left?.();
  const missing = link.error === 'ENOENT';
  return fail({
    why: 'unavailable',
    message: missing
      ? `${title} is not installed: there is no ${way.program}.`
      : `${way.program} cannot be started: ${link.error}.`,
    ...present({ fix: missing && install !== undefined ? `Install it: ${install}` : undefined }),
  });
}

/** The program as it is started: in its image, inside walls, or as it is. */
interface Entering extends Omit<Program, 'folder'> {
  readonly sandbox?: string | undefined;
  readonly left?: Entered['left'] | undefined;
  readonly after?: (() => Promise<void>) | undefined;
}

async function entering(
  entry: ExecutorEntry,
  program: Program,
  { mcp, mode }: Pick<OpenExecutor, 'mcp' | 'mode'>,
  mark: string,
  needs: AcpClientNeeds,
): Promise<Result<Entering, ExecutorFailure>> {
  const { folder, environment } = program;
  const { image, install } = entry;
  if (image !== undefined) {
    const { places } = needs.keeping ?? {};
    const state = places === undefined ? [] : [places.home, ...places.ledgers, places.keys, places.user];
    const marked = { ...environment, [MARK_VARIABLE]: mark };
    const open = commandWalls(folder, places);
    const walls = mode === 'read-only' ? onlyRead(open) : open;
    const start = { folder, environment: marked, walls, state, mark };
    const made = imageProgram({ ...entry, image }, start, needs.environment);
    return made.ok ? made : fail({ why: 'unavailable', message: `${made.error}.`, ...present({ fix: install }) });
  }
  // Inside walls a program that is not there would look like one that ended at once.
  if (needs.keeping === undefined || programPath(program.file, folder, environment['PATH']) === undefined) return ok(program);
  const walls = executorWalls(entry, needs.others ?? [], { folder, environment, mcp, mode }, needs.keeping);
  const entered = await needs.keeping.sandbox.enter(program, walls);
  if (!entered.ok) return fail({ why: 'unavailable', message: `${entry.title}: ${entered.error}`, fix: NO_WALLS });
  return ok(entered.value.sandbox === undefined ? program : entered.value);
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
