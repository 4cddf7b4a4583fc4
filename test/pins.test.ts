/**
 * Names that others rely on, frozen here as literals. When one of these tests fails, either take the change back or treat
 * it as what it is: a change that users must be told about.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../src/cli/terminal/exit-codes.ts';
import { eventTypes, evidenceTypes, inboundTypes } from '../src/events/catalogue.ts';
import { SCHEMA_VERSION } from '../src/events/envelope.ts';
import * as library from '../src/index.ts';
import * as testing from '../src/testing/index.ts';

const SOURCES = join(import.meta.dirname, '..', 'src');

describe('events', () => {
  it('have these names, and adding one adds a line here', () => {
    expect([...eventTypes].sort()).toEqual([
      'advisor.reported',
      'agent.dismissed',
      'apply.made',
      'apply.undone',
      'approval.answered',
      'approval.asked',
      'approval.withdrawn',
      'artifact.manifest',
      'artifact.part',
      'artifact.pinned',
      'artifact.stored',
      'budget.reserved',
      'budget.settled',
      'cli.run',
      'cli.stderr',
      'cli.stdout',
      'context.noted',
      'dispatch.chose',
      'dispatch.responded',
      'domain.leased',
      'domain.released',
      'environment.recorded',
      'evidence.checked',
      'executor.call',
      'executor.decided',
      'executor.ended',
      'executor.planned',
      'executor.prompted',
      'executor.result',
      'executor.session',
      'file.diff',
      'folder.created',
      'folder.deleted',
      'folder.renamed',
      'group.cleaned',
      'group.created',
      'group.deleted',
      'group.ended',
      'group.evaluated',
      'group.moved',
      'group.ordered',
      'group.pinned',
      'group.planned',
      'group.renamed',
      'group.stalled',
      'handoff.made',
      'member.exited',
      'message.included',
      'message.read',
      'message.sent',
      'model.failed',
      'model.request',
      'model.response',
      'peer.artifact',
      'peer.cancelled',
      'peer.sent',
      'peer.state',
      'peer.task',
      'peer.unsent',
      'process.ended',
      'process.started',
      'prompt.dropped',
      'prompt.queued',
      'push.configured',
      'push.removed',
      'push.told',
      'router.chose',
      'run.ended',
      'run.parked',
      'run.paused',
      'run.reopened',
      'run.resumed',
      'run.signalled',
      'run.started',
      'run.withdrawn',
      'session.brought',
      'session.config',
      'session.imported',
      'session.moved',
      'session.started',
      'step.recorded',
      'task.captured',
      'task.clarify',
      'task.error',
      'task.judged',
      'task.merged',
      'task.package',
      'task.policy',
      'task.snapshot',
      'task.summary',
      'team.broadcast',
      'test.report',
      'tool.call',
      'tool.result',
      'transcript.imported',
      'transcript.record',
      'workspace.kept',
      'workspace.packed',
    ]);
  });

  it('have schema version 1', () => {
    expect(SCHEMA_VERSION).toBe(1);
  });

  it('that only the runtime writes are these', () => {
    expect([...evidenceTypes].sort()).toEqual([
      'artifact.manifest',
      'artifact.part',
      'artifact.stored',
      'cli.run',
      'cli.stderr',
      'cli.stdout',
      'environment.recorded',
      'evidence.checked',
      'file.diff',
      'task.captured',
      'test.report',
      'tool.result',
    ]);
  });

  it('that may come from outside a run are these', () => {
    expect([...inboundTypes].sort()).toEqual([
      'apply.made',
      'apply.undone',
      'approval.answered',
      'approval.withdrawn',
      'artifact.pinned',
      'message.read',
      'message.sent',
      'prompt.dropped',
      'prompt.queued',
      'push.configured',
      'push.removed',
      'push.told',
      'run.signalled',
    ]);
  });
});

describe('the command line', () => {
  it('has these exit codes', () => {
    expect(exitCodes).toEqual({
      completed: 0,
      failed: 1,
      usage: 2,
      unverified: 3,
      budget: 4,
      needsInput: 5,
      executorUnavailable: 6,
      interrupted: 130,
    });
  });
});

describe.each([
  {
    entry: 'index.ts',
    exported: library,
    values: ['TroupeError', 'createTroupe', 'defineAgent', 'defineTool', 'errorResult', 'run', 'textResult', 'userText'],
    types: [
      'AgentDefinition',
      'AgentDraft',
      'Answer',
      'ArtifactArchive',
      'ArtifactScope',
      'ArtifactType',
      'Budget',
      'CompanyOptions',
      'Decision',
      'EndedRun',
      'Engine',
      'Failure',
      'FoundArtifact',
      'InputSchema',
      'Json',
      'Ledger',
      'LedgerEvent',
      'LivePiece',
      'LookupProblem',
      'Message',
      'OpenWait',
      'OrdinaryTool',
      'PermissionWait',
      'QuestionWait',
      'RecordedEnvironment',
      'Report',
      'Resolved',
      'ResumeOptions',
      'ResumeTerms',
      'RunCost',
      'RunEnd',
      'RunFacts',
      'RunHandle',
      'RunId',
      'RunOptions',
      'RunOutcome',
      'RunResult',
      'RunStatus',
      'RunUsage',
      'SessionId',
      'StartRequest',
      'StoppedRun',
      'StoredArtifact',
      'TextSource',
      'ToolContext',
      'ToolDraft',
      'ToolOutcome',
      'Troupe',
      'TroupeOptions',
      'UserMessage',
      'Verification',
      'WaitingRun',
    ],
  },
  {
    entry: 'testing/index.ts',
    exported: testing,
    values: ['createTemporaryProject', 'createVirtualClock', 'keptTests', 'scriptedModel'],
    types: [
      'Clock',
      'KeptTestCase',
      'KeptTestsOptions',
      'ModelRequest',
      'Replies',
      'ReplyInput',
      'TemporaryProject',
      'TemporaryProjectOptions',
      'TestModel',
      'VirtualClock',
    ],
  },
])('the library, $entry', ({ entry, exported, values, types }) => {
  const names = exportsOf(join(SOURCES, entry));

  it('exports these values', () => {
    expect(Object.keys(exported).sort()).toEqual(values);
    expect(
      names
        .filter(({ isType }) => !isType)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(values);
  });

  it('exports these types', () => {
    expect(
      names
        .filter(({ isType }) => isType)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(types);
  });

  it('has a doc comment on everything it exports', () => {
    const bare = names.filter(({ name, file }) => !isDocumented(readFileSync(file, 'utf8'), name));
    expect(bare.map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
  });
});

interface Exported {
  readonly name: string;
  readonly isType: boolean;
  /** Where it is declared. */
  readonly file: string;
}

/** Entries only pass on what other files declare, by name. */
function exportsOf(path: string): readonly Exported[] {
  const text = readFileSync(path, 'utf8');
  expect(text.match(/^export /gm)?.length).toBe(text.match(/^export (type )?\{/gm)?.length);
  return [...text.matchAll(/^export (type )?\{([^}]*)\} from '([^']+)';$/gm)].flatMap(([, whole, listed = '', from = '']) =>
    listed
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => ({
        name: one.replace(/^type /, ''),
        isType: whole !== undefined || one.startsWith('type '),
        file: join(dirname(path), from),
      })),
  );
}

/** A comment ends on the line before the declaration; types that a file passes on are looked for where they are made. */
function isDocumented(text: string, name: string): boolean {
  return new RegExp(`\\*/\\nexport (?:declare )?(?:async )?(?:interface|type|class|function|const) ${name}\\b`).test(text);
}
