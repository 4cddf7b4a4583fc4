/** `troupe executors list|probe|add`: which coding agents can work for agents, what one can do here, and others beside them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { ExecutorEntry, ExecutorFields } from '../../executors/entry.ts';
import { isInstalled } from '../../executors/installed.ts';
import { type KeptHere, keptHere } from '../../executors/kept-in.ts';
import type { BuiltinNeeds } from '../../executors/known/entries.ts';
import { entryNamed, type FoundExecutors, resolvedExecutors } from '../../executors/open.ts';
import { type ExecutorProbe, probeExecutor } from '../../executors/probe.ts';
import { addExecutor } from '../../project/executors/add-executor.ts';
import { type ExecutorsOfProject, executorsOfProject } from '../../project/executors/lazy-executors.ts';
import { settingsOf } from '../agents/files.ts';
import type { JsonOf } from '../json/contract.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

type Listed = JsonOf<'executors list'>['executors'][number];

export async function executorsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const { made, resolved } = await executorsHere(context);
  try {
    const { environment, builtin } = made.options;
    const executors: Listed[] = [];
    for (const entry of resolved.entries)
      executors.push(listed(entry, isInstalled(entry, made.root, environment), await keptHere(entry, made.keeping)));
    if (options.json) printJson(context, 'executors list', { executors });
    else {
      const rows = executors.map((one) => cells(one, builtin));
      const heading = ['EXECUTOR', 'NAME', 'FROM', 'STATE', 'WALLS', 'STARTS'];
      printTable(context.terminal.out, heading, rows, ['EXECUTOR', 'STATE']);
    }
    return exitCodes.completed;
  } finally {
    await made.close();
  }
}

/** Also for the completion of names and for `doctor`. */
export async function executorsHere(
  context: CommandContext,
): Promise<{ readonly made: ExecutorsOfProject; readonly resolved: FoundExecutors }> {
  const made = await executorsOfProject(await settingsOf(context), context.terminal.env, context.clock);
  const resolved = await resolvedExecutors(made.options);
  if (resolved.broken !== undefined)
    throw new TroupeError('config', resolved.broken, { fix: 'correct executors.yaml and try again' });
  return { made, resolved };
}

function listed(entry: ExecutorEntry, installed: boolean | undefined, walls: KeptHere): Listed {
  const { name, title, source, reach, install, notes } = entry;
  const starts = reach.kind === 'tcp' ? { address: `${reach.host}:${reach.port}` } : { command: [reach.program, ...reach.args] };
  return { name, title, source, ...starts, ...present({ installed, install, notes }), walls: present(walls) };
}

/** The built-in one is this program, which people know as `troupe`; where its settings and its state are says nothing to them. */
function cells(
  { name, title, source, installed, walls, command = [], address }: Listed,
  { program, args }: BuiltinNeeds,
): readonly string[] {
  const isOwn = program.every((word, index) => command[index] === word);
  const starts = isOwn ? ['troupe', ...command.slice(program.length).filter((word) => !args.includes(word))] : command;
  const state = installed === undefined ? 'at an address' : installed ? 'installed' : 'not installed';
  return [name, title, source, state, walls.how, address ?? starts.join(' ')].map((text) => safeLine(text));
}

export async function executorsProbeCommand(context: CommandContext, name: string, options: JsonOption): Promise<ExitCode> {
  const { made, resolved } = await executorsHere(context);
  const entry = entryNamed(name, resolved);
  if (!entry.ok) throw usageError(entry.error.message, entry.error.fix);
  const folder = await mkdtemp(join(tmpdir(), 'troupe-probe-'));
  try {
    if (options.json !== true) context.terminal.progress.line(`starting ${safeLine(entry.value.title)} …`);
    const needs = { ...made.options, others: resolved.entries };
    const probe = await probeExecutor(entry.value, folder, needs, new AbortController().signal);
    const walls = await keptHere(entry.value, made.keeping);
    if (options.json) printJson(context, 'executors probe', probed(probe, walls));
    else printProbe(context, probe, walls);
    return probe.about === undefined ? exitCodes.executorUnavailable : exitCodes.completed;
  } finally {
    await made.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function probed({ entry, about, missing }: ExecutorProbe, kept: KeptHere): JsonOf<'executors probe'> {
  const { name, title } = entry;
  const walls = present(kept);
  if (about === undefined) return { name, title, works: false, walls, missing };
  const { version, protocol, modes, mode, model, canLoad, mcp, asks, images, sandbox } = about;
  const known = { ...present({ version, mode, model, images, sandbox }), protocol, modes, loads: canLoad, asks, mcp };
  return { name, title, works: true, ...known, walls, missing };
}

const KEPT: Readonly<Record<KeptHere['how'], string>> = {
  inside: 'runs inside',
  own: 'its commands run inside those that it builds itself',
  outside: 'runs without',
  refused: 'not started: they are demanded (sandbox: on)',
};

function printProbe({ terminal: { out } }: CommandContext, probe: ExecutorProbe, kept: KeptHere): void {
  const { name, title, works, walls, ...known } = probed(probe, kept);
  out.line(safeLine(`${name}  ${title}${works ? '' : ': does not work here'}`));
  const row = (label: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') out.line(`  ${label.padEnd(12)} ${safeLine(value)}`);
  };
  if (works) {
    row('version', known.version);
    row('protocol', known.protocol === undefined ? undefined : `ACP ${known.protocol}`);
    row('modes', known.modes?.map((mode) => (mode === known.mode ? `${mode} (set)` : mode)).join(', '));
    row('model', known.model);
    row('permissions', known.asks === true ? 'asks before it acts' : 'never asks');
    row('sessions', known.loads === true ? 'can be loaded again' : 'end with their process');
    row('MCP', known.mcp?.join(', ') || 'takes no servers');
    row('images', known.images === true ? 'yes' : 'no');
  }
  row('walls', [KEPT[walls.how], walls.sandbox === undefined ? walls.why : `(${walls.sandbox})`].filter(Boolean).join(': '));
  row('  fix', walls.fix);
  for (const { what, fix } of known.missing) {
    row('missing', what);
    row('  fix', fix);
  }
}

export interface ExecutorsAddOptions extends JsonOption {
  readonly address?: string | undefined;
  readonly like?: string | undefined;
  readonly title?: string | undefined;
  readonly key?: readonly string[] | undefined;
  readonly user?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export async function executorsAddCommand(
  context: CommandContext,
  name: string,
  command: readonly string[],
  options: ExecutorsAddOptions,
): Promise<ExitCode> {
  const { address, like, title, key } = options;
  const fields: ExecutorFields = {
    ...present({ title, like, address, keys: key && [...key] }),
    ...(command.length === 0 ? {} : { command: [...command] }),
  };
  const config = await settingsOf(context);
  const added = await addExecutor(name, fields, {
    ...{ root: config.root, env: context.terminal.env, user: options.user === true, force: options.force === true },
  });
  if (!added.ok) throw usageError(added.error.message, added.error.fix);
  const { file } = added.value;
  if (options.json) printJson(context, 'executors add', { added: name, file });
  else context.terminal.out.line(safeLine(`added  ${name} in ${file}: troupe executors probe ${name}`));
  return exitCodes.completed;
}
