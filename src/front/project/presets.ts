/** Whole groups at hand: the repository's, the user's own and those that come along. */
import { basename } from 'node:path';
import { badges, findPreset, type ListedPreset, type PresetCatalogue, readPresetCatalogue } from '../../agents/preset-tiers.ts';
import type { KnownModel } from '../../agents/presets/models.ts';
import { type GroupPreset, plainName } from '../../agents/presets/preset.ts';
import type { Environment } from '../../base/environment.ts';
import { fail, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { providerNames } from '../../models/provider/providers.ts';
import { type ProjectConfig, serverNames, userFolder } from '../../project/config.ts';

/** What the settings make of models is settled here: a preset from elsewhere may name some that nobody has. */
export async function readPresetsOf(config: ProjectConfig, env: Environment): Promise<PresetCatalogue> {
  const knownModel = modelsKnownTo(config, env);
  const servers = serverNames(config);
  return await readPresetCatalogue({ projectRoot: config.root, userConfigDir: userFolder(env), knownModel, servers });
}

/** Whether there is a provider for a model; which ones it has, only the provider knows. */
export function modelsKnownTo({ providers }: Pick<ProjectConfig, 'providers'>, env: Environment): KnownModel {
  const names = providerNames({ env, providers });
  return (model) =>
    /^(scripted|recorded):/.test(model) || names.some((name) => model.startsWith(`${name}/`) && model.length > name.length + 1);
}

/** The preset that is meant, by name or by tier and name. */
export function findNamedPreset(catalogue: PresetCatalogue, word: string): Result<GroupPreset, Failure> {
  const found = findPreset(catalogue, word);
  if (found.ok) return found;
  const name = plainName(word.replace(/^user:/i, ''));
  const why = catalogue.warnings.find((one) => plainName(/preset "(.+?)" is passed over/.exec(one)?.[1] ?? '') === name);
  const code = 'unknown_preset';
  if (why !== undefined && name !== '')
    return fail({ code, message: `The preset "${word}" cannot be used: ${why}`, fix: 'correct the file and try again' });
  return fail({ code, message: `There is no preset "${word}"`, fix: found.error });
}

/** The same for programs. */
export const presetsValue = ({ listed, warnings }: PresetCatalogue) => ({ presets: listed.map(outline), warnings });

export function presetValue({ warnings }: PresetCatalogue, preset: GroupPreset) {
  // Also of one that is passed over, so that this one is shown in its place.
  const isAbout = (one: string): boolean => plainName(/preset "(.+?)"/.exec(one)?.[1] ?? '') === plainName(preset.name);
  const { tier, path = '' } = preset.source;
  const isOfSquad = (one: string): boolean => tier === 'repo' && one.startsWith(`${basename(path)}/`);
  const about = warnings.filter((one) => one.includes(`"${preset.name}"`) || isAbout(one) || isOfSquad(one));
  return { ...preset, badge: badges[tier], warnings: about };
}

function outline({ preset, shadowedBy }: ListedPreset) {
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
