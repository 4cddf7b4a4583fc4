/** Spans as OTLP over HTTP has them in JSON: ids in hexadecimal, nanoseconds as text, enums as numbers. */
import type { GenAiNames } from './conventions/names.ts';
import type { Attributes, AttributeValue, FinishedSpan, SpanEvent } from './span.ts';

export interface OtlpSource {
  /** What the spans are of: `service.name` and so on. */
  readonly resource: Attributes;
  readonly names: Pick<GenAiNames, 'schemaUrl'>;
}

const SCOPE = 'troupe';
const KINDS: Readonly<Record<FinishedSpan['kind'], number>> = { internal: 1, client: 3 };
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
/** Sampled, and it is known that the parent is no other process. */
const FLAGS = 0x101;
const NANOS = '000000';

export function otlpRequest(spans: readonly FinishedSpan[], { resource, names: { schemaUrl } }: OtlpSource): object {
  const scope = { scope: { name: SCOPE }, spans: spans.map(otlpSpan), schemaUrl };
  return {
    resourceSpans: [{ resource: { attributes: attributesOf(resource), droppedAttributesCount: 0 }, scopeSpans: [scope] }],
  };
}

function otlpSpan(span: FinishedSpan): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, events, failed, after } = span;
  return {
    ...{
      traceId,
      spanId,
      parentSpanId,
      name,
      kind: KINDS[kind],
      startTimeUnixNano: nanos(startMs),
      endTimeUnixNano: nanos(endMs),
    },
    ...{ attributes: attributesOf(attributes), droppedAttributesCount: 0 },
    ...{ events: events.map(otlpEvent), droppedEventsCount: 0 },
    status: { code: failed ? STATUS_ERROR : STATUS_UNSET },
    links: after === undefined ? [] : [{ attributes: [], spanId: after, traceId, droppedAttributesCount: 0, flags: FLAGS }],
    ...{ droppedLinksCount: 0, flags: FLAGS },
  };
}

const otlpEvent = ({ name, atMs, attributes }: SpanEvent): object => ({
  ...{ attributes: attributesOf(attributes), name, timeUnixNano: nanos(atMs), droppedAttributesCount: 0 },
});

const attributesOf = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  if ('fraction' in value) return { doubleValue: value.fraction };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}

/** Whole milliseconds: they would not fit into a number as nanoseconds. */
const nanos = (ms: number): string => `${Math.max(0, Math.trunc(ms))}${NANOS}`;
