/**
 * Whether spans are sent, where to and how: by `telemetry` in the settings and by the variables of OpenTelemetry, which win.
 * Without an address nothing is sent.
 */
import type { Environment } from '../base/environment.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { genAi136 } from './conventions/genai-1-36.ts';
import { genAi2026 } from './conventions/genai-2026-11.ts';
import type { GenAiNames } from './conventions/names.ts';
import type { Attributes } from './span.ts';
import type { Wording } from './told.ts';

export const conventionNames = ['2026-11', '1.36'] as const;
const SNAPSHOTS: Readonly<Record<(typeof conventionNames)[number], GenAiNames>> = { '2026-11': genAi2026, '1.36': genAi136 };

/** What the settings may say. */
export interface TelemetryWanted {
  readonly enabled?: boolean | undefined;
  readonly endpoint?: string | undefined;
  readonly headersEnv?: string | undefined;
  readonly content?: boolean | undefined;
  readonly conventions?: keyof typeof SNAPSHOTS | undefined;
  readonly service?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly timeout?: number | undefined;
}

export interface TelemetrySettings extends Wording {
  /** Where spans go. */
  readonly url: URL;
  /** Who named it. */
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  readonly timeoutMs: number;
  readonly gzip: boolean;
}

/** `undefined`: nobody wants it. A failure says what is wrong with how it is wanted; nothing is sent then, and runs go on. */
export function telemetrySettings(wanted: TelemetryWanted, env: Environment): Result<TelemetrySettings, string> | undefined {
  const isOff = wanted.enabled === false || isTrue(env['OTEL_SDK_DISABLED']) || env['OTEL_TRACES_EXPORTER'] === 'none';
  const place = isOff ? undefined : placeOf(wanted, env);
  if (place === undefined) return undefined;
  const url = URL.canParse(place.address) ? new URL(place.address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return fail(`${place.from} is no http address: write it as http://127.0.0.1:4318`);
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol === 'grpc')
    return fail('spans go over HTTP, and OTEL_EXPORTER_OTLP_PROTOCOL says grpc: name the port for HTTP (4318) and http/json');
  const headers = headersOf(wanted, env);
  if (!headers.ok) return headers;
  const compression = env['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION'] || env['OTEL_EXPORTER_OTLP_COMPRESSION'];
  return ok({
    ...{ url, from: place.from, headers: headers.value, gzip: compression === 'gzip' },
    names: SNAPSHOTS[conventionsOf(wanted, env)],
    content: capturesContent(env) ?? wanted.content ?? false,
    resource: resourceOf(wanted, env),
    timeoutMs: timeoutOf(wanted, env),
  });
}

function timeoutOf({ timeout = limits.telemetryTimeoutMs }: TelemetryWanted, env: Environment): number {
  return milliseconds(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT']) ?? timeout;
}

const isTrue = (text: string | undefined): boolean => text?.toLowerCase() === 'true';

interface Place {
  readonly address: string;
  readonly from: string;
}

/** The address of traces alone is taken as it is; the one of everything is where `v1/traces` lies below. */
function placeOf({ endpoint }: TelemetryWanted, env: Environment): Place | undefined {
  const traces = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (traces) return { address: traces, from: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' };
  const all = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (all) return { address: below(all), from: 'OTEL_EXPORTER_OTLP_ENDPOINT' };
  return endpoint === undefined ? undefined : { address: below(endpoint), from: 'telemetry.endpoint' };
}

const below = (address: string): string =>
  /\/v1\/traces\/?$/.test(address) ? address : `${address.replace(/\/+$/, '')}/v1/traces`;

/** `name=value,name=value`, each percent-encoded, as OpenTelemetry has them. */
function headersOf({ headersEnv }: TelemetryWanted, env: Environment): Result<TelemetrySettings['headers'], string> {
  const variables = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS', headersEnv ?? ''];
  const [name = '', text = ''] = variables.map((one) => [one, env[one]] as const).find(([, value]) => value) ?? [];
  if (headersEnv !== undefined && name === '') return fail(`telemetry.headersEnv names ${headersEnv}, which is not set`);
  const parsed = pairsOf(text);
  if (parsed === undefined || parsed.some(([key, value]) => !/^[\w-]+$/.test(key) || /[^\x20-\x7e]/.test(value)))
    return fail(`${name} is not a list of headers: write it as name=value,name=value`);
  if (parsed.length > limits.telemetryHeaders)
    return fail(`${name} has more than ${limits.telemetryHeaders} headers (telemetryHeaders)`);
  return ok(Object.fromEntries(parsed.map(([key, value]) => [key.toLowerCase(), value])));
}

function pairsOf(text: string): readonly (readonly [string, string])[] | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  if (pairs.some((pair) => !pair.includes('='))) return undefined;
  return pairs.map((pair) => {
    const cut = pair.indexOf('=');
    return [pair.slice(0, cut).trim(), decoded(pair.slice(cut + 1).trim())];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function conventionsOf({ conventions }: TelemetryWanted, env: Environment): keyof typeof SNAPSHOTS {
  const opted = (env['OTEL_SEMCONV_STABILITY_OPT_IN'] ?? '').split(',').map((one) => one.trim());
  return opted.includes('gen_ai_latest_experimental') ? '2026-11' : (conventions ?? '2026-11');
}

function capturesContent(env: Environment): boolean | undefined {
  const said = env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']?.toLowerCase();
  if (!said) return undefined;
  return ['true', 'span_only', 'span_and_event'].includes(said);
}

function resourceOf({ service, attributes = {} }: TelemetryWanted, env: Environment): Attributes {
  const given = Object.fromEntries(pairsOf(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '') ?? []);
  const name = env['OTEL_SERVICE_NAME'] || given['service.name'] || service || attributes['service.name'] || 'troupe';
  return { ...attributes, ...given, 'service.name': name };
}

function milliseconds(text: string | undefined): number | undefined {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : undefined;
}

/** What of it must be read nowhere: it is in the environment, but its names do not always say so. */
export function telemetrySecrets(
  settings: Result<TelemetrySettings, string> | undefined,
): readonly { name: string; value: string }[] {
  if (settings?.ok !== true) return [];
  const texts = Object.values(settings.value.headers);
  const values = texts.flatMap((text) => [text, ...text.split(/\s+/).slice(1)]);
  return values.map((value) => ({ name: 'OTEL_EXPORTER_OTLP_HEADERS', value }));
}
