/** Setting up the agent of a run: from the ledger when it was set up before, from its file otherwise. */
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import { SETUP_STEP } from './drive-run.ts';
import { equip, prepareAgent, unknownPrice } from './prepare.ts';
import { type AgentSetup, recordedDefinition, setupPayload } from './setup.ts';
import type { RunNode, Tree } from './tree.ts';

/** The recorded setup of a run that is taken up again; a new one otherwise, which is recorded before it is used. */
export async function setupOf(
  tree: Tree,
  node: RunNode,
  rootSetup: AgentSetup | undefined,
): Promise<Result<AgentSetup, Failure>> {
  const recorded = node.journal.recorded('session.config', SETUP_STEP);
  if (recorded !== undefined) {
    return adapted(await equip(tree.parts, recordedDefinition(recorded.payload), recorded.payload.system), node.started);
  }
  // The root's own setup was written together with its start.
  if (node.parent === undefined && rootSetup !== undefined) return ok(rootSetup);
  const setup = adapted(await prepareAgent(tree.parts, node.started.agent, tree.workspaceOf(node)), node.started);
  if (!setup.ok) return setup;
  const refused = unknownPrice(tree.parts, setup.value, node.scopes);
  if (refused !== undefined) return fail(refused);
  tree.writer.enqueue([node.journal.event('session.config', setupPayload(setup.value), { step: SETUP_STEP, actor: 'system' })]);
  return setup;
}

/** What a group changes about an agent it uses: another model, or no tools for somebody who only plans or judges. */
export function adapted(
  setup: Result<AgentSetup, Failure>,
  { model, part }: { readonly model?: string | undefined; readonly part?: Payloads['run.started']['part'] },
): Result<AgentSetup, Failure> {
  if (!setup.ok || (model === undefined && part === undefined)) return setup;
  return ok({
    ...setup.value,
    ...(model === undefined ? {} : { models: [model] }),
    ...(part === undefined || part === 'self' ? {} : { tools: [] }),
  });
}
