/** An agent's own loop, with everything it does recorded: its ports are the engine's. */
import { listenerOf, turnsAllowed, turnsBefore } from '../../events/run-origin.ts';
import { finalReportExit, plainReport } from '../../loop/final-report.ts';
import type { LoopInput, LoopModel, LoopTools } from '../../loop/port.ts';
import type { CheckedResult, LoopRequest } from '../../patterns/agent-run.ts';
import { summaryWithout } from '../../projections/context/context-parts.ts';
import { originOfSaid } from '../../projections/transcript.ts';
import { type AsksModels, recordedModel } from '../calls/recorded-model.ts';
import { type CallsTools, recordedTools } from '../calls/recorded-tools.ts';
import { checkLoopResult } from '../evidence/verification.ts';
import { demandsDuring } from '../evidence/verify.ts';
import { recordedExecutor } from '../executors/recorded-executor.ts';
import type { AsksExecutors } from '../executors/recorder.ts';
import { unheardBy } from '../hearing/unheard-by.ts';
import { gravest, Interruption } from '../interruption.ts';
import type { HostAccess } from '../options.ts';
import { recordedPeer } from '../peers/recorded-peer.ts';
import type { AsksPeers } from '../peers/recorder.ts';
import { type AgentSetup, loopLimits, outputContract } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { leftOutOf, timesReopened, treeTerms } from '../record/standing-events.ts';
import type { StepIndex } from '../record/step-index.ts';
import { hostedLoop } from '../spawning/hosted-loop.ts';
import { checkpointOf, condense } from './condense.ts';
import { hasUnheardMessages, heardBeforeTurn } from './heard-before-turn.ts';

/** What a loop asks and calls, and where it is hosted. What it hears and what is condensed comes with these. */
export type PlaysLoops = AsksModels & AsksPeers & AsksExecutors & CallsTools & HostAccess;

export async function ownLoop(
  tree: PlaysLoops,
  node: DrivenRun,
  setup: AgentSetup,
  stepIndex: StepIndex,
  request: LoopRequest,
): Promise<CheckedResult> {
  const output = outputContract(setup.definition);
  const { remote, executor: use } = setup.definition;
  const peer = remote === undefined ? undefined : recordedPeer(tree, node, setup, stepIndex);
  const executor = use === undefined ? undefined : recordedExecutor(tree, node, setup, stepIndex);
  const own = peer ?? executor;
  // Whoever stands in the place of a model has none of our tools: what it says is its answer.
  const exits = own === undefined ? [...(request.exits ?? [])] : [];
  // Somebody who only talks needs no tool to report; one that was told of it, whom nobody is left to hear, still expects it.
  const offers = setup.tools.length > 0 || exits.length > 0 || output.schema !== undefined || request.hears === true;
  if (own === undefined && request.reports && offers) exits.push(finalReportExit(output));
  const limits = loopLimits(setup.definition);
  const maxTurns = turnsOf(node) ?? limits.maxTurns;
  const listener = request.hears === true ? listenerOf(node.started) : undefined;
  const from = checkpointOf(node, stepIndex, request.input);
  const input: LoopInput = {
    agent: setup.definition.name,
    system: setup.system,
    // It remembers what was said before itself.
    history: from === undefined && own === undefined ? await tree.history(node) : [],
    request: request.input,
    from,
    condense: own === undefined && node.started.condense,
    exits,
    elsewhere: own !== undefined,
    plain: request.plain ?? plainReport(output),
    limits: { ...limits, maxTurns: Math.min(limits.maxTurns, maxTurns), turnsBefore: request.turnsBefore ?? 0 },
  };
  const demands = demandsDuring(tree, node, setup);
  const reasons: unknown[] = [];
  const playing = hostedLoop(tree, node, setup.definition, input, {
    model: own ?? answeringIn(request.answerSchema, recordedModel(tree, node, setup, stepIndex)),
    tools: noting(reasons, recordedTools(tree, node, setup, stepIndex)),
    incoming: async (turn, room) => demands.told(turn, await heardBeforeTurn(tree, node, stepIndex, listener, turn, room)),
    unheard: async (turn) => (await hasUnheardMessages(tree, node, turn)) || (await demands.failing(turn)),
    condense: ({ text, ...left }) =>
      condense(tree, node, stepIndex, request.input, { ...left, text: summaryWithout(text, leftOutOf(node.journal.past)) }),
    reference: (item) => {
      const step = stepIndex.stepOf(item);
      return step === undefined ? originOfSaid(item) : `${node.run} ${step}`;
    },
    signal: node.abort.signal,
  });
  const result = await playing.catch(async (error: unknown) => {
    const reason = gravest([error, ...reasons]);
    await executor?.close(reason);
    throw reason;
  });
  await executor?.close(node.abort.signal.reason);
  const isStopped = node.abort.signal.aborted && !(node.abort.signal.reason instanceof Interruption);
  // Whoever would go on with more of something begins it anew: until then nobody waits for it.
  const isOver = isStopped || result.status === 'budget_exhausted' || result.error?.code === 'no_report';
  if (peer !== undefined && isOver) await peer.leave();
  if (peer?.isLeft() === true) node.leftThere = true;
  node.passedOver = unheardBy(tree, node).length;
  return { ...result, verification: await checkLoopResult(tree, node, result) };
}

/** Whoever was given more turns since has them, less those that were counted before it. */
function turnsOf(node: DrivenRun): number | undefined {
  const allowed = turnsAllowed(node.started);
  const given = timesReopened(node.journal.past) === 0 ? undefined : treeTerms(node).maxTurns;
  return allowed === undefined || given === undefined ? allowed : Math.max(allowed, given - turnsBefore(node.started));
}

/** A form that is wanted of plain answers goes with every request. */
function answeringIn(outputSchema: LoopRequest['answerSchema'], model: LoopModel): LoopModel {
  return outputSchema === undefined ? model : { ...model, ask: (request) => model.ask({ ...request, outputSchema }) };
}

/** Calls side by side may stop for different reasons, and the loop passes on one of them: which counts is decided here. */
function noting(reasons: unknown[], tools: LoopTools): LoopTools {
  return {
    ...tools,
    async call(...given) {
      try {
        return await tools.call(...given);
      } catch (error) {
        reasons.push(error);
        throw error;
      }
    },
  };
}
