/**
 * A run kept with all of its answers: the record that it is played again over, as a file beside its test. Secrets are taken out,
 * and where the project lies is no part of it, so that it means the same on every machine. A text stands in lines, so that a
 * change can be read in a diff.
 */
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import type { PayloadRef, RunId } from '../base/ids.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { type LedgerEvent, SCHEMA_VERSION } from '../events/envelope.ts';
import type { RunRow } from '../ledger/port.ts';
import { readBounded } from '../models/scripted/script-file.ts';
import type { ReadsRecord } from '../replay/replay.ts';

/** Of the file; the events in it have their own. */
const VERSION = 1;

const row = z.object({
  ...{ run: z.string(), session: z.string(), parent: z.string().nullable(), agent: z.string(), state: z.string() },
  ...{ startedAt: z.number(), endedAt: z.number().nullable() },
});

const event = z.looseObject({
  ...{ position: z.number().int().positive(), type: z.string(), run: z.string(), at: z.string(), payload: z.json() },
  ...{ step: z.string().optional(), actor: z.string(), tool: z.string().optional(), cause: z.number().int().optional() },
  attachment: z.string().optional(),
});

const frozenRun = z.object({
  version: z.literal(VERSION),
  schema: z.number().int().positive(),
  run: z.string(),
  session: z.string(),
  timeZone: z.string(),
  runs: z.array(row).min(1),
  events: z.array(event).min(1).max(limits.frozenEvents, `at most ${limits.frozenEvents} (frozenEvents)`),
  payloads: z.record(z.string(), z.string()).default({}),
  /** At its end: a file that was cut off is none. */
  whole: z.literal(true),
});

export type FrozenRun = z.output<typeof frozenRun>;

/** What a run is kept from: its session up to its end. */
export interface Thawed {
  readonly run: RunId;
  readonly timeZone: string;
  readonly rows: readonly RunRow[];
  readonly events: readonly LedgerEvent[];
  /** By reference, in base64: those that playing it asks for. */
  readonly payloads: Readonly<Record<string, string>>;
}

export async function frozenText({ run, timeZone, rows, events, payloads }: Thawed, head: string): Promise<string> {
  const [first] = events;
  const frozen = {
    ...{ version: VERSION, schema: SCHEMA_VERSION, run, session: first?.session_id ?? '', timeZone },
    runs: rows.map(({ owner: _owner, ...kept }) => kept),
    events: events.map(lineOf),
    ...(Object.keys(payloads).length === 0 ? {} : { payloads }),
    whole: true,
  };
  const { stringify } = await import('yaml');
  return `${head}${stringify(frozen, { aliasDuplicateObjects: false, lineWidth: 0, blockQuote: 'literal' })}`;
}

function lineOf({
  position,
  event_type,
  run_id,
  step,
  actor,
  tool,
  timestamp,
  parent_event_id,
  attachment_ref,
  payload,
}: LedgerEvent) {
  return {
    ...{ position, type: event_type, run: run_id },
    ...(step === null ? {} : { step }),
    ...{ actor },
    ...(tool === null ? {} : { tool }),
    at: timestamp,
    ...(parent_event_id === null ? {} : { cause: placeOf(parent_event_id) }),
    ...(attachment_ref === null ? {} : { attachment: attachment_ref }),
    payload: payload as unknown as Json,
  };
}

const placeOf = (id: string): number => Number(id.slice(id.lastIndexOf('.') + 1));

/** The failure is for a person. */
export async function readFrozen(path: string): Promise<Result<Thawed, string>> {
  const text = await readBounded(path, 'frozenFileBytes');
  if (!text.ok) return fail(`cannot be read: ${text.error}`);
  return await thawed(text.value);
}

export async function thawed(text: string): Promise<Result<Thawed, string>> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { version: '1.2' });
  const [problem] = document.errors;
  if (problem !== undefined) return fail(`is not YAML: ${problem.message}`);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    return fail(`is not right: ${messageOf(error)}`);
  }
  if (!isJsonObject(value as Json)) return fail('is no kept run');
  const { version, schema } = value as Record<string, unknown>;
  if (isNewer(version, VERSION) || isNewer(schema, SCHEMA_VERSION))
    return fail('was written by a newer version of Troupe: try it with that one, or a newer one');
  const parsed = frozenRun.safeParse(value);
  return parsed.success ? ok(thaw(parsed.data)) : fail(`is not right:\n${z.prettifyError(parsed.error)}`);
}

const isNewer = (version: unknown, known: number): boolean => typeof version === 'number' && version > known;

function thaw({ run, session, timeZone, runs, events, payloads, schema }: FrozenRun): Thawed {
  const idOf = (position: number): string => `${session}.${position}`;
  return {
    run: run as RunId,
    timeZone,
    rows: runs.map((one) => ({ ...one, owner: null }) as RunRow),
    events: events.map(
      (one) =>
        ({
          ...{ event_id: idOf(one.position), session_id: session, run_id: one.run, position: one.position, event_type: one.type },
          ...{
            parent_event_id: one.cause === undefined ? null : idOf(one.cause),
            step: one.step ?? null,
            tool: one.tool ?? null,
          },
          ...{ actor: one.actor, timestamp: one.at, payload: one.payload, attachment_ref: one.attachment ?? null },
          ...{ payload_ref: '', schema_version: schema },
        }) as unknown as LedgerEvent,
    ),
    payloads,
  };
}

/** What is kept as a ledger that a run is played again from. */
export function asLedger({ rows, events, payloads }: Thawed): ReadsRecord {
  return {
    runs: async ({ run, session, limit }) =>
      rows
        .filter((one) => (run === undefined || one.run === run) && (session === undefined || one.session === session))
        .slice(0, limit),
    read: async ({ after = 0, limit }) => events.filter(({ position }) => position > after).slice(0, limit),
    payload: async (ref: PayloadRef) => {
      const kept = Object.hasOwn(payloads, ref) ? payloads[ref] : undefined;
      return kept === undefined ? undefined : Buffer.from(kept, 'base64');
    },
  };
}
