/**
 * All presets at hand, in three tiers: those of the repository count before the user's, and those before the built-in ones.
 * One that is shadowed by another of the same name stays within reach as `built-in:name`, `user:name` or `repo:name`.
 */

import { nearest } from '../base/did-you-mean.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { builtInPresets } from './presets/built-in.ts';
import { readPresetFile, userPresetsFile } from './presets/file.ts';
import { type KnownModel, withKnownModels } from './presets/models.ts';
import { type GroupPreset, type PresetTier, plainName, presetTiers } from './presets/preset.ts';
import { readSquad } from './squad/read.ts';
import { formatDiagnostic } from './text/diagnostics.ts';

export interface PresetPlaces {
  readonly projectRoot?: string | undefined;
  /** Such as `~/.config/troupe`. */
  readonly userConfigDir?: string | undefined;
  /** Without it every model that a preset names is taken at its word. */
  readonly knownModel?: KnownModel | undefined;
  /** The MCP servers of the settings, which rights may name. */
  readonly servers?: readonly string[] | undefined;
}

export interface ListedPreset {
  readonly preset: GroupPreset;
  /** Of a stronger tier, with the same name. */
  readonly shadowedBy?: PresetTier | undefined;
}

export interface PresetCatalogue {
  /** Strongest tier first, in each as in its file. */
  readonly listed: readonly ListedPreset[];
  readonly warnings: readonly string[];
}

/** What a person sees of where a preset comes from. */
export const badges: Readonly<Record<PresetTier, string>> = { repo: '📂 repo', user: '👤 user', 'built-in': '📦 built-in' };

export async function readPresetCatalogue(places: PresetPlaces): Promise<PresetCatalogue> {
  const squad = places.projectRoot === undefined ? undefined : await readSquad(places.projectRoot);
  const path = places.userConfigDir === undefined ? undefined : userPresetsFile(places.userConfigDir);
  const user = path === undefined ? { presets: [], warnings: [] } : await readPresetFile(path, places.servers);
  const all: readonly GroupPreset[] = [
    ...(squad?.team === undefined ? [] : [squad.team.preset]),
    ...user.presets.map((preset): GroupPreset => ({ ...preset, source: { tier: 'user', path } })),
    ...builtInPresets(),
  ];
  const settled = all.map((preset) =>
    places.knownModel === undefined ? { preset, warnings: [] } : withKnownModels(preset, places.knownModel),
  );
  return {
    listed: shadow(settled.map(({ preset }) => preset)),
    warnings: [
      ...(squad?.warnings ?? []).map(formatDiagnostic),
      ...user.warnings,
      ...settled.flatMap(({ warnings }) => warnings),
    ],
  };
}

/** Strongest first, so the first of a name is the one that counts. */
function shadow(presets: readonly GroupPreset[]): readonly ListedPreset[] {
  const first = new Map<string, PresetTier>();
  return presets.map((preset) => {
    const key = plainName(preset.name);
    const stronger = first.get(key);
    if (stronger === undefined) first.set(key, preset.source.tier);
    return { preset, ...present({ shadowedBy: stronger }) };
  });
}

/** By name, in any spelling of case and hyphens, or by tier and name. Fails with what to say to the person. */
export function findPreset(catalogue: PresetCatalogue, word: string): Result<GroupPreset, string> {
  const tier = presetTiers.find((one) => word.toLowerCase().startsWith(`${one}:`));
  const wanted = plainName(tier === undefined ? word : word.slice(tier.length + 1));
  const among = catalogue.listed.filter(({ preset }) => tier === undefined || preset.source.tier === tier);
  const found = among.find(({ preset }) => plainName(preset.name) === wanted);
  if (found !== undefined) return ok(found.preset);
  const names = [...new Set(among.map(({ preset }) => preset.name))];
  const guess = nearest(wanted, names);
  return fail(guess === undefined ? `known presets: ${names.join(', ') || 'none'}` : `did you mean "${guess}"?`);
}
