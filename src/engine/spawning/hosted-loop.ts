/** Runs the loop of a run here, or in a process of its own where the agent asks for it or was spawned. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import { threadOf } from '../../base/ids.ts';
import { spawnerOf } from '../../events/run-origin.ts';
import { runLoop } from '../../loop/loop.ts';
import type { LoopInput, LoopPorts, LoopResult } from '../../loop/port.ts';
import type { ProcessNews } from '../../runner/port.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import type { HostAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import { callerOf } from './client-rights.ts';
import type { HasAssistants } from './spawned.ts';

export async function hostedLoop(
  tree: HostAccess & Writes & HearsOutside & HasAssistants,
  node: DrivenRun,
  definition: AgentDefinition,
  input: LoopInput,
  ports: LoopPorts,
): Promise<LoopResult> {
  const { host } = tree;
  if (host === undefined || !isolated(node, definition)) return await runLoop(input, ports);
  await tree.slots.enter(node.run, node.abort.signal, callerOf(node));
  try {
    // Cancelled while it waited for a slot: there is nothing to host.
    if (node.abort.signal.aborted) return await runLoop(input, ports);
    const { played, over } = thinking(tree, ports);
    const options = { thread: threadOf(node.run), onProcess: (news: ProcessNews) => record(tree, node, news) };
    return await host.run(input, played, options).finally(over);
  } finally {
    tree.slots.leave(node.run);
  }
}

/** Between two things that it asks for, a loop that is played elsewhere is at work there. */
function thinking({ atWork }: HearsOutside, ports: LoopPorts): { readonly played: LoopPorts; over(): void } {
  let inside = 0;
  let ended = false;
  let stop = atWork.begin();
  const during = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    inside += 1;
    stop();
    try {
      return await work();
    } finally {
      inside -= 1;
      if (inside === 0 && !ended) stop = atWork.begin();
    }
  };
  const { model, tools, incoming, unheard } = ports;
  return {
    played: {
      ...ports,
      model: { ...model, ask: (request) => during(() => model.ask(request)) },
      tools: { ...tools, call: (...given) => during(() => tools.call(...given)) },
      condense: (condensing) => during(() => ports.condense(condensing)),
      ...(incoming === undefined ? {} : { incoming: (turn, room) => during(() => incoming(turn, room)) }),
      ...(unheard === undefined ? {} : { unheard: (turn) => during(() => unheard(turn)) }),
    },
    over: () => {
      ended = true;
      stop();
    },
  };
}

/** Spawned agents are isolated unless their file says otherwise, others only if it says so; one with models of its own is. */
function isolated({ started }: DrivenRun, definition: AgentDefinition): boolean {
  if (hasOwnModels(definition)) return false;
  const { isolation } = definition;
  return isolation === 'process' || (spawnerOf(started) !== undefined && isolation !== 'inline');
}

function record(tree: Writes, node: DrivenRun, news: ProcessNews): void {
  const options = { actor: 'system', aside: true } as const;
  if (news.kind === 'started') {
    const { pid, attempt } = news;
    tree.writer.enqueue([node.journal.event('process.started', { pid, attempt }, options)]);
  } else {
    const { pid, exitCode, signal, why } = news;
    tree.writer.enqueue([node.journal.event('process.ended', { pid, exitCode, signal, why }, options)]);
  }
}
