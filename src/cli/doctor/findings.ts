/** The checks behind `troupe doctor`. Each looks at one thing, never throws, and says how to put it right. */

import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { Finding } from '../../front/project/finding.ts';
import { agentsFinding, diskFinding, diskSpace, nodeFinding } from '../../front/project/project-findings.ts';
import { SEAL_VARIABLE, sealKeyState } from '../../ledger/seals/keys.ts';
import { ollamaAddress } from '../../models/provider/providers.ts';
import { loadConfig, type ProjectConfig } from '../../project/config.ts';
import { type CommandContext, withProject } from '../terminal/command.ts';
import { type CheckedFiles, checkEverything } from './check-files.ts';
import { keysFindings } from './keys-finding.ts';
import { damageFix, damageText } from './ledger-damage.ts';
import type { ModelFindings } from './model-findings.ts';

const PROBE_MS = 1_000;

type Check = readonly [about: string, check: () => Promise<Finding | readonly Finding[]>];

/** `offline`: no model and no address is asked. */
export async function findings(context: CommandContext, offline: boolean): Promise<readonly Finding[]> {
  const config = await loadConfig({ cwd: context.cwd, env: context.terminal.env });
  const project = config.ok ? config.value : undefined;
  const checked = checkEverything(context);
  const models = tryModels(context, project, checked, offline);
  const checks: readonly Check[] = [
    ['node', async () => nodeFinding()],
    ['git', gitFinding],
    ['agents', async () => agentsFinding(await checked)],
    ['presets', async () => presetsFinding(await checked)],
    ['model', async () => (await models).findings],
    ['mcp', () => tryServers(context, project, checked, offline)],
    ['remote', () => tryRemote(context, project, checked, offline)],
    ['executor', () => tryExecutors(context, project, checked, offline)],
    ['ledger', () => ledgerFinding(context, project)],
    ...(offline ? [] : redisChecks(context, project)),
    ...clusterChecks(context, project),
    ['sandbox', () => trySandbox(context, project)],
    ['seal', () => sealFinding(context, project)],
    ['disk', async () => diskFinding(await diskSpace(project?.root ?? context.cwd))],
    ['keys', async () => keysFindings(context.terminal.env, project, (await models.catch(() => NOT_TRIED)).keys)],
    ...(offline ? [] : [['ollama', () => ollamaFinding(context)] satisfies Check]),
  ];
  const found = await Promise.all(
    checks.map(([about, check]) =>
      check().catch((error: unknown): Finding => {
        const fix = error instanceof TroupeError ? error.fix : undefined;
        return { about, state: 'broken', text: messageOf(error), fix };
      }),
    ),
  );
  return found.flat();
}

const NOT_TRIED: ModelFindings = { findings: [], keys: new Map() };

/** What is only known by trying it. Loaded when it is tried. */
async function tryModels(
  context: CommandContext,
  config: ProjectConfig | undefined,
  checked: Promise<CheckedFiles>,
  offline: boolean,
): Promise<ModelFindings> {
  if (config === undefined) return NOT_TRIED;
  const { modelFindings } = await import('./model-findings.ts');
  return await modelFindings(context, { config, offline, agents: (await checked).agents });
}

async function tryServers(
  context: CommandContext,
  config: ProjectConfig | undefined,
  checked: Promise<CheckedFiles>,
  offline: boolean,
): Promise<readonly Finding[]> {
  if (config === undefined) return [];
  const { serverFindings } = await import('./server-findings.ts');
  return await serverFindings(context, { config, offline, agents: (await checked).agents });
}

/** Loaded only for a project that has some. */
async function tryRemote(
  context: CommandContext,
  config: ProjectConfig | undefined,
  checked: Promise<CheckedFiles>,
  offline: boolean,
): Promise<readonly Finding[]> {
  const agents = (await checked).agents.filter(({ definition }) => definition.remote !== undefined);
  if (config === undefined || agents.length === 0) return [];
  if (offline) return [{ about: 'remote', state: 'note', text: `${counted(agents.length, 'agent')} not asked (--offline)` }];
  return await (await import('./remote-findings.ts')).remoteFindings(context, config, agents);
}

/** Loaded only for a project that has some. */
async function tryExecutors(
  context: CommandContext,
  config: ProjectConfig | undefined,
  checked: Promise<CheckedFiles>,
  offline: boolean,
): Promise<readonly Finding[]> {
  const { agents, diagnostics } = await checked;
  if (config === undefined) return [];
  const { executorFindings } = await import('./executor-findings.ts');
  return await executorFindings(context, { config, agents, diagnostics, offline });
}

/** Found out by starting one. */
async function trySandbox({ terminal }: CommandContext, config: ProjectConfig | undefined): Promise<readonly Finding[]> {
  if (config === undefined) return [];
  return [await (await import('./sandbox-finding.ts')).sandboxFinding(config.sandbox, terminal.env)];
}

/** Loaded only for a project that has one. */
function redisChecks({ clock }: CommandContext, config: ProjectConfig | undefined): readonly Check[] {
  const settings = config?.taskRedis;
  return settings === undefined
    ? []
    : [['redis', async () => (await import('./redis-finding.ts')).redisFinding(settings, clock)]];
}

/** Loaded only for a project on a cluster. */
function clusterChecks(context: CommandContext, config: ProjectConfig | undefined): readonly Check[] {
  const cluster = config?.cluster;
  if (config === undefined || cluster === undefined) return [];
  const load = () => import('./cluster.ts');
  return [
    ['restate', async () => (await load()).ingressFinding(cluster, config)],
    ['restate-admin', async () => (await load()).adminFinding(context, cluster, config)],
    ['workers', async () => (await load()).workersFinding(context, cluster, config)],
  ];
}

async function gitFinding(): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { timeout: PROBE_MS * 5 });
    return { about: 'git', state: 'good', text: stdout.trim() };
  } catch {
    return { about: 'git', state: 'note', text: 'not found', fix: 'install git to let agents work in branches' };
  }
}

/** Nothing while all of them can be used. */
function presetsFinding({ presets }: CheckedFiles): readonly Finding[] {
  return presets.map(({ file, message }) => ({
    about: 'presets',
    state: 'note',
    text: `${file}: ${message}`,
    fix: 'correct the file; troupe presets list shows what is left of it',
  }));
}

async function ledgerFinding(context: CommandContext, config: ProjectConfig | undefined): Promise<Finding> {
  if (config === undefined)
    return { about: 'ledger', state: 'note', text: 'not looked at: the settings have problems', fix: 'troupe check' };
  const about = 'ledger';
  if (config.ledgerAddress.kind === 'postgres') return await serverFinding(context, config);
  if (!(await isAllowed(config.ledger, constants.F_OK))) {
    const folder = await nearestFolder(dirname(config.ledger));
    const writable = await isAllowed(folder, constants.W_OK);
    if (writable) return { about, state: 'good', text: `none yet; the first run makes ${config.ledger}` };
    return { about, state: 'broken', text: `${folder} cannot be written`, fix: 'change its permissions, or set TROUPE_HOME' };
  }
  if (!(await isAllowed(config.ledger, constants.W_OK))) {
    return { about, state: 'broken', text: `${config.ledger} is read-only`, fix: 'change its permissions, or set TROUPE_HOME' };
  }
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const report = await ledger.verify();
    if (report.kind === 'sound')
      return { about, state: 'good', text: `${counted(report.events, 'event')}, sound, in ${config.ledger}` };
    return { about, state: 'broken', text: damageText(report), fix: damageFix(report) };
  });
}

/** A server may hold very much: it is asked for its figures, not read through. */
async function serverFinding(context: CommandContext, { ledger: shown }: ProjectConfig): Promise<Finding> {
  const about = 'ledger';
  try {
    return await withProject(context, { readOnly: true }, async ({ ledger }) => {
      const { events, sessions } = await ledger.stats();
      return { about, state: 'good', text: `${counted(events, 'event')} in ${counted(sessions, 'session')} at ${shown}` };
    });
  } catch (error) {
    const isNew = error instanceof TroupeError && error.code === 'ledger_missing' && error.message.includes('no ledger');
    if (!isNew) throw error;
    return { about, state: 'good', text: `none yet; the first run makes it at ${shown}` };
  }
}

/** Ids only: they follow from the keys and say nothing about them. */
async function sealFinding({ terminal: { env } }: CommandContext, config: ProjectConfig | undefined): Promise<Finding> {
  const about = 'seal';
  const { place, ids, problem } = sealKeyState(env);
  const [newest, ...older] = ids;
  if (problem !== undefined) return { about, state: 'broken', text: `${place}: ${problem}`, fix: `chmod 600 ${place}` };
  if (config?.cluster !== undefined && place !== SEAL_VARIABLE) {
    const fix = `set ${SEAL_VARIABLE} to the same key on every machine: openssl rand -base64 32`;
    return { about, state: 'note', text: `a worker cannot open what another one sealed: the key is in ${place}`, fix };
  }
  if (newest === undefined) return { about, state: 'good', text: `no key yet; the first secret to seal makes ${place}` };
  const others = older.length === 0 ? '' : `; ${older.join(', ')} still open`;
  return { about, state: 'good', text: `key ${newest} in ${place}${others}` };
}

async function ollamaFinding({ terminal: { env } }: CommandContext): Promise<Finding> {
  const url = ollamaAddress(env);
  try {
    const response = await fetch(`${url}/api/version`, { signal: AbortSignal.timeout(PROBE_MS) });
    if (response.ok) return { about: 'ollama', state: 'good', text: `answers at ${url}` };
  } catch {
    // Not there: said below.
  }
  return { about: 'ollama', state: 'note', text: `no answer at ${url}`, fix: 'only needed without a key: ollama serve' };
}

async function isAllowed(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

async function nearestFolder(path: string): Promise<string> {
  let folder = path;
  while (!(await isAllowed(folder, constants.F_OK)) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
