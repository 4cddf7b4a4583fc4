/**
 * An architect that hands tasks to executors in processes of their own, in a real repository: real worktrees, real looks at the
 * files, real commands for the acceptance. Only the architect's words are played. One world is one life of our process; the
 * folder is what outlives it.
 */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ok } from '../../../src/base/result.ts';
import type { RunEnd } from '../../../src/engine/port.ts';
import { textOf, userText } from '../../../src/events/messages.ts';
import { createExecutors } from '../../../src/executors/open.ts';
import type { LeaseOwner } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import { createTaskPlaces } from '../../../src/project/places/task-places.ts';
import { createGuard } from '../../../src/tools/closed/guard.ts';
import { createVerifier } from '../../../src/tools/shell/verifier.ts';
import { createWorkspaceWatch } from '../../../src/tools/watch/workspace-watch.ts';
import { chief, delegates, judges, openIn, task } from '../patterns/architect-play.ts';
import { beginRepository } from '../workspaces/begin-repository.ts';
import { createWorld, reports, type World, type WorldOptions } from '../world.ts';
import { executing } from './brain-executors.ts';
import { sampleCommand } from './sample-command.ts';

export const TASK_RUN = 'run_000000000000000tasks' as RunId;
export const TASK_SESSION = 'ses_000000000000000tasks' as SessionId;

const environment = { PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) };

/** One task, and what the executor that gets it does. */
export interface PlayedTask {
  /** One word. */
  readonly goal: string;
  readonly include: readonly string[];
  readonly noTouch?: readonly string[];
  readonly acceptance: readonly string[];
  readonly mode?: 'read-only';
  readonly seconds?: number;
  readonly cliCalls?: number;
  /** Lines for `sample-steps.ts`. `@` stands for the folder that outlives everything. */
  readonly plays: readonly string[];
}

export interface TaskPlan {
  readonly tasks: readonly PlayedTask[];
  readonly files: Readonly<Record<string, string>>;
  /** Arguments of the executor. */
  readonly args?: readonly string[];
  readonly hand?: Partial<AgentDefinition>;
}

/** A folder with a repository in it, and a file with the steps of each executor. */
export function newTaskFolder({ files, tasks }: Pick<TaskPlan, 'files' | 'tasks'>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-tasks-')));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'repo', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  for (const { goal, plays } of tasks)
    writeFileSync(join(folder, `plays-${goal}`), plays.map((line) => line.replaceAll('@', folder)).join('\n'));
  beginRepository(join(folder, 'repo'));
  return folder;
}

/** No process has this number: whoever takes up what this one had takes it from somebody who is dead. */
export const DEAD: Partial<LeaseOwner> = { pid: 2 ** 22 + 1 };

export interface TaskLife extends World {
  /** Begins it, or takes it up. */
  go(): Promise<RunEnd>;
  /** Ends its executors, and what it has open. */
  end(): Promise<void>;
}

export function taskLife(folder: string, plan: TaskPlan, more: Partial<WorldOptions> = {}): TaskLife {
  const { tasks, args = [], hand = {} } = plan;
  const command = sampleCommand('--plays', folder, '--store', folder, ...args);
  const executors = createExecutors({
    ...{ clock: systemClock, random: systemRandom, guard: createGuard(), environment, redact: (text) => text },
    builtin: { program: ['troupe'], args: [], keys: [] },
    layers: async () => ok([{ source: 'project', fields: { sample: { title: 'Sample', command } } }]),
  });
  const lead = chief({
    ...{ parallel: tasks.length, limits: { maxSameErrorRetries: 1 } },
    failurePolicy: { onRepeatedError: 'cancel_and_report', onTimeout: 'cancel_and_report' },
  });
  const ids = createIds(systemClock, systemRandom);
  const { owner = {} } = more;
  const ledger = openSqliteLedger({ path: join(folder, 'ledger.db'), clock: systemClock, ids, validate: true, owner });
  const places = createTaskPlaces(
    { home: join(folder, 'home'), environment, clock: systemClock, ids },
    { clock: systemClock, environment },
    { ledger, clock: systemClock, root: join(folder, 'repo') },
  );
  const world = createWorld({
    ...{ ledger, agents: [lead, executing('hand', { permissions: { '*': 'allow' }, ...hand })] },
    ...{ brain: (request: ModelRequest) => architect(plan, request), ...more },
    engineOptions: {
      ...{ executors, workspaces: createWorkspaceWatch({ clock: systemClock, environment }) },
      verifier: createVerifier({ clock: systemClock, environment }),
      // The dead lease no files: they would be another's at once.
      places: owner === DEAD ? { ...places, lease: async () => ok(undefined) } : places,
    },
  });
  return {
    ...world,
    async go() {
      const resumed = await world.engine.resume(TASK_RUN);
      if (resumed.kind === 'ended') return { kind: 'ended', result: resumed.result };
      const request = { agent: 'chief', input: userText('Go.'), workspace: join(folder, 'repo'), run: TASK_RUN };
      const begun = resumed.kind === 'resumed' ? resumed : await world.engine.start({ ...request, session: TASK_SESSION });
      if (begun.kind !== 'started' && begun.kind !== 'resumed') throw new Error(JSON.stringify(begun));
      return await begun.handle.done;
    },
    async end() {
      await world.engine.close().catch(() => undefined);
      await executors.close();
      await ledger.close();
    },
  };
}

function architect({ tasks }: TaskPlan, request: ModelRequest): ModelOutcome {
  const said = request.messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []));
  const last = said.at(-1) ?? '';
  if (last.includes('Not taken')) return judges(request, 'given_up', {}, openIn(request));
  if (last.includes('## RESULT OF')) return judges(request, 'accepted', {}, openIn(request));
  if (said.length > 1) return reports('Done.');
  return delegates(
    ...tasks.map(({ goal, include, acceptance, mode = 'full', noTouch = [], seconds = 600, cliCalls = 8 }) =>
      task(goal, {
        ...{ include, acceptance },
        more: {
          constraints: { max_cli_calls: cliCalls, max_duration_seconds: seconds, no_touch: [...noTouch] },
          tool_mode: mode,
        },
      }),
    ),
  );
}
