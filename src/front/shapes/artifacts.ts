/** What programs get of what work left behind. */
import { z } from 'zod';
import { artifactEvents } from '../../events/evidence.ts';
import { jsonValue } from '../../events/message-schemas.ts';

const stored = artifactEvents['artifact.stored'].shape;

export const artifact = z.object({
  type: stored.type,
  ref: z.string().describe('unique within its session'),
  generated_by: z.string(),
  checksum: z.string().describe('`sha256:` and the hash of what is stored'),
  bytes: z.number().int(),
  session: z.string(),
  run: z.string(),
  at: z.string(),
  pinned: z.boolean(),
  collected: z.boolean().describe('its bytes were removed by `troupe ledger gc`'),
  preview_ref: z.string().optional(),
  preview_of: z.string().optional(),
  redacted: z.boolean().optional().describe('secrets were taken out of it'),
  claimed: z.string().optional().describe('the checksum that it was said to have, and has not'),
  path: z.string().optional(),
  from: stored.from.describe('the agent elsewhere that made it, and what it calls it'),
  size: stored.size,
});

export const artifactShown = z.union([
  z.object({ kind: z.literal('artifact'), artifact, preview: z.string().optional() }),
  z.object({ kind: z.literal('environment'), ref: z.string(), sha256: z.string(), environment: jsonValue }),
  z.object({ kind: z.literal('event'), event: z.looseObject({ event_id: z.string(), event_type: z.string() }) }),
]);

export const artifactWritten = z.object({ file: z.string(), artifact });

export const artifactsCompared = z.object({
  same: z.boolean(),
  files: z
    .array(z.object({ path: z.string(), left: z.string().nullable(), right: z.string().nullable() }))
    .describe('of two runs: what differs, by SHA-256'),
  diff: z.string().optional().describe('of two artifacts'),
});

export const manifestShown = artifactEvents['artifact.manifest'];
