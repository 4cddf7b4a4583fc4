/** What somebody asks about spans: whether they are sent, how far, and those of what is in the ledger already. */
import { parseDuration } from '../../agents/definition/duration.ts';
import type { Clock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import type { FeedPlace, Ledger, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { type BackfillOf, spansOf } from '../../telemetry/backfill.ts';
import { readCursor } from '../../telemetry/cursor.ts';
import { spanTypes } from '../../telemetry/fold.ts';
import { otlpRequest } from '../../telemetry/otlp.ts';
import { type Sending, sendOnce, sendSpans } from '../../telemetry/send.ts';
import { type TelemetrySettings, telemetrySettings } from '../../telemetry/settings.ts';
import { batchesOf } from '../../telemetry/span-reader.ts';
import type { Backfilled, TelemetryStatus } from '../shapes/telemetry.ts';

type Asked = Pick<Project, 'config' | 'ledger'>;

/** `offline`: nobody is asked whether they would take something. */
export async function telemetryStatus({ config, ledger }: Asked, clock: Clock, offline: boolean): Promise<TelemetryStatus> {
  const { telemetry } = config;
  if (telemetry === undefined) return { state: 'off' };
  if (!telemetry.ok) return { state: 'wrong', why: telemetry.error };
  const settings = telemetry.value;
  const { url, from, content, names } = settings;
  const cursor = await readCursor(ledger, settings);
  const behind = cursor === undefined ? 0 : await behindOf(ledger, cursor.place);
  const trouble = offline ? undefined : await troubleWith(settings, clock);
  return {
    ...{
      state: trouble === undefined ? 'on' : 'unreachable',
      endpoint: shownUrl(url),
      from,
      content,
      conventions: names.snapshot,
    },
    ...{ spans: cursor?.spans ?? 0, refused: cursor?.refused ?? 0, behind },
    ...present({ told: cursor?.at, why: trouble ?? cursor?.failed }),
  };
}

/** Without a login that stands in it. */
const shownUrl = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

const ofSpans: ReadonlySet<string> = new Set(spanTypes);

async function behindOf(ledger: Pick<Ledger, 'feed'>, after: FeedPlace | undefined): Promise<number> {
  const { entries } = await ledger.feed({ after, limit: limits.telemetryBehind });
  return entries.filter(({ type }) => ofSpans.has(type)).length;
}

/** An empty batch is one too: whoever takes it would take others. */
async function troubleWith(settings: TelemetrySettings, clock: Clock): Promise<string | undefined> {
  const sent = await sendOnce({ settings, clock, stopping: new AbortController().signal }, []);
  return sent.kind === 'sent' ? (sent.rejected > 0 ? sent.why : undefined) : sent.why;
}

/** A duration back from now (7d), or a day; `undefined` for what is no time. */
export function timeSince(text: string, now: number): number | undefined {
  const duration = parseDuration(text);
  const at = duration === undefined ? Date.parse(text) : now - duration;
  return Number.isNaN(at) ? undefined : at;
}

/** All spans of the tree that a run is in. */
export async function backfillOfRun(ledger: Pick<Ledger, 'runs'>, row: RunRow): Promise<BackfillOf> {
  return { kind: 'run', session: row.session, root: (await rootOf(ledger, row)).run };
}

export interface BackfillNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly stopping: AbortSignal;
  /** Where lines go instead of a collector: one batch each, as files of OTLP have them. */
  readonly write: ((line: string) => Promise<void>) | undefined;
}

/** Sends the spans anew. Where they were sent before they have the same ids. */
export async function backfillTelemetry({ config, ledger }: Asked, of: BackfillOf, needs: BackfillNeeds): Promise<Backfilled> {
  const settings = settingsFor(config, needs.write !== undefined);
  const { stopping, write } = needs;
  const sending: Sending = { ...needs, settings, closing: stopping };
  let [spans, refused] = [0, 0];
  let why: string | undefined;
  for await (const some of spansOf(ledger, of, settings)) {
    for (const batch of batchesOf(some)) {
      if (write !== undefined) await write(`${JSON.stringify(otlpRequest(batch, settings))}\n`);
      const sent = write === undefined ? await sendSpans(sending, batch) : undefined;
      if (sent !== undefined && sent.kind !== 'sent')
        throw new TroupeError('io', `${shownUrl(settings.url)} took ${spans} spans and then no more: ${sent.why}`, {
          fix: 'Once it does, call it again: the same spans have the same ids.',
        });
      spans += batch.length;
      refused += sent?.rejected ?? 0;
      why = sent?.why ?? why;
    }
  }
  return { spans, refused, ...present({ why }), ...(write === undefined ? { endpoint: shownUrl(settings.url) } : {}) };
}

/** A file needs no address. */
function settingsFor({ telemetry }: Asked['config'], isFile: boolean): TelemetrySettings {
  const fallback = isFile ? telemetrySettings({ endpoint: 'http://localhost' }, {}) : undefined;
  const settings = telemetry ?? fallback;
  if (settings === undefined)
    throw new TroupeError('usage', 'No address says where spans go', {
      fix: 'Set OTEL_EXPORTER_OTLP_ENDPOINT, or telemetry.endpoint in troupe.yaml, or write a file: --output spans.jsonl',
    });
  if (settings.ok) return settings.value;
  throw new TroupeError('config', settings.error, { fix: 'Correct it and try again: troupe telemetry status' });
}
