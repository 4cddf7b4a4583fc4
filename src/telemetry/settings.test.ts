import { describe, expect, it } from 'vitest';
import { type TelemetryWanted, telemetrySecrets, telemetrySettings } from './settings.ts';

type Env = Readonly<Record<string, string>>;
const HERE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function settled(wanted: TelemetryWanted, env: Env) {
  const settings = telemetrySettings(wanted, env);
  if (settings?.ok !== true) throw new Error(settings === undefined ? 'off' : settings.error);
  return settings.value;
}

describe('telemetry', () => {
  it.each<[string, TelemetryWanted, Env]>([
    ['nobody names an address', {}, {}],
    ['the settings turn it off', { enabled: false }, HERE],
    ['the SDK is disabled', {}, { ...HERE, OTEL_SDK_DISABLED: 'true' }],
    ['traces go nowhere', {}, { ...HERE, OTEL_TRACES_EXPORTER: 'none' }],
    ['a variable is empty', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ])('is off where %s', (_name, wanted, env) => {
    expect(telemetrySettings(wanted, env)).toBeUndefined();
  });

  it.each<[TelemetryWanted, Env, string, string]>([
    [{}, HERE, 'http://127.0.0.1:4318/v1/traces', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otlp/' },
      'https://c.example/otlp/v1/traces',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ],
    [
      {},
      { ...HERE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t.example/x' },
      'http://t.example/x',
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    ],
    [{ endpoint: 'http://mine.example' }, {}, 'http://mine.example/v1/traces', 'telemetry.endpoint'],
    [{ endpoint: 'http://mine.example/v1/traces' }, {}, 'http://mine.example/v1/traces', 'telemetry.endpoint'],
    [{ endpoint: 'http://mine.example' }, HERE, 'http://127.0.0.1:4318/v1/traces', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ])('goes to where %j and %j say', (wanted, env, url, from) => {
    expect(settled(wanted, env)).toMatchObject({ url: new URL(url), from });
  });

  it.each<[TelemetryWanted, Env, string]>([
    [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' }, 'is no http address'],
    [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' }, 'is no http address'],
    [{}, { ...HERE, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'http/json'],
    [{}, { ...HERE, OTEL_EXPORTER_OTLP_HEADERS: 'no pairs' }, 'name=value'],
    [{}, { ...HERE, OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0d%0aX-Evil: 1' }, 'name=value'],
    [{ headersEnv: 'MINE' }, HERE, 'MINE, which is not set'],
  ])('with %j and %j says what is wrong', (wanted, env, words) => {
    expect(telemetrySettings(wanted, env)).toEqual({ ok: false, error: expect.stringContaining(words) });
  });

  it('carries no content, newest names and a name of its own, unless somebody says otherwise', () => {
    expect(settled({}, HERE)).toMatchObject({
      content: false,
      names: { snapshot: '2026-11' },
      resource: { 'service.name': 'troupe' },
    });
    const env = {
      ...{ ...HERE, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true', OTEL_SERVICE_NAME: 'house' },
      ...{ OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod', OTEL_EXPORTER_OTLP_TIMEOUT: '500' },
    };
    expect(settled({ conventions: '1.36', service: 'mine', timeout: 7 }, env)).toMatchObject({
      ...{ content: true, timeoutMs: 500, names: { snapshot: '1.36' } },
      resource: { 'service.name': 'house', 'deployment.environment.name': 'prod' },
    });
    const opted = { ...HERE, OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental' };
    expect(settled({ conventions: '1.36' }, opted).names.snapshot).toBe('2026-11');
    const no = { ...HERE, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'false' };
    expect(settled({ content: true }, no).content).toBe(false);
  });

  it('knows what of it is secret', () => {
    const settings = telemetrySettings({ headersEnv: 'MINE' }, { ...HERE, MINE: 'authorization=Bearer%20abc123def456' });
    expect(telemetrySecrets(settings).map(({ value }) => value)).toEqual(['Bearer abc123def456', 'abc123def456']);
  });
});
