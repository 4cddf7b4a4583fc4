/**
 * A driven session: the tree of runs below one root run, and all that they share. One process drives it at a time; everything
 * here can be thrown away and built anew from the ledger. Only who builds it and the drivers have the whole: all else takes the
 * concerns it reads.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { Failure, Payloads } from '../../events/catalogue.ts';
import type { AsksAgain } from '../calls/askable-agents.ts';
import type { ShowsLive } from '../calls/recorded-model.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import type { RestsOnAnswers } from '../evidence/sub-agent-verdicts.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import type { Interruption } from '../interruption.ts';
import type { EngineOptions } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Remembers } from '../record/remembers.ts';
import type { Writes } from '../record/writes.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { HasAssistants } from '../spawning/spawned.ts';
import type { Spends } from '../spending/spending.ts';
import type { Travels } from '../travel/travelling.ts';

/** What all runs of a driven session share, as its driver has it. */
export interface DrivenTree
  extends EngineOptions,
    Writes,
    Remembers,
    WorksInFolders,
    HearsOutside,
    HearsRuns,
    Spends,
    HasChildren,
    HasAssistants,
    AsksAgain,
    RestsOnAnswers,
    ShowsLive,
    GivesBackLease,
    Travels,
    SetsUpRuns {
  root(run: RunId, started: Payloads['run.started']): DrivenRun;
  /** A run below another that is not started here. */
  below(parent: DrivenRun, run: RunId, started: Payloads['run.started']): DrivenRun;
  /** From now on every step throws this. Work under way is told to stop. */
  interrupt(why: Interruption): void;
}

export interface SetsUpRuns {
  /** `found`: its agent, when that was just looked up. */
  setup(node: DrivenRun, found?: AgentDefinition): Promise<Result<AgentSetup, Failure>>;
}

export interface GivesBackLease {
  /** The root's end is in the ledger, and its lease was given back with it. */
  released(): void;
}
