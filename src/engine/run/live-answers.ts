/**
 * Pieces of answers on their way to whoever watches, and whose words are the answer. The answer belongs to the run at the end
 * of the chain: the root itself, or whoever its patterns let answer in its place. Whether an agent passes its answer on is in its
 * definition; that one who may pass it on answers itself after all is not known before it has.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { roleInTree } from '../../events/run-origin.ts';
import { wantedBy } from '../../patterns/agent-run.ts';
import { answersItself, type Pattern, passesOn, type Wanted } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { WatchedFromElsewhere } from '../options.ts';
import type { LivePiece } from '../port.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';

type Watchers = ReadonlySet<(piece: LivePiece) => void>;
type Definitions = ReadonlyMap<RunId, AgentDefinition>;

export interface LiveAnswers {
  /** Remembers how a run's agent is set up, and gives it back. */
  noted(node: DrivenRun, setup: Result<AgentSetup, Failure>): Result<AgentSetup, Failure>;
  /** Undefined when nobody watches. */
  of(node: DrivenRun, turn: number): ((delta: LivePiece['delta'], attempt?: number) => void) | undefined;
}

export function createLiveAnswers(
  session: SessionId,
  watchers: Watchers,
  patterns: readonly Pattern[] = registeredPatterns,
  watcherElsewhere: WatchedFromElsewhere['watcherElsewhere'] = () => undefined,
): LiveAnswers {
  const definitions = new Map<RunId, AgentDefinition>();
  return {
    noted(node, setup) {
      if (setup.ok) definitions.set(node.run, setup.value.definition);
      return setup;
    },
    of(node, turn) {
      const elsewhere = watcherElsewhere();
      if (watchers.size === 0 && elsewhere === undefined) return undefined;
      const piece = {
        session,
        run: node.run,
        agent: node.started.agent,
        turn,
        terminal: isTerminal(node, definitions, patterns),
      };
      let [offset, of] = [0, 1];
      return (delta, attempt = 1) => {
        if (attempt !== of) [offset, of] = [0, attempt];
        for (const watcher of watchers) watcher({ ...piece, attempt, offset, delta });
        elsewhere?.({ ...piece, attempt, offset, delta });
        if (delta.type === 'text') offset += delta.text.length;
      };
    },
  };
}

function isTerminal(node: DrivenRun, definitions: Definitions, patterns: readonly Pattern[]): boolean {
  const wanted = wantedOf(node, definitions);
  return wanted !== undefined && answersForRoot(node, definitions, patterns) && answersItself(patterns, wanted);
}

/** Whether the result of this run becomes the result of the root: each on the way up passes it on unchanged. */
function answersForRoot(node: DrivenRun, definitions: Definitions, patterns: readonly Pattern[]): boolean {
  const { parent } = node;
  if (parent === undefined) return true;
  const passed = passesOn(patterns, wantedOf(parent, definitions), roleInTree(node.started));
  return passed && answersForRoot(parent, definitions, patterns);
}

function wantedOf({ run, started }: DrivenRun, definitions: Definitions): Wanted | undefined {
  const agent = definitions.get(run);
  return agent === undefined ? undefined : { agent, ...wantedBy(started) };
}
