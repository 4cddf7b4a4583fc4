/**
 * Whether what a person makes of a call can be what it is made with: it fits the tool, as the run knows it, and nothing forbids
 * it. What does not would only fail later, where nobody can mend it any more.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId } from '../../base/ids.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { Ledger } from '../../ledger/port.ts';
import { checkInput } from '../../tools/input.ts';
import type { OrdinaryTool, Tool } from '../../tools/port.ts';
import type { LedgerAccess, ToolAccess } from '../options.ts';
import type { ChangeRefusal, PermissionWait } from '../port.ts';
import { recordedDefinition } from '../record/agent-setup.ts';

type Reads = Pick<Ledger, 'read' | 'runs'>;

/** What is wrong with it, in words; `undefined` when nothing is, or when nobody here knows the tool. */
export async function refusedChange(
  options: Pick<LedgerAccess, 'ledger'> & ToolAccess,
  { run, tool }: Pick<PermissionWait, 'run' | 'tool'>,
  input: Json,
): Promise<ChangeRefusal | undefined> {
  const setup = await setupOf(options.ledger, run);
  if (setup === undefined) return undefined;
  const known = setup.tools.find(({ name }) => name === tool);
  const checked = isJsonObject(known?.inputSchema) ? checkInput(known.inputSchema, input) : undefined;
  if (checked?.ok === false) return { kind: 'unfit', why: checked.error };
  const definition = recordedDefinition(setup);
  const made = await toolFor(options, definition, tool, input);
  const folder = made === undefined ? undefined : await folderOf(options.ledger, run);
  if (made === undefined || folder === undefined) return undefined;
  const why = await forbiddenChange(options, definition, made, input, folder);
  return why === undefined ? undefined : { kind: 'forbidden', why };
}

/** By what the call is forbidden: what somebody makes of one is theirs, but neither what is denied nor what is protected. */
export async function forbiddenChange(
  options: ToolAccess,
  definition: AgentDefinition,
  tool: OrdinaryTool,
  input: Json,
  folder: string,
): Promise<string | undefined> {
  const protection = await tool.protects?.(input, folder);
  if (protection !== undefined) {
    const path = isJsonObject(input) ? input['path'] : undefined;
    const what = typeof path === 'string' ? JSON.stringify(path) : 'What you made of it';
    return `${what} is protected (protected:${protection}): no call can be changed to it.`;
  }
  const call = { input, path: await tool.target?.(input, folder), remembered: [] };
  if (options.permission(definition, tool, call) !== 'deny') return undefined;
  const rule = options.denial?.(definition, tool, call);
  return rule === undefined ? 'What you made of it is denied here (permissions).' : `What you made of it is denied: ${rule}.`;
}

async function setupOf(ledger: Reads, run: RunId): Promise<Payloads['session.config'] | undefined> {
  const [row] = await ledger.runs({ run });
  if (row === undefined) return undefined;
  const [setup] = await ledger.read({ session: row.session, run, types: ['session.config'], newest: true, limit: 1 });
  return setup?.event_type === 'session.config' ? setup.payload : undefined;
}

/** The tool by itself: nothing is started for it. A change of what is protected is asked for in the name of that. */
async function toolFor(
  options: ToolAccess,
  { mcp: _servers, ...definition }: AgentDefinition,
  asked: string,
  input: Json,
): Promise<OrdinaryTool | undefined> {
  const isEdit = isJsonObject(input) && 'old' in input;
  const name = asked.startsWith('protected:') ? (isEdit ? 'edit' : 'write') : asked;
  const tools = await options.tools({ ...definition, tools: [name] });
  const found: Tool | undefined = tools.ok ? tools.value.find((tool) => tool.name === name) : undefined;
  return found?.kind === undefined ? found : undefined;
}

/** Where the tools of the run work: its own folder, that of a run above it, or the session's. */
async function folderOf(ledger: Reads, run: RunId): Promise<string | undefined> {
  for (let at: RunId | null = run; at !== null; ) {
    const [row] = await ledger.runs({ run: at });
    if (row === undefined) return undefined;
    const { session } = row;
    const [started] = await ledger.read({ session, run: at, types: ['run.started'], limit: 1 });
    if (started?.event_type === 'run.started' && started.payload.workspace !== undefined) return started.payload.workspace;
    at = row.parent;
    if (at !== null) continue;
    const [begun] = await ledger.read({ session, types: ['session.started'], limit: 1 });
    return begun?.event_type === 'session.started' ? begun.payload.workspace : undefined;
  }
  return undefined;
}
