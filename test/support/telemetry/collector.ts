/**
 * A collector: a real server that takes spans over OTLP/HTTP, answers as it is told to, and holds what it took against the
 * official code.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { SpanKind, TraceFlags } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { expect } from 'vitest';

type ReadableSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}
interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}
export interface TakenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string; readonly attributes: readonly KeyValue[] }[];
  readonly links: readonly { readonly spanId: string; readonly traceId: string }[];
  readonly status: { readonly code: number };
}
interface Scope {
  readonly scope: { readonly name: string; readonly version?: string };
  readonly spans: readonly TakenSpan[];
  readonly schemaUrl?: string;
}
export interface Request {
  readonly resourceSpans: readonly [
    { readonly resource: { readonly attributes: readonly KeyValue[] }; readonly scopeSpans: readonly [Scope] },
  ];
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** Every batch that it took, as text. */
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
  readonly paths: string[];
  /** How often somebody came. */
  asked: number;
  /** What it answers next, and then again and again the last. */
  answers: Answer[];
  /** All spans, in the order in which they came. */
  spans(): readonly TakenSpan[];
  /** Holds it as it is: nobody is answered until it is let go. */
  hold(): () => void;
}

export async function startCollector(...answers: readonly Answer[]): Promise<Collector> {
  let held: Promise<void> | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      return;
    }
    collector.asked += 1;
    await held;
    const answer = (collector.answers.length > 1 ? collector.answers.shift() : collector.answers[0]) ?? { status: 200 };
    const bytes = Buffer.concat(chunks);
    if (answer.status < 300) {
      collector.paths.push(incoming.url ?? '');
      collector.headers.push(incoming.headers);
      collector.bodies.push((incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString());
    }
    outgoing.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ bodies: [], headers: [], paths: [], asked: 0, answers: [...answers] },
    spans: () => collector.bodies.flatMap(spansIn),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return collector;
}

export const spansIn = (body: string): readonly TakenSpan[] => (JSON.parse(body) as Request).resourceSpans[0].scopeSpans[0].spans;

const plain = (value: AnyValue): string | number | boolean | readonly (string | number | boolean)[] =>
  value.stringValue ??
  value.intValue ??
  value.doubleValue ??
  value.boolValue ??
  ((value.arrayValue?.values ?? []).map(plain) as string[]);

export const attributesOf = ({ attributes }: { readonly attributes: readonly KeyValue[] }): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));

const NANO = 1_000_000_000n;
const time = (nanos: string): [number, number] => [Number(BigInt(nanos) / NANO), Number(BigInt(nanos) % NANO)];

/** What the official exporter would send of the same spans is what was sent, byte for byte; and they fit the binary form. */
export function expectOfficial(body: string): void {
  const [{ resource, scopeSpans }] = (JSON.parse(body) as Request).resourceSpans;
  const [{ scope, spans, schemaUrl }] = scopeSpans;
  const shared = { attributes: attributesOf(resource) };
  const readable = spans.map((span) => {
    const context = (spanId: string, traceId = span.traceId) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
    return {
      ...{ name: span.name, kind: { 1: SpanKind.INTERNAL, 3: SpanKind.CLIENT }[span.kind] },
      spanContext: () => context(span.spanId),
      parentSpanContext: span.parentSpanId === undefined ? undefined : context(span.parentSpanId),
      ...{ startTime: time(span.startTimeUnixNano), endTime: time(span.endTimeUnixNano), status: span.status },
      attributes: attributesOf(span),
      links: span.links.map(({ spanId, traceId }) => ({ context: context(spanId, traceId) })),
      events: span.events.map((event) => ({ name: event.name, time: time(event.timeUnixNano), attributes: attributesOf(event) })),
      ...{ duration: [0, 0], ended: true, resource: shared, instrumentationScope: { ...scope, schemaUrl } },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    } as unknown as ReadableSpan;
  });
  const official = JsonTraceSerializer.serializeRequest(readable);
  // JavaScript does not tell a fraction that happens to be whole from a whole number.
  const whole = body.replaceAll(/"doubleValue":(\d+)(?=})/g, '"intValue":$1');
  expect(JSON.parse(Buffer.from(official ?? []).toString())).toEqual(JSON.parse(whole));
  expect(ProtobufTraceSerializer.serializeRequest(readable)?.length).toBeGreaterThan(spans.length);
}
