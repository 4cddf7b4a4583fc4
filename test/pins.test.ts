/**
 * Names that others rely on, frozen here as literals. When one of these tests fails, either take the change back or treat
 * it as what it is: a change that users must be told about.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../src/cli/terminal/exit-codes.ts';
import { eventTypes, evidenceTypes, inboundTypes } from '../src/events/catalogue.ts';
import { SCHEMA_VERSION } from '../src/events/envelope.ts';
import * as library from '../src/index.ts';

describe('events', () => {
  it('have these names, and adding one adds a line here', () => {
    expect([...eventTypes].sort()).toEqual([
      'advisor.reported',
      'agent.dismissed',
      'approval.answered',
      'approval.asked',
      'artifact.manifest',
      'budget.reserved',
      'budget.settled',
      'cli.run',
      'cli.stderr',
      'cli.stdout',
      'context.noted',
      'evidence.checked',
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
      'process.ended',
      'process.started',
      'prompt.dropped',
      'prompt.queued',
      'router.chose',
      'run.ended',
      'run.paused',
      'run.resumed',
      'run.signalled',
      'run.started',
      'session.config',
      'session.moved',
      'session.started',
      'step.recorded',
      'task.clarify',
      'task.error',
      'task.summary',
      'team.broadcast',
      'test.report',
      'tool.call',
      'tool.result',
    ]);
  });

  it('have schema version 1', () => {
    expect(SCHEMA_VERSION).toBe(1);
  });

  it('that only the runtime writes are these', () => {
    expect([...evidenceTypes].sort()).toEqual([
      'artifact.manifest',
      'cli.run',
      'cli.stderr',
      'cli.stdout',
      'evidence.checked',
      'file.diff',
      'test.report',
      'tool.result',
    ]);
  });

  it('that may come from outside a run are these', () => {
    expect([...inboundTypes].sort()).toEqual([
      'approval.answered',
      'message.read',
      'message.sent',
      'prompt.dropped',
      'prompt.queued',
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

describe('the library', () => {
  it('exports these values', () => {
    expect(Object.keys(library).sort()).toEqual(['TroupeError', 'createTroupe', 'errorResult', 'textResult', 'userText']);
  });

  it('exports these types', () => {
    const text = readFileSync(join(import.meta.dirname, '..', 'src', 'index.ts'), 'utf8');
    const listed = [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, whole, names = '']) =>
      names
        .split(',')
        .flatMap((name) => (whole !== undefined || /^\s*type /.test(name) ? [name.replace(/^\s*(type )?/, '').trim()] : [])),
    );
    const declared = [...text.matchAll(/export (?:interface|type) (\w+)/g)].map(([, name]) => name);
    expect([...listed, ...declared].sort()).toEqual([
      'AgentDefinition',
      'Engine',
      'Ledger',
      'LedgerEvent',
      'Message',
      'OpenWait',
      'Project',
      'RunEnd',
      'RunHandle',
      'RunId',
      'RunResult',
      'SessionId',
      'StartRequest',
      'Tool',
      'ToolContext',
      'ToolOutcome',
      'TroupeOptions',
    ]);
  });
});
