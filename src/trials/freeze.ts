/**
 * Keeps a run with all of its answers, plays it again with the agents of the project as they are now, and takes what has changed
 * as the new behaviour when somebody says so.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, TroupeError } from '../base/errors.ts';
import type { PayloadRef } from '../base/ids.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Project } from '../project/project.ts';
import type { ReplayDifference } from '../replay/comparison.ts';
import { recordOf } from '../replay/record.ts';
import { type ReplayOutcome, replayRun } from '../replay/replay.ts';
import { type AddedTest, requireName, requireRoot } from './add-test.ts';
import { asLedger, frozenText, readFrozen, type Thawed, thawed } from './frozen-file.ts';
import { TESTS_FOLDER } from './read-files.ts';
import type { FrozenTest } from './test-file.ts';

/** The project whose agents are held against what is kept. */
export type FrozenGround = Pick<Project, 'declared' | 'redact' | 'root'>;

export interface NewFrozen {
  readonly name: string;
  readonly timeZone: string;
}

export async function addFrozen(ledger: Ledger, row: RunRow, ground: FrozenGround, wanted: NewFrozen): Promise<AddedTest> {
  const { name, timeZone } = wanted;
  await requireName(ground.root, name);
  requireRoot(row);
  const kept = must(await frozenRecord(ledger, row, ground, timeZone));
  const head = `# Kept from ${row.run} with its answers. docs/trials.md says what is compared.\n`;
  const text = await frozenText(kept, head);
  const again = await thawed(text);
  if (!again.ok) throw new TroupeError('usage', `What would be kept ${again.error}`, { fix: WITHOUT });
  const outcome = await playAgain(again.value, ground);
  if (outcome.kind === 'refused') throw new TroupeError(outcome.error.code, outcome.error.message, { fix: WITHOUT });
  if (outcome.kind === 'different')
    throw new TroupeError('usage', `The run does not come to the same any more. ${differenceText(outcome.first)}`, {
      fix: 'Where its agents have changed since, run it again and keep that run. Or keep it without its answers.',
    });
  const folder = join(ground.root, TESTS_FOLDER);
  await mkdir(folder, { recursive: true });
  const frozen = `${name}.frozen.yaml`;
  await writeFile(join(folder, frozen), text, { flag: 'wx' });
  const { stringify } = await import('yaml');
  const test = stringify({ agent: row.agent, ...promptOf(kept, row), frozen });
  await writeFile(join(folder, `${name}.yaml`), `${head}${test}`, { flag: 'wx' });
  return { files: [`${name}.yaml`, frozen].map((file) => join(TESTS_FOLDER, file)), notes: [] };
}

const WITHOUT = 'Keep it without its answers: leave out --frozen';

function promptOf({ events }: Thawed, { run }: RunRow): { readonly prompt?: string } {
  const started = events.find((event) => event.event_type === 'run.started' && event.run_id === run);
  if (started?.event_type !== 'run.started') return {};
  const texts = started.payload.input.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 ? {} : { prompt: texts.join('\n\n') };
}

function must<Value>(
  result:
    | { readonly ok: true; readonly value: Value }
    | { readonly ok: false; readonly error: { code: string; message: string; fix?: string | undefined } },
): Value {
  if (result.ok) return result.value;
  const { code, message, fix } = result.error;
  throw new TroupeError(code, message, { fix });
}

/** The record, without secrets and without places of this machine, and with the payloads that playing it asks for. */
async function frozenRecord(
  ledger: Ledger,
  { run }: RunRow,
  { redact, root }: FrozenGround,
  timeZone: string,
): Promise<Result<Thawed, { readonly code: string; readonly message: string; readonly fix?: string | undefined }>> {
  const record = await recordOf(ledger, run);
  if (!record.ok) return record;
  const { events, rows } = record.value;
  if (events.length > limits.frozenEvents)
    return fail({
      code: 'too_long',
      message: `Its session has ${events.length} events, and ${limits.frozenEvents} are the limit (frozenEvents)`,
      fix: WITHOUT,
    });
  const inPlace = scrub(redact, root, events);
  const kept = events.map((event) => ({ ...event, payload: eachText(event.payload as unknown as Json, inPlace) }) as LedgerEvent);
  const payloads: Record<string, string> = {};
  const bare: Thawed = { run, timeZone, rows, events: kept, payloads };
  const asked = async (ref: PayloadRef): Promise<Uint8Array | undefined> => {
    const bytes = await ledger.payload(ref);
    if (bytes !== undefined) payloads[ref] = Buffer.from(redact(Buffer.from(bytes).toString('utf8'))).toString('base64');
    return bytes;
  };
  await replayRun({ ...asLedger(bare), payload: asked }, run);
  return ok(bare);
}

/** Where the project and its workspace lie becomes the same on every machine. */
function scrub(redact: FrozenGround['redact'], root: string, events: readonly LedgerEvent[]): (text: string) => string {
  const workspaces = events.flatMap((event) => (event.event_type === 'session.started' ? [event.payload.workspace] : []));
  const names = new Map([...workspaces.map((path) => [path, '/workspace'] as const), [root, '/project']]);
  const places = [...names].filter(([path]) => path.length >= SHORTEST).toSorted(([one], [other]) => other.length - one.length);
  return (text) => places.reduce((said, [path, name]) => said.replaceAll(path, name), redact(text));
}

/** Of a path that stands for nothing else in a text. */
const SHORTEST = 5;

function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one: Json) => eachText(one, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, one === undefined ? one : eachText(one, change)]));
}

/** Nobody is asked and nothing is started. */
async function playAgain(
  kept: Thawed,
  { declared, redact, root }: FrozenGround,
  changed?: (position: number, payload: Json) => void,
): Promise<ReplayOutcome> {
  const { timeZone } = kept;
  const inPlace = scrub(redact, root, []);
  const { agent, tools } = declared;
  try {
    return await replayRun(asLedger(kept), kept.run, {
      changed,
      agents: {
        agent,
        tools,
        prompt: (of, workspace, more, nowMs) => inPlace(declared.prompt(of, workspace, more, { nowMs, timeZone })),
      },
    });
  } catch (error) {
    return { kind: 'refused', error: { code: 'not_replayed', message: `It cannot be played again: ${messageOf(error)}` } };
  }
}

/** Why it does not come to the same; `undefined` when it does. `update` takes what it says now for what it is to say. */
export async function tryFrozen(
  { folder, frozen }: FrozenTest,
  ground: FrozenGround,
  update: boolean,
): Promise<{ readonly why?: string; readonly updated?: string }> {
  const path = join(folder, frozen);
  const read = await readFrozen(path);
  if (!read.ok) return { why: `${frozen} ${read.error}` };
  const outcome = await playAgain(read.value, ground);
  if (outcome.kind === 'identical') return {};
  if (outcome.kind === 'refused') return { why: outcome.error.message };
  const why = differenceText(outcome.first);
  if (!update) return { why };
  const now = await changedRecord(read.value, ground);
  if (!now.ok) return { why: `${why}\n${now.error}` };
  await writeFile(
    `${path}.new`,
    await frozenText(now.value, '# Kept with its answers; what its agents make of them was accepted since.\n'),
  );
  await rename(`${path}.new`, path);
  return { updated: why };
}

const ANEW = 'Its recorded answers do not carry that: run it again, and keep that run (troupe test add <run> --frozen)';

/** As often as a change makes another one. */
async function changedRecord(kept: Thawed, ground: FrozenGround): Promise<Result<Thawed, string>> {
  let now = kept;
  for (let pass = 0; pass < limits.frozenPasses; pass += 1) {
    const changes = new Map<number, Json>();
    const outcome = await playAgain(now, ground, (position, payload) => void changes.set(position, payload));
    if (outcome.kind === 'identical') return ok(now);
    if (outcome.kind === 'refused' || changes.size === 0) return fail(ANEW);
    const events = now.events.map((event) => {
      const payload = changes.get(event.position);
      return payload === undefined ? event : ({ ...event, payload } as unknown as LedgerEvent);
    });
    now = { ...now, events };
  }
  return fail(ANEW);
}

const KINDS = { changed: 'is another now', missing: 'did not come about again', new: 'is not recorded' } as const;

function differenceText({ kind, agent, type, step, path, recorded, now }: ReplayDifference): string {
  const where = `${type}${step === '' ? '' : ` (${step})`} of ${agent}`;
  const what = path === '' ? 'it' : path;
  const [one, other] = sides(recorded, now);
  return [`The first difference: ${where}: ${what} ${KINDS[kind]}.`, `recorded: ${one}`, `now: ${other}`].join('\n');
}

/** Of long texts the first lines that differ. */
function sides(recorded: Json | undefined, now: Json | undefined): readonly [string, string] {
  if (typeof recorded !== 'string' || typeof now !== 'string') return [short(recorded), short(now)];
  const [before, after] = [recorded.split('\n'), now.split('\n')];
  const first = before.findIndex((line, index) => line !== after[index]);
  const at = first === -1 ? before.length : first;
  return [short(before[at]), short(after[at])];
}

function short(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > limits.frozenDifference ? `${text.slice(0, limits.frozenDifference)} …` : text;
}
