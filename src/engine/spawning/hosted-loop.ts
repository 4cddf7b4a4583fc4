/** Runs the loop of a run here, or in a process of its own where the agent asks for it or was spawned. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { threadOf } from '../../base/ids.ts';
import { spawnerOf } from '../../events/run-origin.ts';
import { runLoop } from '../../loop/loop.ts';
import type { LoopInput, LoopPorts, LoopResult } from '../../loop/port.ts';
import type { ProcessNews } from '../../runner/port.ts';
import type { HostAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import type { HasAssistants } from './spawned.ts';

export async function hostedLoop(
  tree: HostAccess & Writes & HasAssistants,
  node: DrivenRun,
  definition: AgentDefinition,
  input: LoopInput,
  ports: LoopPorts,
): Promise<LoopResult> {
  const { host } = tree;
  if (host === undefined || !isolated(node, definition)) return await runLoop(input, ports);
  await tree.slots.enter(node.run, node.abort.signal);
  try {
    // Cancelled while it waited for a slot: there is nothing to host.
    if (node.abort.signal.aborted) return await runLoop(input, ports);
    return await host.run(input, ports, { thread: threadOf(node.run), onProcess: (news) => record(tree, node, news) });
  } finally {
    tree.slots.leave(node.run);
  }
}

/** Spawned agents are isolated unless their file says otherwise; others only if it says so. */
function isolated({ started }: DrivenRun, { isolation }: AgentDefinition): boolean {
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
