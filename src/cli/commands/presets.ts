/** `troupe presets list|show|import`: which groups are at hand, where each comes from, and what it says. */

import { basename, resolve } from 'node:path';
import { rightsIn } from '../../agents/definition/tool-names.ts';
import { badges, findPreset, type ListedPreset, type PresetCatalogue, readPresetCatalogue } from '../../agents/preset-tiers.ts';
import { readPresets, savePresets, userPresetsFile } from '../../agents/presets/file.ts';
import type { KnownModel } from '../../agents/presets/models.ts';
import { type GroupPreset, plainName } from '../../agents/presets/preset.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import { providerNames } from '../../models/provider/providers.ts';
import { loadConfig, type ProjectConfig, serverNames, userFolder } from '../../project/config.ts';
import { firstLine } from '../../projections/readable.ts';
import type { JsonOf } from '../json/contract.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { printTable } from '../view/table.ts';

const DESCRIPTION_CHARACTERS = 100;

export async function presetsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const catalogue = await presetsOf(context);
  if (options.json) printJson(context, 'presets list', { presets: catalogue.listed.map(outline), warnings: catalogue.warnings });
  else {
    const rows = catalogue.listed.map(({ preset, shadowedBy }) => [
      safeLine(preset.name),
      shadowedBy === undefined ? badges[preset.source.tier] : `${badges[preset.source.tier]}, shadowed by ${shadowedBy}`,
      preset.mode,
      String(preset.workers.length),
      safeLine(firstLine(preset.description, DESCRIPTION_CHARACTERS)),
    ]);
    printTable(context.terminal.out, ['PRESET', 'FROM', 'MODE', 'WORKERS', 'DESCRIPTION'], rows);
    warn(context, catalogue.warnings);
  }
  return exitCodes.completed;
}

export async function presetsShowCommand(context: CommandContext, word: string, options: JsonOption): Promise<ExitCode> {
  const catalogue = await presetsOf(context);
  const preset = presetNamed(catalogue, word);
  // Also of one that is passed over, so that this one is shown in its place.
  const isAbout = (one: string): boolean => plainName(/preset "(.+?)"/.exec(one)?.[1] ?? '') === plainName(preset.name);
  const { tier, path = '' } = preset.source;
  const isOfSquad = (one: string): boolean => tier === 'repo' && one.startsWith(`${basename(path)}/`);
  const warnings = catalogue.warnings.filter((one) => one.includes(`"${preset.name}"`) || isAbout(one) || isOfSquad(one));
  if (options.json) printJson(context, 'presets show', { ...preset, badge: badges[preset.source.tier], warnings });
  else {
    printPreset(context, preset);
    warn(context, warnings);
  }
  return exitCodes.completed;
}

export async function presetsImportCommand(context: CommandContext, file: string, options: JsonOption): Promise<ExitCode> {
  const text = await readText(resolve(context.cwd, file));
  if (!text.ok) throw usageError(`${file} ${text.error.message}`, text.error.fix);
  const read = readPresets(text.value);
  if (!read.ok) throw usageError(`${file} ${read.error}`, 'a list of presets is needed, ours or that of PolyPilot');
  const { presets, warnings } = read.value;
  const path = userPresetsFile(userFolder(context.terminal.env));
  if (presets.length > 0) {
    const saved = await savePresets(path, presets);
    if (!saved.ok) throw new TroupeError('io', `${path} ${saved.error.message}`, { fix: saved.error.fix });
  }
  const names = presets.map(({ name }) => name);
  if (options.json) printJson(context, 'presets import', { imported: names, file: path, warnings });
  else {
    for (const name of names) context.terminal.out.line(safeLine(name));
    context.terminal.progress.line(`${counted(names.length, 'preset')} in ${path}`);
    warn(context, warnings);
  }
  return names.length === 0 && warnings.length > 0 ? exitCodes.usage : exitCodes.completed;
}

/** The preset that is meant, by name or by tier and name. */
export function presetNamed(catalogue: PresetCatalogue, word: string): GroupPreset {
  const found = findPreset(catalogue, word);
  if (found.ok) return found.value;
  const name = plainName(word.replace(/^user:/i, ''));
  const why = catalogue.warnings.find((one) => plainName(/preset "(.+?)" is passed over/.exec(one)?.[1] ?? '') === name);
  if (why !== undefined && name !== '')
    throw new TroupeError('unknown_preset', `The preset "${word}" cannot be used: ${why}`, {
      fix: 'correct the file and try again',
    });
  throw new TroupeError('unknown_preset', `There is no preset "${word}"`, { fix: found.error });
}

/** What the settings make of models is settled here: a preset from elsewhere may name some that nobody has. */
export async function presetsOf({ cwd, terminal: { env } }: CommandContext): Promise<PresetCatalogue> {
  const config = await loadConfig({ cwd, env });
  if (!config.ok) {
    throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), { fix: 'correct the settings and try again' });
  }
  const { root } = config.value;
  const knownModel = modelsKnownTo(config.value, env);
  const servers = serverNames(config.value);
  return await readPresetCatalogue({ projectRoot: root, userConfigDir: userFolder(env), knownModel, servers });
}

/** Whether there is a provider for a model; which ones it has, only the provider knows. */
export function modelsKnownTo({ providers }: Pick<ProjectConfig, 'providers'>, env: Terminal['env']): KnownModel {
  const names = providerNames({ env, providers });
  return (model) =>
    /^(scripted|recorded):/.test(model) || names.some((name) => model.startsWith(`${name}/`) && model.length > name.length + 1);
}

function printPreset({ terminal: { out } }: CommandContext, preset: GroupPreset): void {
  const { name, emoji, description, mode, orchestrator, workers, maxIterations, worktrees, source } = preset;
  out.line(safeLine(`${emoji === undefined ? '' : `${emoji} `}${name}`));
  if (description !== '') out.line(safeText(description));
  out.line();
  const line = (key: string, value: string | number | undefined): void => {
    if (value !== undefined) out.line(`${out.paint.dim(key)}  ${safeLine(String(value))}`);
  };
  line('from', source.path === undefined ? badges[source.tier] : `${badges[source.tier]} (${source.path})`);
  line('mode', mode);
  line('iterations', maxIterations === undefined ? undefined : `at most ${maxIterations}`);
  line('worktrees', worktrees);
  line('orchestrator', orchestrator.model);
  if (orchestrator.prompt !== undefined) out.line(`\n${safeText(orchestrator.prompt)}`);
  for (const worker of workers) {
    const heading = [worker.name, ...(worker.role === undefined ? [] : [worker.role])].join(': ');
    const rights = rightsIn(worker.permissions ?? {}).flatMap(({ path, permission }) =>
      permission === undefined ? [] : [`${path.join(' ')}: ${permission}`],
    );
    const details = [worker.model, worker.tools?.join(' '), ...rights].filter((one) => one !== undefined).join(', ');
    out.line(`\n${safeLine(heading)}${details === '' ? '' : out.paint.dim(`  (${safeLine(details)})`)}`);
    if (worker.charter !== undefined) out.line(safeText(worker.charter));
  }
  for (const [key, text] of [
    ['shared context', preset.sharedContext],
    ['routing', preset.routingContext],
  ] as const) {
    if (text !== undefined) out.line(`\n${out.paint.dim(key)}\n${safeText(text)}`);
  }
}

function outline({ preset, shadowedBy }: ListedPreset): JsonOf<'presets list'>['presets'][number] {
  const { name, description, mode, workers, source } = preset;
  const reference = `${source.tier}:${name}`;
  const names = workers.map((worker) => worker.name);
  return {
    name,
    reference,
    tier: source.tier,
    badge: badges[source.tier],
    path: source.path ?? null,
    mode,
    workers: names,
    description,
    shadowedBy: shadowedBy ?? null,
  };
}

function warn({ terminal: { progress } }: CommandContext, warnings: readonly string[]): void {
  for (const one of warnings) progress.line(`${progress.paint.yellow('warning')}: ${safeText(one)}`);
}
