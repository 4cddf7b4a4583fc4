/** Whether workers answer at an address. Behind a balancer it is one of them that does. */
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { request } from './request.ts';

const healthSchema = z.object({ status: z.literal('ok'), working: z.number() });

export interface WorkersAnswer {
  readonly answers: boolean;
  /** How many runs that one works on; `null` when it did not say. */
  readonly working: number | null;
}

export async function workersAt(uri: string): Promise<WorkersAnswer> {
  const answered = await request(`${uri}/healthz`, undefined, limits.serverStartMs * 20);
  const parsed = answered.kind === 'answered' ? parseJson(answered.text) : undefined;
  const health = parsed?.ok === true ? healthSchema.safeParse(parsed.value) : undefined;
  return { answers: health?.success === true, working: health?.data?.working ?? null };
}
