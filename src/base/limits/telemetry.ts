/** Bounds of what is told to OpenTelemetry. */
import { KIB, MIB, MINUTE, SECOND } from './units.ts';

export const telemetryLimits = {
  telemetryBatchSpans: 512,
  telemetryBatchBytes: 2 * MIB,
  telemetryPageEvents: 1_000,
  telemetryTextCharacters: 8 * KIB,
  telemetryHeaders: 50,
  telemetrySessions: 64,
  telemetryGatherMs: 1 * SECOND,
  telemetryPendingMs: 100,
  telemetryTimeoutMs: 10 * SECOND, // troupe.yaml: telemetry.timeout
  telemetryAttempts: 5,
  telemetryRetryMs: 1 * SECOND,
  telemetryRetryMaxMs: 30 * SECOND,
  telemetryRestMs: 1 * MINUTE,
  telemetryCloseMs: 2 * SECOND,
  telemetryAnswerBytes: 16 * KIB,
  telemetryBackfillSessions: 10_000,
  telemetryBehind: 10_000,
  metricSeries: 2_000,
} as const;
