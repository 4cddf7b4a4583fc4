/**
 * A collector: a real server that takes spans over OTLP/HTTP, answers as it is told to, and holds what it took against the
 * official code.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect } from 'vitest';
import { present } from '../../../src/base/present.ts';

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

/**
 * The same spans, made by the official SDK and written by the code of the official exporter, are what was sent, byte for byte;
 * and they fit the binary form.
 */
export function expectOfficial(body: string): void {
  const [{ resource, scopeSpans }] = (JSON.parse(body) as Request).resourceSpans;
  const [{ scope, spans, schemaUrl }] = scopeSpans;
  const made: ReadableSpan[] = [];
  const nothing = async (): Promise<void> => undefined;
  const collecting = {
    ...{ onStart: () => undefined, forceFlush: nothing, shutdown: nothing },
    onEnd: (span: ReadableSpan) => void made.push(span),
  };
  for (const span of spans) {
    // An SDK draws ids; here they are those of the ledger.
    const idGenerator = { generateTraceId: () => span.traceId, generateSpanId: () => span.spanId };
    const shared = resourceFromAttributes(attributesOf(resource));
    const provider = new TracerProvider({ resource: shared, idGenerator, spanProcessors: [collecting] });
    begunOfficially(provider.getTracer(scope.name, scope.version, present({ schemaUrl })), span).end(time(span.endTimeUnixNano));
  }
  // Those of one batch have one resource and one scope: the exporter puts together what is the same object.
  const [first] = made;
  const batch = made.map((span) => shownAs(span, first));
  const official = JsonTraceSerializer.serializeRequest(batch);
  // JavaScript does not tell a fraction that happens to be whole from a whole number.
  const whole = body.replaceAll(/"doubleValue":(\d+)(?=})/g, '"intValue":$1');
  expect(Buffer.from(official ?? []).toString()).toBe(whole);
  expect(ProtobufTraceSerializer.serializeRequest(batch)?.length).toBeGreaterThan(spans.length);
}

const contextOf = (traceId: string, spanId: string): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });

function begunOfficially(tracer: Tracer, span: TakenSpan): Span {
  const { name, parentSpanId, traceId, kind, events, links, status } = span;
  const above = parentSpanId === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(traceId, parentSpanId));
  const options = {
    ...{ kind: kind === 1 ? SpanKind.INTERNAL : SpanKind.CLIENT, startTime: time(span.startTimeUnixNano) },
    links: links.map((link) => ({ context: contextOf(link.traceId, link.spanId) })),
    attributes: attributesOf(span) as Attributes,
  };
  const begun = tracer.startSpan(name, options, above);
  for (const event of events) begun.addEvent(event.name, attributesOf(event) as Attributes, time(event.timeUnixNano));
  return begun.setStatus({ code: status.code });
}

/** A span beside the first of its batch. */
const shownAs = (span: ReadableSpan, first: ReadableSpan = span): ReadableSpan =>
  Object.create(span, {
    resource: { value: first.resource },
    instrumentationScope: { value: first.instrumentationScope },
  }) as ReadableSpan;
