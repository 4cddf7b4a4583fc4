/** What Restate's admin API says: version, nodes, where workers answer, and what is under way. Read only. */

import { z } from 'zod';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { type Json, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { startOf } from '../base/whole-words.ts';
import type { RestateAddress } from '../engine/restate/address.ts';
import { type HttpAnswer, request } from './request.ts';

const versionSchema = z.object({ version: z.string() });
const healthSchema = z.object({ metadata_cluster_health: z.object({ members: z.array(z.number()) }).nullish() });
const deploymentsSchema = z.object({
  deployments: z.array(
    z.object({
      id: z.string(),
      uri: z.string().optional(),
      created_at: z.string(),
      services: z.array(z.object({ name: z.string() })),
    }),
  ),
});
const countsSchema = z.object({ rows: z.array(z.object({ service: z.string(), status: z.string(), count: z.number() })) });

export interface Deployment {
  readonly id: string;
  /** Where its workers answer. */
  readonly uri: string;
  readonly createdAt: string;
  readonly services: readonly string[];
}

export interface InvocationCount {
  readonly service: string;
  readonly status: string;
  readonly count: number;
}

export interface Admin {
  version(): Promise<string>;
  /** How many servers hold the cluster's own data; 1 for a single one. */
  nodes(): Promise<number>;
  /** By its clock, to the second, in milliseconds since 1970; `undefined` when it does not say. */
  time(): Promise<number | undefined>;
  /** Newest first. */
  deployments(): Promise<readonly Deployment[]>;
  /** Invocations that have not ended, of services whose names begin so. */
  underWay(name: string): Promise<readonly InvocationCount[]>;
}

export function createAdmin(address: string): Admin {
  const get = async <Value>(path: string, schema: z.ZodType<Value>, body?: Json): Promise<Value> => {
    const answered = await request(`${address}${path}`, body);
    const parsed = answered.kind === 'answered' && answered.ok ? parseJson(answered.text) : undefined;
    const value = parsed?.ok === true ? schema.safeParse(parsed.value) : undefined;
    if (value?.success === true) return value.data;
    throw new TroupeError(
      'restate_admin',
      `Restate's admin port does not answer as it should at ${address}: ${problemOf(answered)}`,
      {
        fix: 'Check that the server runs, and name its admin port with --admin or TROUPE_RESTATE_ADMIN (9070 by default).',
      },
    );
  };
  return {
    version: async () => (await get('/version', versionSchema)).version,
    nodes: async () => (await get('/cluster-health', healthSchema)).metadata_cluster_health?.members.length ?? 1,
    async time() {
      const answered = await request(`${address}/health`);
      const time = answered.kind === 'answered' ? Date.parse(answered.date ?? '') : Number.NaN;
      return Number.isNaN(time) ? undefined : time;
    },
    async deployments() {
      const { deployments } = await get('/deployments', deploymentsSchema);
      return deployments
        .map(({ id, uri = '', created_at, services }) => ({
          id,
          uri: uri.replace(/\/$/, ''),
          createdAt: created_at,
          services: services.map((service) => service.name).sort(),
        }))
        .sort((left, right) => right.createdAt.localeCompare(left.createdAt))
        .slice(0, limits.deploymentsShown);
    },
    async underWay(name) {
      const query = `SELECT target_service_name AS service, status, count(*) AS count FROM sys_invocation
        WHERE status <> 'completed' AND target_service_name IN ('${name}-run', '${name}-session') GROUP BY 1, 2 ORDER BY 1, 2`;
      return (await get('/query', countsSchema, { query })).rows;
    },
  };
}

function problemOf(answered: HttpAnswer): string {
  return answered.kind === 'answered' ? `status ${answered.status}: ${startOf(answered.text, 300)}` : answered.problem;
}

const ADMIN_PORT = 9070;

/** Named by an option or a variable; otherwise on the machine of the ingress, on the usual port. */
export function adminAddress({ ingress }: RestateAddress, named: string | undefined, env: Environment): string {
  const given = named ?? (env['TROUPE_RESTATE_ADMIN'] || undefined);
  if (given !== undefined) {
    if (/^https?:\/\//.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '');
    throw new TroupeError('usage', `${given} is not the address of an admin port`, { fix: 'write it as http://127.0.0.1:9070' });
  }
  const url = new URL(ingress[0] ?? 'http://127.0.0.1');
  return `${url.protocol}//${url.hostname}:${ADMIN_PORT}`;
}
