/**
 * Models that presets name. Other tools write bare names (`claude-opus-4.6`), here a name has its provider in front. A name
 * that nobody here knows falls back to the project's model, with a warning: a team from a stranger's repository still runs.
 */
import type { GroupPreset } from './preset.ts';

/** Whether a model of this name, `provider/model`, can be asked for. */
export type KnownModel = (model: string) => boolean;

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(gpt-|o\d|codex-)/, 'openai'],
  [/^gemini-/, 'google'],
];

/** The model as it is called here; `undefined` when it is not known under any name. */
export function modelNamed(name: string, known: KnownModel): string | undefined {
  if (known(name)) return name;
  const family = FAMILIES.find(([pattern]) => pattern.test(name.toLowerCase()));
  if (family === undefined || name.includes('/')) return undefined;
  const [, provider] = family;
  // Anthropic writes its versions with a hyphen: claude-opus-4-6.
  const spelled = provider === 'anthropic' ? name.toLowerCase().replaceAll('.', '-') : name.toLowerCase();
  return known(`${provider}/${spelled}`) ? `${provider}/${spelled}` : undefined;
}

/** The preset with models that can be asked for, and a sentence for each that cannot. */
export function withKnownModels(
  preset: GroupPreset,
  known: KnownModel,
): { readonly preset: GroupPreset; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const settle = <Part extends { readonly model?: string | undefined }>(part: Part, who: string): Part => {
    if (part.model === undefined) return part;
    const model = modelNamed(part.model, known);
    if (model === undefined) warnings.push(`${who} asks for the model "${part.model}", which is not known: the default is used`);
    const { model: _, ...rest } = part;
    return (model === undefined ? rest : { ...part, model }) as Part;
  };
  const orchestrator = settle(preset.orchestrator, `the orchestrator of "${preset.name}"`);
  const workers = preset.workers.map((worker) => settle(worker, `"${worker.name}" of "${preset.name}"`));
  return { preset: { ...preset, orchestrator, workers }, warnings };
}
