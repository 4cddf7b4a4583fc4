import { expect, it } from 'vitest';
import { type Answer, startCollector } from '../../test/support/telemetry/collector.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import { sendSpans } from './send.ts';
import { telemetrySettings } from './settings.ts';
import { type FinishedSpan, spanOfEvent, traceOf } from './span.ts';

const span: FinishedSpan = {
  ...{ traceId: traceOf('ses_1' as never, 'run_1' as never), spanId: spanOfEvent('ses_1.1' as never), parentSpanId: undefined },
  ...{ name: 'chat x', kind: 'client', startMs: 1, endMs: 2, attributes: {}, events: [], failed: false, after: undefined },
};

/** Keeps how long was waited, and waits for nothing but the collector. */
function waiting(): Clock & { readonly waited: number[] } {
  const waited: number[] = [];
  const after: Clock['after'] = (ms, callback, hold) => {
    if (hold === undefined) return () => undefined;
    waited.push(ms);
    return systemClock.after(0, callback, hold);
  };
  return { ...systemClock, after, waited };
}

async function sentTo(answers: readonly Answer[], env: Readonly<Record<string, string>> = {}) {
  await using collector = await startCollector(...answers);
  const settings = telemetrySettings({ endpoint: collector.url }, env);
  if (settings?.ok !== true) throw new Error('no settings');
  const clock = waiting();
  const never = new AbortController().signal;
  const needs = { settings: settings.value, clock, random: seededRandom(1), stopping: never, closing: never };
  const sent = await sendSpans(needs, [span, span]);
  return { sent, asked: collector.asked, waited: clock.waited, headers: collector.headers, spans: collector.spans() };
}

it.each<[string, Answer, unknown, number]>([
  ['taken', { status: 200 }, { kind: 'sent', rejected: 0 }, 1],
  ['taken, with words that are no JSON', { status: 200, body: 'ok' }, { kind: 'sent', rejected: 0 }, 1],
  [
    'taken in part',
    { status: 200, body: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}' },
    { kind: 'sent', rejected: 1, why: 'too old' },
    1,
  ],
  ['not wanted: it is not sent again', { status: 400 }, { kind: 'sent', rejected: 2, why: 'it answered 400' }, 1],
  ['without the right key: nothing is lost', { status: 401 }, { kind: 'wrong', why: 'it answered 401' }, 1],
  ['at the wrong path', { status: 404 }, { kind: 'wrong', why: 'it answered 404' }, 1],
  ['sent elsewhere, which is not followed', { status: 307 }, { kind: 'wrong', why: 'it answered 307' }, 1],
  ['busy for long', { status: 503 }, { kind: 'later', why: 'it answered 503' }, limits.telemetryAttempts],
])('a batch is %s', async (_name, answer, expected, asked) => {
  const result = await sentTo([answer]);
  expect([result.sent, result.asked]).toEqual([expected, asked]);
});

it('waits longer each time, with chance in it, and as long as it is asked to', async () => {
  const { waited } = await sentTo([{ status: 503 }]);
  expect(waited).toHaveLength(limits.telemetryAttempts - 1);
  waited.forEach((ms, index) => {
    const whole = limits.telemetryRetryMs * 2 ** index;
    expect([ms >= whole / 2, ms <= whole]).toEqual([true, true]);
  });
  const asked = await sentTo([{ status: 429, headers: { 'retry-after': '7' } }, { status: 200 }]);
  expect([asked.sent, asked.waited]).toEqual([{ kind: 'sent', rejected: 0 }, [7_000]]);
  const tooLong = await sentTo([{ status: 429, headers: { 'retry-after': '7000' } }]);
  expect([tooLong.sent.kind, tooLong.waited]).toEqual(['later', []]);
});

it('is left for later where nobody listens', async () => {
  const settings = telemetrySettings({ endpoint: 'http://127.0.0.1:9' }, {});
  if (settings?.ok !== true) throw new Error('no settings');
  const never = new AbortController().signal;
  const needs = { settings: settings.value, clock: waiting(), random: seededRandom(1), stopping: never, closing: never };
  expect(await sendSpans(needs, [span])).toMatchObject({ kind: 'later', why: expect.stringContaining('ECONNREFUSED') });
});

it('goes with the headers of the variables, and smaller where they say so', async () => {
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' };
  const { headers, spans } = await sentTo([{ status: 200 }], env);
  expect(headers[0]).toMatchObject({ 'x-key': 'a b', 'content-encoding': 'gzip', 'content-type': 'application/json' });
  expect(spans).toHaveLength(2);
});
