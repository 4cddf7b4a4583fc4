/**
 * What every command prints with `--json`: one value, of this form. Fields may be added, never changed or taken away; a reader
 * accepts fields that it does not know. `docs/json.md` is written from here, and tests hold every value against its schema.
 */

import { z } from 'zod';
import { failure } from '../../events/catalogue.ts';
import * as left from '../../front/shapes/artifacts.ts';
import * as choices from '../../front/shapes/choices.ts';
import * as comparing from '../../front/shapes/comparing.ts';
import * as executors from '../../front/shapes/executors.ts';
import * as files from '../../front/shapes/files.ts';
import * as forgetting from '../../front/shapes/forgetting.ts';
import * as forks from '../../front/shapes/forks.ts';
import type { GivenOut } from '../../front/shapes/given.ts';
import * as importing from '../../front/shapes/importing.ts';
import * as keeping from '../../front/shapes/keeping.ts';
import * as looking from '../../front/shapes/looking.ts';
import * as questions from '../../front/shapes/questions.ts';
import * as runs from '../../front/shapes/runs.ts';
import * as tasks from '../../front/shapes/tasks.ts';
import * as telemetry from '../../front/shapes/telemetry.ts';
import * as trials from '../../trials/report.ts';

/** Instead of the value, whatever the command: on stdout, with the exit code that the failure has without `--json`. */
export const jsonError = z.object({ error: failure });

export const jsonContract = {
  init: files.initialised,
  'new agent': files.newFiles,
  'new team': files.newFiles,
  check: files.checked,
  run: runs.summaryOfRun,
  demo: runs.summaryOfRun,
  ps: z.array(runs.psRow),
  sessions: z.array(runs.sessionRow),
  'sessions pin': forgetting.sessionStanding,
  'sessions unpin': forgetting.sessionStanding,
  'sessions hold': forgetting.sessionStanding,
  'sessions release': forgetting.sessionStanding,
  'tasks list': tasks.taskList,
  'tasks show': tasks.taskShown,
  'tasks cancel': tasks.taskCanceled,
  inbox: runs.inbox,
  show: runs.shown,
  logs: z.array(runs.event),
  cost: runs.costs,
  why: questions.whys,
  blame: questions.blameOfFile,
  context: looking.requestContext,
  query: questions.queried,
  replay: comparing.replayed,
  diff: comparing.comparedRuns,
  models: files.modelList,
  doctor: files.diagnosis,
  measure: choices.measured,
  test: trials.testReport,
  'test add': files.newFiles,
  eval: trials.evalReport,
  resume: runs.summaryOfRun,
  retry: runs.summaryOfRun,
  fork: forks.forked,
  forget: forgetting.forgotten,
  import: importing.imports,
  cancel: runs.signalled,
  pause: runs.signalled,
  send: runs.sent,
  answer: runs.answered,
  approve: runs.answered,
  deny: runs.answered,
  apply: tasks.applied,
  'permissions list': files.ruleList,
  'permissions remove': files.rulesRemoved,
  'ledger new-key': keeping.newKey,
  'ledger stats': keeping.ledgerStats,
  'ledger verify': keeping.verifyReport,
  'ledger rebuild': keeping.rebuilt,
  'ledger gc': keeping.collected,
  'ledger copy': keeping.copied,
  'telemetry status': telemetry.telemetryStanding,
  'telemetry backfill': telemetry.backfilled,
  'artifacts list': z.array(left.artifact),
  'artifacts show': left.artifactShown,
  'artifacts get': left.artifactWritten,
  'artifacts diff': left.artifactsCompared,
  'artifacts manifest': left.manifestShown,
  'artifacts pin': left.artifact,
  'artifacts unpin': left.artifact,
  'groups create': keeping.groupMade,
  'groups list': keeping.groupList,
  'groups show': keeping.groupShown,
  'groups rename': keeping.groupRenamed,
  'groups move': keeping.groupMoved,
  'groups delete': keeping.groupDeleted,
  'groups save': keeping.groupSaved,
  'groups send': keeping.groupSent,
  'groups pause': keeping.groupSignalled,
  'groups resume': keeping.groupResumed,
  'groups stop': keeping.groupSignalled,
  'agents list': z.array(files.agentLine),
  'agents show': files.agentShown,
  'agents search': z.array(files.agentFound),
  'agents add': files.agentAdded,
  'agents allow': files.agentAllowed,
  'agents remove': files.agentRemoved,
  'servers list': files.serverList,
  'servers allow': files.serversAllowed,
  'servers forget': files.serverForgotten,
  'executors list': executors.executorList,
  'executors probe': executors.executorProbed,
  'executors add': executors.executorAdded,
  'presets list': files.presetList,
  'presets show': files.presetShown,
  'presets import': files.presetsImported,
  'cluster status': keeping.clusterStatus,
} as const;

export type JsonCommand = keyof typeof jsonContract;

/** What a command has to print. */
export type JsonOf<Command extends JsonCommand> = GivenOut<z.input<(typeof jsonContract)[Command]>>;
