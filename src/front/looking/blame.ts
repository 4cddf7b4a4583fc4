/** Which event, turn and prompt wrote each line of a file: from every change of it that the ledger holds, in all sessions. */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import type { EventId, RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { EventOf } from '../../events/envelope.ts';
import { textOf } from '../../events/messages.ts';
import { parentRun } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { firstLine } from '../../projections/readable.ts';
import { linesOfText } from '../../tools/files/line-diff.ts';
import { type LineChange, lineOrigins } from './line-origins.ts';

const PROMPT_CHARACTERS = 200;

/** A change of the file, and who made it because of what. */
export interface BlamedChange extends LineChange {
  readonly event: EventId;
  readonly session: SessionId;
  readonly run: RunId;
  readonly agent: string;
  /** The turn of the run; `null` where it was seen outside of any. */
  readonly turn: number | null;
  readonly at: string;
  /** `outside`: somebody else changed it, and it was noticed here. */
  readonly source: 'tool' | 'command' | 'outside';
  readonly tool: string | null;
  /** What the person asked for that the run works on. */
  readonly prompt: string;
}

export interface BlamedLine {
  readonly line: number;
  readonly text: string;
  readonly change: BlamedChange | null;
  readonly certain: boolean;
}

export interface Blame {
  readonly path: string;
  readonly lines: readonly BlamedLine[];
  /** Every recorded change of the file, oldest first. */
  readonly changes: readonly BlamedChange[];
  /** The file is as the last recorded change left it. */
  readonly asRecorded: boolean;
}

type Reads = Pick<Ledger, 'read' | 'runs' | 'payload'>;

/** `file` from `cwd`; paths in the ledger are from the workspace. */
export async function readBlame(
  ledger: Reads,
  place: { readonly workspace: string; readonly cwd: string },
  file: string,
): Promise<Result<Blame, Failure>> {
  const workspace = await realpath(place.workspace);
  const whole = await realpath(resolve(place.cwd, file)).catch(() => resolve(place.cwd, file));
  const path = relative(workspace, whole).split(sep).join('/');
  if (path === '' || path.startsWith('../') || isAbsolute(path))
    return fail(usage(`${file} is not in the folder that agents work in`, `name a file below ${workspace}`));
  const changes = await changesOf(ledger, path, join(workspace, path));
  const text = await textOfFile(whole, file, changes);
  if (!text.ok) return text;
  const sha256 = createHash('sha256').update(text.value).digest('hex');
  const lines = linesOfText(text.value.toString());
  const origins = lineOrigins(changes, lines, sha256);
  return ok({
    path,
    lines: lines.map((line, index) => {
      const origin = origins[index];
      const shown = line.split('\n', 1)[0] ?? '';
      return { line: index + 1, text: shown, change: origin?.change ?? null, certain: origin?.certain ?? false };
    }),
    changes,
    asRecorded: changes.at(-1)?.after === sha256,
  });
}

/** The same for programs, of these lines. */
export function blameValue({ path, changes, asRecorded }: Blame, lines: readonly BlamedLine[]) {
  const wrote = new Set(lines.map(({ change }) => change?.event));
  return {
    ...{ path, asRecorded },
    lines: lines.map(({ line, change, certain }) => ({ line, event: change?.event ?? null, certain })),
    changes: changes
      .filter(({ event }) => wrote.has(event))
      .map(({ before: _before, after: _after, diff: _diff, ...change }) => change),
  };
}

async function textOfFile(whole: string, file: string, changes: readonly BlamedChange[]): Promise<Result<Buffer, Failure>> {
  try {
    const { size } = await stat(whole);
    if (size > limits.blamedFileBytes) {
      const most = `${size} bytes, and ${limits.blamedFileBytes} are the limit (blamedFileBytes)`;
      return fail(usage(`${file} has ${most}`, `its changes are in: troupe query "SELECT * FROM files WHERE path LIKE '%…'"`));
    }
    const bytes = await readFile(whole);
    return bytes.includes(0) ? fail(usage(`${file} is no text: it has no lines`, 'name a text file')) : ok(bytes);
  } catch (error) {
    const last = changes.at(-1);
    if (codeOf(error) === 'EISDIR') return fail(usage(`${file} is a folder`, 'name a file'));
    if (last?.after === null)
      return fail(usage(`${file} is gone: ${last.agent} removed it`, `see why: troupe why ${last.event}`));
    return fail(usage(`${file} cannot be read: ${codeOf(error) ?? 'no such file'}`, 'name a file that is there'));
  }
}

const usage = (message: string, fix: string): Failure => ({ code: 'usage', message, fix });

async function changesOf(ledger: Reads, path: string, whole: string): Promise<readonly BlamedChange[]> {
  // Of the list of runs only the names are held: every session is looked at, however many there are.
  const roots = await ledger.runs({ roots: true, limit: Number.MAX_SAFE_INTEGER });
  const changes: BlamedChange[] = [];
  for (const session of new Set(roots.map((row) => row.session))) {
    const runs = new Map<string, EventOf<'run.started'>>();
    try {
      for await (const event of readEvents(ledger, { session, types: ['run.started', 'file.diff'] })) {
        if (event.event_type === 'run.started') runs.set(event.run_id, event);
        else if (event.event_type === 'file.diff' && (event.payload.path === path || event.payload.path === whole))
          changes.push(await changeOf(ledger, event, runs));
      }
    } catch (error) {
      // Of what was collected nobody knows any more which lines it wrote.
      if (codeOf(error) !== 'ledger_collected') throw error;
    }
  }
  return changes.toSorted((left, right) => Date.parse(left.at) - Date.parse(right.at));
}

async function changeOf(
  ledger: Reads,
  event: EventOf<'file.diff'>,
  runs: ReadonlyMap<string, EventOf<'run.started'>>,
): Promise<BlamedChange> {
  const { before, after, addedLines, removedLines, by } = event.payload;
  // The event has the beginning of a long change, and all of it is attached.
  const attached = event.attachment_ref === null ? undefined : await ledger.payload(event.attachment_ref);
  const [, turn] = /^turn\/(\d+)\//.exec(event.step ?? '') ?? [];
  return {
    ...{ before, after, added: addedLines, removed: removedLines },
    diff: attached === undefined ? event.payload.diff : Buffer.from(attached).toString(),
    ...{ event: event.event_id, session: event.session_id, run: event.run_id, at: event.timestamp, tool: event.tool },
    agent: runs.get(event.run_id)?.payload.agent ?? 'unknown',
    turn: turn === undefined ? null : Number(turn),
    source: by ?? 'tool',
    prompt: promptOf(runs, event.run_id),
  };
}

/** What the root run above it was asked. */
function promptOf(runs: ReadonlyMap<string, EventOf<'run.started'>>, run: string): string {
  const seen = new Set<string>();
  let at = runs.get(run);
  for (; at !== undefined && !seen.has(at.run_id); seen.add(at.run_id)) {
    const above = runs.get(parentRun(at.payload) ?? '');
    if (above === undefined) return firstLine(textOf(at.payload.input.content as []), PROMPT_CHARACTERS);
    at = above;
  }
  return '';
}
