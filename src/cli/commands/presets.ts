/** `troupe presets list|show|import`: which groups are at hand, where each comes from, and what it says. */

import { resolve } from 'node:path';
import { rightsIn } from '../../agents/definition/tool-names.ts';
import { badges, type PresetCatalogue } from '../../agents/preset-tiers.ts';
import { readPresets, savePresets, userPresetsFile } from '../../agents/presets/file.ts';
import type { GroupPreset } from '../../agents/presets/preset.ts';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import { findNamedPreset, presetsValue, presetValue, readPresetsOf } from '../../front/project/presets.ts';
import { loadConfig, userFolder } from '../../project/config.ts';
import { firstLine } from '../../projections/readable.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

const DESCRIPTION_CHARACTERS = 100;

/** The preset that is meant, by name or by tier and name. */
export function presetNamed(catalogue: PresetCatalogue, word: string): GroupPreset {
  const found = findNamedPreset(catalogue, word);
  if (found.ok) return found.value;
  const { code, message, fix } = found.error;
  throw new TroupeError(code, message, { fix });
}

export async function presetsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const catalogue = await presetsOf(context);
  if (options.json) printJson(context, 'presets list', presetsValue(catalogue));
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
  const shown = presetValue(catalogue, preset);
  if (options.json) printJson(context, 'presets show', shown);
  else {
    printPreset(context, preset);
    warn(context, shown.warnings);
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

/** What the settings make of models is settled here: a preset from elsewhere may name some that nobody has. */
export async function presetsOf({ cwd, terminal: { env } }: CommandContext): Promise<PresetCatalogue> {
  const config = await loadConfig({ cwd, env });
  if (!config.ok) {
    throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), { fix: 'correct the settings and try again' });
  }
  return await readPresetsOf(config.value, env);
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

function warn({ terminal: { progress } }: CommandContext, warnings: readonly string[]): void {
  for (const one of warnings) progress.line(`${progress.paint.yellow('warning')}: ${safeText(one)}`);
}
