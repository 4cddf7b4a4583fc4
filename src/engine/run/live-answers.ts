/**
 * Pieces of answers on their way to whoever watches, and whose words are the answer. The answer belongs to the run at the end
 * of the chain: the root itself, whoever it routes or hands over to, and the supervisor of a team. Whether an agent passes its
 * answer on is in its definition; only that a router may still answer itself is not known before it has.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { roleInTree, teamSeat } from '../../events/run-origin.ts';
import type { LivePiece } from '../port.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';

type Watchers = ReadonlySet<(piece: LivePiece) => void>;
type Definitions = ReadonlyMap<RunId, AgentDefinition>;

export interface LiveAnswers {
  /** Remembers how a run's agent is set up, and gives it back. */
  noted(node: DrivenRun, setup: Result<AgentSetup, Failure>): Result<AgentSetup, Failure>;
  /** Undefined when nobody watches. */
  of(node: DrivenRun, turn: number): ((delta: LivePiece['delta']) => void) | undefined;
}

export function createLiveAnswers(session: SessionId, watchers: Watchers): LiveAnswers {
  const definitions = new Map<RunId, AgentDefinition>();
  return {
    noted(node, setup) {
      if (setup.ok) definitions.set(node.run, setup.value.definition);
      return setup;
    },
    of(node, turn) {
      if (watchers.size === 0) return undefined;
      const piece = { session, run: node.run, agent: node.started.agent, turn, terminal: isTerminal(node, definitions) };
      return (delta) => {
        for (const watcher of watchers) watcher({ ...piece, delta });
      };
    },
  };
}

function isTerminal(node: DrivenRun, definitions: Definitions): boolean {
  const agent = definitions.get(node.run);
  if (agent === undefined || !answersForRoot(node, definitions)) return false;
  const seat = teamSeat(node.started);
  if (seat?.role === 'supervisor') return seat.own === true || agent.handoff === undefined;
  return agent.handoff === undefined && agent.router === undefined && agent.team === undefined;
}

/** Whether the result of this run becomes the result of the root: each on the way up passes it on unchanged. */
function answersForRoot(node: DrivenRun, definitions: Definitions): boolean {
  const { parent } = node;
  if (parent === undefined) return true;
  const last = definitions.get(parent.run)?.handoff === undefined;
  const role = roleInTree(node.started);
  const passesOn = role === 'handoff' || (last && (role === 'router' || teamSeat(node.started)?.role === 'supervisor'));
  return passesOn && answersForRoot(parent, definitions);
}
