/**
 * Who may call `troupe serve`, and what each of them may do. The owner's token comes by option or `TROUPE_TOKEN`; others are in
 * `TROUPE_TOKENS` or in `serve.callers` of troupe.yaml, which also says what they may do. Nobody but the owner gives permissions
 * unless an entry says so.
 */

import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import type { ClientRights } from '../../events/assistants.ts';
import { isCallerName, isReservedName, type NamedToken, reservedText, sha256Of, tokenProblem } from '../../http/tokens.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import { usageError } from '../terminal/command.ts';

type Serve = ProjectConfig['serve'];
type Entry = NonNullable<Serve['callers']>[string];

export interface Callers {
  readonly tokens: readonly NamedToken[];
  /** Everybody but the owner. */
  readonly others: readonly McpCaller[];
  callerOf(name: string): McpCaller;
}

export interface CallerSources {
  readonly config: Pick<ProjectConfig, 'serve' | 'root' | 'workspace'>;
  readonly env: Environment;
  readonly owner: string;
  /** Of the owner, and those of TROUPE_TOKENS. */
  readonly tokens: readonly NamedToken[];
  /** `--allow-commands`. */
  readonly allowCommands: boolean;
}

export async function callersOf({ config, env, owner, tokens, allowCommands }: CallerSources): Promise<Callers> {
  const entries = config.serve.callers ?? {};
  if (Object.hasOwn(entries, owner))
    throw usageError(`serve.callers has an entry for ${owner}, who is the owner`, 'take it out, or name the owner with --as');
  const all = [...tokens, ...Object.entries(entries).flatMap(([name, entry]) => tokenOf(name, entry, tokens, env))];
  requireOwnTokens(all);
  const others: McpCaller[] = [];
  const commands = allowCommands || config.serve.commands === 'allow' ? 'all' : (config.serve.commands ?? []);
  for (const { name } of all.filter((one) => one.name !== owner))
    others.push(await callerWith(name, entries[name], commands, config));
  // With others who have work done, commands of the owner's own agents could be read and misused by theirs.
  const shared = others.some(hasWorkDone);
  const own: McpCaller = {
    ...{ name: owner, sees: 'everything' },
    ...(others.length === 0 ? {} : { answersForAll: true, ...(shared ? { rights: allOf(commands) } : {}) }),
  };
  const byName = new Map(others.map((caller) => [caller.name, caller]));
  return { tokens: all, others, callerOf: (name) => byName.get(name) ?? own };
}

function requireOwnTokens(all: readonly NamedToken[]): void {
  const hashes = all.map(sha256Of);
  const index = hashes.findIndex((hash, at) => hashes.indexOf(hash) !== at);
  if (index !== -1) throw usageError(`${all[index]?.name} has the same token as another caller`, 'give each a token of its own');
}

/** The token of an entry, unless TROUPE_TOKENS has it. */
function tokenOf(name: string, entry: Entry, known: readonly NamedToken[], env: Environment): readonly NamedToken[] {
  const where = `serve.callers.${name}`;
  if (isReservedName(name)) throw usageError(`${where}: ${reservedText(name)}`, 'give the caller another name');
  if (!isCallerName(name)) throw usageError(`${where}: "${name}" is not a name for a caller`, 'use letters, digits and . _ -');
  const elsewhere = known.some((one) => one.name === name);
  if (entry.tokenSha256 !== undefined || entry.tokenEnv !== undefined) {
    if (elsewhere) throw usageError(`${where} and TROUPE_TOKENS both give a token`, 'take one of them out');
    if (entry.tokenSha256 !== undefined) return [{ name, sha256: entry.tokenSha256 }];
  }
  if (entry.tokenEnv === undefined) {
    if (elsewhere) return [];
    throw usageError(
      `${where} has no token`,
      'name the variable that holds it: tokenEnv, or give its hash: tokenSha256; or give it in TROUPE_TOKENS',
    );
  }
  const token = env[entry.tokenEnv] ?? '';
  const problem = tokenProblem(token);
  if (problem !== undefined) throw usageError(`${where}: the token in ${entry.tokenEnv} ${problem}`, 'set it to a longer one');
  return [{ name, token }];
}

const allOf = (commands: ClientRights['commands']): ClientRights => ({ commands, answers: true, approves: true });

const hasWorkDone = ({ role }: McpCaller): boolean => role !== 'viewer';

/** A viewer spawns and answers nothing, whatever else its entry says. */
async function callerWith(
  name: string,
  entry: Entry | undefined,
  commands: ClientRights['commands'],
  config: Pick<ProjectConfig, 'root'>,
): Promise<McpCaller> {
  const { role } = entry ?? {};
  const seeing = { name, sees: 'everything', role } as const;
  if (role === 'viewer') return { ...seeing, rights: { spawn: [], commands: [], answers: false, approves: false } };
  const granted = await grantsOf(name, entry, commands, config);
  if (role === undefined) return { name, sees: 'own', ...granted };
  return { ...seeing, answersForAll: true, ...granted, ...(role === 'owner' ? { rights: allOf(commands) } : {}) };
}

async function grantsOf(
  name: string,
  entry: Entry | undefined,
  commands: ClientRights['commands'],
  { root }: Pick<ProjectConfig, 'root'>,
): Promise<Pick<McpCaller, 'rights' | 'workspace'>> {
  const { spawn, answers = true, approves = false, workspace } = entry ?? {};
  const listed = spawn === undefined || spawn.includes('*') ? {} : { spawn: [...spawn] };
  const rights: ClientRights = { ...listed, commands, answers, approves };
  if (workspace === undefined) return { rights };
  return { rights, workspace: await folderOf(name, resolve(root, workspace)) };
}

async function folderOf(name: string, folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw usageError(`serve.callers.${name}: there is no folder ${folder}`, `make it: mkdir -p ${JSON.stringify(folder)}`);
  return await realpath(folder);
}

/** What the owner should know before the first call comes. */
export function warningsOf(
  { others }: Callers,
  { workspace, root }: Pick<ProjectConfig, 'workspace' | 'root'>,
): readonly string[] {
  const shared = others.filter((caller) => hasWorkDone(caller) && caller.workspace === undefined).map(({ name }) => name);
  const warnings: string[] = [];
  if (shared.length > 0)
    warnings.push(
      `warning: ${shared.join(', ')} ${shared.length === 1 ? 'works' : 'work'} in your own workspace, ${workspace || root}: ` +
        'their agents read and change the same files as yours. Fix: give each a folder of its own, ' +
        `serve: { callers: { ${shared[0]}: { workspace: … } } } in troupe.yaml`,
    );
  if (others.some(({ rights }) => rights?.commands === 'all'))
    warnings.push(
      'warning: agents may run commands for every caller, as the same user; what a command can read they can all read',
    );
  return warnings;
}
