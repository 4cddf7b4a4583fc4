/** What routes are made of: an open project, and who asks. */
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ActingNeeds, CallerAct, NotDone } from '../../front/acts.ts';
import type { ListQuery } from '../../front/project/listed-roots.ts';
import { roleOfCaller } from '../../front/roles.ts';
import { runStanding } from '../../front/shapes/runs.ts';
import { findVisibleRun, type Seer } from '../../front/sight.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { clientOf } from '../../protocols/a2a/needs.ts';
import { notFound, type Refusal, type RefusedStatus } from './refusals.ts';
import type { RouteReply, RouteRequest } from './route.ts';

export type ServedProject = Omit<Project, 'worker' | 'close'>;

export interface RouteNeeds {
  readonly project: ServedProject;
  readonly clock: Clock;
  onError(error: Error): void;
}

export const actingNeeds = ({ project, onError }: RouteNeeds): ActingNeeds => ({
  ...{ engine: project.engine, ledger: project.ledger, assistants: project.assistants, onError },
  workspace: project.config.workspace,
});

export const actOf = ({ caller, key, signal }: RouteRequest<unknown, unknown>): CallerAct => ({
  ...{ client: clientOf(caller), isOwner: roleOfCaller(caller) === 'owner', key, signal },
});

export async function runIn({ project }: RouteNeeds, asked: RouteRequest<unknown, unknown>): Promise<Result<RunRow, Refusal>> {
  const row = await findVisibleRun(project.ledger, asked.caller, asked.param('run'));
  return row === undefined ? fail(notFound('such run')) : ok(row);
}

const STATUS: Readonly<Record<NotDone['why'], RefusedStatus>> = {
  late: 409,
  never: 422,
  reused: 422,
  forbidden: 403,
  limit: 429,
  unknown: 404,
};

export function replied<Value>(outcome: Result<Value, NotDone>): Result<RouteReply<Value>, Refusal> {
  if (outcome.ok) return value(outcome.value);
  const { why, first, ...failure } = outcome.error;
  return fail({ ...failure, status: STATUS[why], ...(first === undefined ? {} : { details: { first: { ...first } } }) });
}

/** How what is listed stands: several, between commas. */
export const listedStates = z
  .string()
  .max(500)
  .transform((text) => text.split(','))
  .pipe(z.array(runStanding))
  .optional()
  .describe(`only those that stand so: ${runStanding.options.join(', ')}; several between commas`);

/** What of a list whoever asks may see. */
export const seenBy = (ledger: Pick<Ledger, 'runs' | 'read'>, seer: Seer): Pick<ListQuery, 'sees'> =>
  seer.sees === 'everything' ? {} : { sees: async ({ run }) => (await findVisibleRun(ledger, seer, run)) !== undefined };

export const value = <Value>(made: Value): Result<RouteReply<Value>, Refusal> => ok({ kind: 'value', value: made });
