/**
 * The project's settings: what `troupe.yaml` may say, where it is looked for, and what wins when two places disagree:
 * flag, then environment, then project, then user, then default.
 *
 * The schema is strict: an unknown key is an error with its line, so that a typo never silently changes what runs.
 * Secrets are never in these files: a provider names the variable that holds its key, in the environment or in `.env`.
 */

import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { NamedAgent, NamedPlace } from '../agents/check-project.ts';
import { placeOfDemand } from '../agents/definition/check-verify.ts';
import type { LoadedAgent } from '../agents/file/load.ts';
import { arrange, type Diagnostic, errorAt, isError, type SourcePlace } from '../agents/text/diagnostics.ts';
import { readText } from '../agents/text/read-text.ts';
import type { PlaceOf } from '../agents/text/yaml-map.ts';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { parseRestateAddress, type RestateAddress } from '../engine/restate/address.ts';
import { type LedgerAddress, ledgerPlace, parseLedgerAddress, sqliteAddress, unknownAddress } from '../ledger/address.ts';
import { type SandboxSettings, sandboxSettings } from '../sandbox/settings.ts';
import { parseRedisAddress, REDIS_VARIABLE } from '../tasks/redis/address.ts';
import type { RedisSettings } from '../tasks/redis/redis-tasks.ts';
import { telemetrySettings } from '../telemetry/settings.ts';
import type { DotEnv } from './dot-env.ts';
import { hasForeignFiles } from './servers/foreign-files.ts';
import type { ForeignServers } from './servers/foreign-servers.ts';
import type { Settings } from './settings.ts';
import type { AgentsInSettings } from './settings-agents.ts';
import type { ParsedSettings } from './settings-file.ts';

export const CONFIG_FILE = 'troupe.yaml';
export const DOT_ENV = '.env';
export const USER_FILE = 'config.yaml';
const LEDGER_FILE = 'ledger.db';

/** What a command line or a program may override for one opening. */
export interface SettingsFlags {
  /** For every agent, also for those that name models of their own. */
  readonly model?: string | undefined;
  /** For agents that name none, in place of what the environment and the files say. */
  readonly defaultModel?: string | undefined;
  readonly engine?: string | undefined;
  readonly workspace?: string | undefined;
  readonly require?: Settings['require'];
  readonly notify?: Settings['notify'];
  readonly vars?: Readonly<Record<string, string>> | undefined;
}

export interface ProjectConfig extends DotEnv {
  readonly root: string;
  /** Where state lives: `.troupe/` of the project, or `TROUPE_HOME`. */
  readonly home: string;
  /** What people are shown of the ledger: its absolute path, or its address without the password. */
  readonly ledger: string;
  readonly ledgerAddress: LedgerAddress;
  /** Where ledgers lie: this one, and each that a setting names which another one overrides for this process. */
  readonly ledgerPlaces: readonly string[];
  /** The Redis that holds copies of tasks, when one is set. */
  readonly taskRedis: RedisSettings | undefined;
  /** Where the cluster is that works on runs; without one this process does. */
  readonly cluster: RestateAddress | undefined;
  readonly models: readonly string[];
  /** Who named them: an option, a variable or a file. Nobody when there are none. */
  readonly modelsFrom: string | undefined;
  readonly durability: 'effects' | 'full';
  readonly whenInDoubt: 'tell' | 'ask';
  readonly budget: NonNullable<Settings['budget']>;
  readonly providers: NonNullable<Settings['providers']>;
  readonly prices: NonNullable<Settings['prices']>;
  /** The project's and the user's own: the stricter holds, so that neither opens what the other closed. */
  readonly permissions: readonly NonNullable<Settings['permissions']>[];
  /** The file that each of them stands in. */
  readonly permissionFiles: readonly string[];
  readonly mcp: NonNullable<Settings['mcp']>;
  /** The file that each of them stands in. */
  readonly mcpFiles: Readonly<Record<string, string>>;
  /** What the project's files for other tools say about servers. */
  readonly foreign: ForeignServers;
  /** The walls around programs that others decided to run. */
  readonly sandbox: SandboxSettings;
  readonly verify: Settings['verify'];
  /** The least that a result must be worth for exit code 0. */
  readonly require: NonNullable<Settings['require']>;
  /** How a person is called back when a run needs them or ends. */
  readonly notify: NonNullable<Settings['notify']>;
  readonly assistants: NonNullable<Settings['assistants']>;
  /** How long artifacts are kept. */
  readonly artifacts: NonNullable<Settings['artifacts']>;
  /** How long sessions are kept. */
  readonly retention: NonNullable<Settings['retention']>;
  readonly serve: NonNullable<Settings['serve']>;
  readonly a2a: NonNullable<Settings['a2a']>;
  /** Where spans are sent, or why they cannot be; nobody wants it without one. */
  readonly telemetry: ReturnType<typeof telemetrySettings>;
  /** Those that the settings name themselves. */
  readonly agents: readonly LoadedAgent[];
  readonly workspace: string;
  readonly vars: Readonly<Record<string, string>>;
  /** Where permissions are given, for whoever checks the names. */
  readonly named: readonly NamedPlace[];
  /** Agents that the project's own settings name. Those of the user are for all projects, which need not have them. */
  readonly namedAgents: readonly NamedAgent[];
  /** Where the commands under `verify` stand, in their order. */
  readonly verifyPlaces: readonly SourcePlace[];
  /** Where a file names models for agents that name none, and which. */
  readonly modelPlaces: readonly { readonly models: readonly string[]; readonly place: SourcePlace }[];
  /** Where the key that signs cards is named. */
  readonly cardKeyPlace?: SourcePlace | undefined;
  /** The files that were read, strongest first. */
  readonly files: readonly string[];
}

export interface ConfigPlaces {
  readonly cwd: string;
  /** The project's folder, when it is known; otherwise it is looked for from `cwd` upwards. */
  readonly root?: string | undefined;
  readonly env: Environment;
  readonly flags?: SettingsFlags | undefined;
}

/** Reads what is there and settles what holds. Every problem of every file at once. */
export async function loadConfig(places: ConfigPlaces): Promise<Result<ProjectConfig, readonly Diagnostic[]>> {
  const root = places.root ?? (await findRoot(places.cwd));
  const project = await readSettings(join(root, CONFIG_FILE), CONFIG_FILE);
  const user = await readSettings(join(userFolder(places.env), USER_FILE));
  const problems = [project, user].flatMap((read) => (read.ok ? [] : read.error));
  if (!project.ok || !user.ok) return fail(problems);
  return ok(await settle(root, places, project.value, user.value));
}

export interface SalvagedConfig {
  /** With what could be read; never to run anything. */
  readonly config: ProjectConfig;
  readonly names: Record<'mcp' | 'vars' | 'providers' | 'prices', readonly string[]>;
  /** Nothing could be read of one of the files: what it may have named is not known. */
  readonly unreadable: boolean;
}

/** What can be known of a project whose settings have problems, so that these do not hide the problems of its agents. */
export async function salvageConfig(places: ConfigPlaces): Promise<SalvagedConfig> {
  const { salvageSettings } = await import('./settings-file.ts');
  const { settingsSchema } = await import('./settings.ts');
  const root = places.root ?? (await findRoot(places.cwd));
  const names: { [key in keyof SalvagedConfig['names']]: string[] } = { mcp: [], vars: [], providers: [], prices: [] };
  let unreadable = false;
  const read = async (path: string, shown = path): Promise<SettingsFile> => {
    const text = (await isThere(path)) ? await readText(path) : undefined;
    const salvaged = text?.ok === true ? salvageSettings(shown, text.value, settingsSchema) : undefined;
    if (text !== undefined && salvaged === undefined) unreadable = true;
    if (salvaged === undefined) return { path, settings: undefined };
    for (const key of ['mcp', 'vars', 'providers', 'prices'] as const) names[key].push(...salvaged.names[key]);
    return { path, ...(await placesIn(salvaged, shown)) };
  };
  const project = await read(join(root, CONFIG_FILE), CONFIG_FILE);
  const user = await read(join(userFolder(places.env), USER_FILE));
  return { config: await settle(root, places, project, user), names, unreadable };
}

/** The nearest folder upwards that holds a `troupe.yaml`; the folder itself when there is none. */
export async function findRoot(cwd: string): Promise<string> {
  const start = resolve(cwd);
  let folder = start;
  for (let depth = 0; depth < limits.projectSearchDepth; depth += 1) {
    if (await isThere(join(folder, CONFIG_FILE))) return folder;
    const above = dirname(folder);
    if (above === folder) break;
    folder = above;
  }
  return start;
}

interface SettingsFile {
  readonly path: string;
  readonly settings: Settings | undefined;
  readonly named?: ProjectConfig['named'];
  readonly namedAgents?: ProjectConfig['namedAgents'];
  readonly verifyPlaces?: ProjectConfig['verifyPlaces'];
  readonly modelPlaces?: ProjectConfig['modelPlaces'];
  readonly cardKeyPlace?: ProjectConfig['cardKeyPlace'];
  readonly agents?: AgentsInSettings;
}

async function settle(root: string, places: ConfigPlaces, project: SettingsFile, user: SettingsFile): Promise<ProjectConfig> {
  const { env, flags = {} } = places;
  const near = project.settings ?? {};
  const far = user.settings ?? {};
  const providers = { ...far.providers, ...near.providers };
  const mcp = { ...far.mcp, ...near.mcp };
  const home = resolve(root, env['TROUPE_HOME'] || '.troupe');
  const dotEnv = await dotEnvOf(join(root, DOT_ENV), env, { providers, mcp });
  const ledgerAddress = ledgerOf(root, home, env, near.ledger ?? far.ledger);
  return {
    root,
    home,
    ledger: ledgerAddress.shown,
    ledgerAddress,
    ledgerPlaces: [env['TROUPE_LEDGER'], near.ledger, far.ledger].flatMap((text) => (text && ledgerPlace(text, root)) || []),
    cluster: clusterOf(flags.engine ?? (env['TROUPE_ENGINE'] || near.engine) ?? far.engine),
    ...modelsOf(places, near.model, user.path, far.model),
    durability: near.durability ?? far.durability ?? 'effects',
    whenInDoubt: near.whenInDoubt ?? far.whenInDoubt ?? 'tell',
    budget: { ...far.budget, ...near.budget },
    providers,
    ...dotEnv,
    prices: { ...far.prices, ...near.prices },
    permissions: [near.permissions, far.permissions].filter((one) => one !== undefined),
    permissionFiles: [...(near.permissions ? [CONFIG_FILE] : []), ...(far.permissions ? [user.path] : [])],
    mcp,
    mcpFiles: { ...filesOf(far.mcp, user.path), ...filesOf(near.mcp, CONFIG_FILE) },
    foreign: await foreignOf(root, dotEnv.keyEnv, Object.keys(mcp)),
    sandbox: sandboxSettings(env['TROUPE_SANDBOX'], [near.sandbox, far.sandbox]),
    verify: near.verify ?? far.verify,
    notify: flags.notify ?? near.notify ?? far.notify ?? 'none',
    require: flags.require ?? near.require ?? far.require ?? 'unchecked',
    assistants: { ...far.assistants, ...near.assistants },
    artifacts: { ...far.artifacts, ...near.artifacts, keep: { ...far.artifacts?.keep, ...near.artifacts?.keep } },
    retention: near.retention ?? far.retention ?? {},
    serve: { ...far.serve, ...near.serve },
    taskRedis: redisOf({ ...far.tasks, ...near.tasks }, env),
    a2a: { ...far.a2a, ...near.a2a },
    telemetry: telemetrySettings({ ...far.telemetry, ...near.telemetry }, { ...dotEnv.dotEnv, ...env }),
    agents: [...(project.agents?.agents ?? []), ...(user.agents?.agents ?? [])],
    workspace: flags.workspace === undefined ? resolve(root, near.workspace ?? '.') : resolve(places.cwd, flags.workspace),
    vars: { ...far.vars, ...near.vars, ...flags.vars },
    named: [...(project.named ?? []), ...(user.named ?? [])],
    namedAgents: project.namedAgents ?? [],
    verifyPlaces: (near.verify === undefined ? user : project).verifyPlaces ?? [],
    modelPlaces: [...(project.modelPlaces ?? []), ...(user.modelPlaces ?? [])],
    cardKeyPlace: project.cardKeyPlace ?? user.cardKeyPlace,
    files: [project, user].filter((file) => file.settings !== undefined).map((file) => file.path),
  };
}

/** Loaded only for a project that has one. */
async function dotEnvOf(path: string, env: Environment, settings: Pick<ProjectConfig, 'providers' | 'mcp'>): Promise<DotEnv> {
  if (!(await isThere(path))) return { keyEnv: env, fromDotEnv: [], dotEnv: {} };
  const { readDotEnv } = await import('./dot-env.ts');
  return await readDotEnv(path, env, settings);
}

/** Loaded only for a project that has such a file. */
async function foreignOf(root: string, env: Environment, settings: readonly string[]): Promise<ForeignServers> {
  if (!(await hasForeignFiles(root))) return { servers: [], diagnostics: [] };
  const { readForeignServers } = await import('./servers/foreign-servers.ts');
  return await readForeignServers({ root, env }, settings);
}

const filesOf = (mcp: Settings['mcp'], file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(mcp ?? {}).map((name) => [name, file]));

/** Every server that an agent may name which is not of its own file. */
export function serverNames({ mcp, foreign }: Pick<ProjectConfig, 'mcp' | 'foreign'>): readonly string[] {
  return [...new Set([...Object.keys(mcp), ...foreign.servers.map(({ name }) => name)])];
}

function modelsOf(
  { env, flags = {} }: ConfigPlaces,
  near: Settings['model'],
  userFile: string,
  far: Settings['model'],
): Pick<ProjectConfig, 'models' | 'modelsFrom'> {
  const flag = flags.model ?? flags.defaultModel;
  if (flag !== undefined) return { models: [flag], modelsFrom: 'the command line' };
  if (env['TROUPE_MODEL']) return { models: [env['TROUPE_MODEL']], modelsFrom: 'TROUPE_MODEL' };
  if (near !== undefined) return { models: near, modelsFrom: CONFIG_FILE };
  return { models: far ?? [], modelsFrom: far && userFile };
}

function redisOf({ redis, key, ttl }: NonNullable<Settings['tasks']>, env: ConfigPlaces['env']): RedisSettings | undefined {
  const named = env[REDIS_VARIABLE] || redis;
  if (named === undefined) return undefined;
  return { address: parseRedisAddress(named, env), key: key ?? 'task:{id}', ttlMs: ttl ?? limits.taskTtlMs };
}

/** `TROUPE_HOME` moves all state that is in files, so it also moves a ledger file that a setting puts elsewhere. */
function ledgerOf(root: string, home: string, env: ConfigPlaces['env'], setting: string | undefined): LedgerAddress {
  const named = env['TROUPE_LEDGER'] || setting;
  const address = named === undefined ? undefined : parseLedgerAddress(named, root);
  if (named !== undefined && address === undefined) throw unknownAddress();
  const moved = env['TROUPE_HOME'] && !env['TROUPE_LEDGER'] && address?.kind === 'sqlite';
  return address === undefined || moved ? sqliteAddress(join(home, LEDGER_FILE)) : address;
}

function clusterOf(setting: string | undefined): RestateAddress | undefined {
  if (setting === undefined || setting === 'embedded') return undefined;
  const address = parseRestateAddress(setting);
  if (address.ok) return address.value;
  throw new TroupeError('config', `The engine ${address.error}.`, { fix: 'Or write embedded: this process works on its runs.' });
}

/** Where a person keeps settings and agents for all projects. */
export function userFolder(env: ConfigPlaces['env']): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'troupe');
}

/** `shown` is how problems name the file: as short as a person in the project needs it. */
async function readSettings(path: string, shown = path): Promise<Result<SettingsFile, readonly Diagnostic[]>> {
  if (!(await isThere(path))) return ok({ path, settings: undefined });
  const text = await readText(path);
  if (!text.ok) return fail([errorAt({ file: shown, line: 1, column: 1 }, `this file ${text.error.message}`, text.error.fix)]);
  // The YAML parser and the schema are loaded only for a project that has settings.
  const { parseSettings } = await import('./settings-file.ts');
  const { settingsSchema } = await import('./settings.ts');
  const parsed = parseSettings(shown, text.value, settingsSchema);
  if (!parsed.ok) return parsed;
  const read = await placesIn(parsed.value, shown);
  const wrong = read.agents?.problems.filter(isError) ?? [];
  return wrong.length > 0 ? fail(arrange(wrong)) : ok({ path, ...read });
}

async function placesIn({ value, placeOf }: ParsedSettings<Settings>, shown: string): Promise<Omit<SettingsFile, 'path'>> {
  const { rightsIn } = await import('../agents/definition/tool-names.ts');
  const named = rightsIn(value.permissions ?? {}).map(({ path, ...right }) => ({
    ...right,
    place: placeOf(['permissions', ...path], 'key'),
  }));
  const verifyPlaces = value.verify?.commands.map((_, index) => placeOfDemand(placeOf, index)) ?? [];
  const namedAgents = agentsIn(value).map(({ name, key, path }) => ({ name, key, place: placeOf(path) }));
  const modelPlaces = value.model === undefined ? [] : [{ models: value.model, place: placeOf(['model']) }];
  const agents = await elsewhere(value, placeOf, shown);
  const cardKeyPlace = value.a2a?.key === undefined ? undefined : placeOf(['a2a', 'key']);
  return { settings: value, named, namedAgents, verifyPlaces, modelPlaces, ...present({ agents, cardKeyPlace }) };
}

/** Loaded only for settings that name some. */
async function elsewhere({ agents }: Settings, placeOf: PlaceOf, shown: string): Promise<AgentsInSettings | undefined> {
  if (agents === undefined) return undefined;
  const { agentsInSettings } = await import('./settings-agents.ts');
  return agentsInSettings(agents, placeOf, shown === CONFIG_FILE ? 'project' : 'user');
}

interface AgentAt extends Pick<NamedAgent, 'name' | 'key'> {
  readonly path: readonly (string | number)[];
}

function agentsIn({ serve = {}, a2a = {} }: Settings): readonly AgentAt[] {
  const listed = (path: readonly string[], names: readonly string[] = []): readonly AgentAt[] =>
    names.map((name, index) => ({ name, key: path.join('.'), path: [...path, index] }));
  const callers = Object.entries(serve.callers ?? {}).flatMap(([caller, { spawn }]) =>
    listed(['serve', 'callers', caller, 'spawn'], spawn).filter(({ name }) => name !== '*'),
  );
  const doors = (['openai', 'agui'] as const).flatMap((door) => {
    const said = serve[door];
    return listed(['serve', door, 'agents'], typeof said === 'object' ? said.agents : undefined);
  });
  const house = a2a.house === undefined ? [] : [{ name: a2a.house, key: 'a2a.house', path: ['a2a', 'house'] }];
  const commands = typeof serve.commands === 'string' ? [] : serve.commands;
  return [...callers, ...doors, ...listed(['serve', 'commands'], commands), ...listed(['a2a', 'agents'], a2a.agents), ...house];
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
