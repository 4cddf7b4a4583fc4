/** The whole API, put together: its table of routes, its pages, its door. */
import type { Clock } from '../../base/clock.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import type { ExportPieces } from '../../front/one-file/exported.ts';
import type { Examples } from '../../front/project/examples.ts';
import { createQueueFollower, type QueueFollower } from '../../front/queue/session-queue.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import { createLogins, fleetingKeys, type LoginKeys } from '../logins.ts';
import { createHearing } from '../stream/deltas.ts';
import { createOpenStreams } from '../stream/open-streams.ts';
import type { Tokens } from '../tokens.ts';
import { type ApiEndpoint, createApi } from './api.ts';
import { askingRoutes } from './asking-routes.ts';
import { agentDetailRoutes, compareRoute, healthRoute, threadRoutes } from './detail-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { exampleRoutes } from './example-routes.ts';
import { exportRoutes } from './export-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { executorRoutes, lookingRoutes, ruleRoutes, taskRoutes } from './keeping-routes.ts';
import { ledgerRoutes, type TakeBundle } from './ledger-routes.ts';
import { loginPath, loginRoutes } from './login-routes.ts';
import type { ServedProject } from './needs.ts';
import { pageRoutes } from './pages.ts';
import { projectRoutes } from './project-routes.ts';
import type { Route } from './route.ts';
import { runRoutes } from './run-routes.ts';
import { waitRoutes } from './wait-routes.ts';

export interface ApiNeeds {
  readonly ledger: Ledger;
  /** Streams alone without it. */
  readonly project?: ServedProject | undefined;
  /** Where there is a checkout or a package with examples in it. */
  readonly examples?: Examples | undefined;
  /** Runs and sessions as documents. */
  readonly documents?: ExportPieces | undefined;
  /** Sessions that come in one file. */
  readonly takeBundle?: TakeBundle | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly tokens: Tokens;
  readonly owner: string;
  /** What keeps logins over a restart, and the name that codes are made for beside the server; without it they end with it. */
  readonly logins?: { readonly keys: LoginKeys; readonly server: string } | undefined;
  /** Where people reach it through a proxy, as the settings say it. */
  readonly url?: string | undefined;
  callerOf(name: string): McpCaller;
  onError(error: Error): void;
}

export interface ServedApi extends ApiEndpoint {
  /** Prompts that wait in sessions; none where there are streams alone. */
  readonly queues?: QueueFollower | undefined;
  /** Where the owner's browser logs in, once, within a few minutes. */
  loginPath(): string;
  /** Ends all streams. */
  close(): void;
}

export function createServedApi(needs: ApiNeeds): ServedApi {
  const { clock, random, version, tokens, owner, callerOf, onError } = needs;
  const stopping = new AbortController();
  // Without a token the owner is still somebody; everybody else is known by theirs.
  const mark = (name: string): string | undefined => tokens.markOf(name) ?? (name === owner ? '' : undefined);
  const kept = needs.logins ?? { keys: fleetingKeys(random), server: '' };
  const logins = createLogins({ clock, random, ...kept, owner, mark });
  const { project } = needs;
  const queues = project && createQueueFollower({ project, clock, stopping: stopping.signal, onError });
  queues?.takeUp();
  const table = tableOf(needs, stopping.signal, queues);
  const proxied = needs.url === undefined ? undefined : URL.parse(needs.url)?.origin;
  const routes = [...loginRoutes(logins, version, proxied), ...table];
  const api = createApi({
    door: { tokens, logins, callerOf, proxied },
    routes: [...routes, ...pageRoutes(routes, version)],
    onError,
  });
  return { ...api, queues, loginPath: () => loginPath(logins.code(owner).code), close: () => stopping.abort() };
}

function tableOf(needs: ApiNeeds, stopping: AbortSignal, queues: QueueFollower | undefined): readonly Route[] {
  const { project, clock, onError } = needs;
  const deltas = project && createHearing(project.live);
  const streams = createOpenStreams(clock, stopping);
  const events = eventRoutes({ ...needs, streams, ...present({ deltas }) });
  if (project === undefined || queues === undefined) return events;
  const all = { project, clock, onError };
  return [
    ...[...runRoutes(all, queues), ...waitRoutes(all), ...events, ...projectRoutes(all), ...agentDetailRoutes(all)],
    ...[...lookingRoutes(all, stopping), ...taskRoutes(all), ...executorRoutes(all), ...ruleRoutes(all)],
    ...(needs.examples === undefined ? [] : exampleRoutes(needs.examples)),
    ...(needs.documents === undefined ? [] : exportRoutes(all, needs.documents)),
    ...[...askingRoutes(all, needs.random), ...ledgerRoutes({ ...all, version: needs.version, takeBundle: needs.takeBundle })],
    ...[
      ...groupRoutes({ ...all, follow: queues.follow }),
      ...threadRoutes(all),
      compareRoute(all),
      healthRoute({ ...all, version: needs.version }),
    ],
  ];
}
