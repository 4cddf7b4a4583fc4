/** Which models `config.json` gives a team: an agent's own override, then the team's default, then what its charter prefers. */
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { plainName } from '../presets/preset.ts';
import { settledModel } from './charter.ts';

export interface SquadConfig {
  readonly whole: JsonObject;
  readonly defaultModel: string | undefined;
  readonly overrides: JsonObject;
}

export const NO_CONFIG: SquadConfig = { whole: {}, defaultModel: undefined, overrides: {} };

export function readSquadConfig(text: string): Result<SquadConfig, string> {
  const parsed = parseJson(text.replace(/^\ufeff/, ''));
  if (!parsed.ok) return fail(`is not JSON (${parsed.error})`);
  if (!isJsonObject(parsed.value)) return fail('is not an object');
  const { defaultModel, agentModelOverrides } = parsed.value;
  const overrides = isJsonObject(agentModelOverrides) ? agentModelOverrides : {};
  return ok({ whole: parsed.value, overrides, defaultModel: settledModel(modelWord(defaultModel)) });
}

/** `auto` for an agent means that whoever runs it chooses, whatever the rest says. */
export function modelOf(config: SquadConfig, names: readonly string[], charter: string | undefined): string | undefined {
  const key = names.map((name) => overrideKey(config, name)).find((found) => found !== undefined);
  const own = key === undefined ? undefined : modelWord(config.overrides[key]);
  return own === undefined ? (config.defaultModel ?? charter) : settledModel(own);
}

export function overrideKey(config: SquadConfig, name: string): string | undefined {
  return Object.keys(config.overrides).find((key) => plainName(key) === plainName(name));
}

/** The file with these overrides; everything else in it stays. */
export function withOverrides(config: SquadConfig, models: ReadonlyMap<string, string | undefined>): string {
  const added = [...models].map(([name, model]) => [overrideKey(config, name) ?? plainName(name), model ?? 'auto'] as const);
  const agentModelOverrides = { ...config.overrides, ...Object.fromEntries(added) };
  return `${JSON.stringify({ ...config.whole, agentModelOverrides }, null, 2)}\n`;
}

const modelWord = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
