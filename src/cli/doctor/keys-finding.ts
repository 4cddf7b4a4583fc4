/** Which keys are there and what became of them when models were asked. Names only: what a key holds is never shown. */
import { join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import type { Finding } from '../../front/project/finding.ts';
import { keyFlaw, keyVariables, setting } from '../../models/provider/providers.ts';
import { DOT_ENV, type ProjectConfig } from '../../project/config.ts';
import { heldKeyFix, heldKeyText } from '../drive/passed-over.ts';
import type { ModelFindings } from './model-findings.ts';

const about = 'keys';

/** Without settings that could be read, only the variables count that everybody knows. */
export function keysFindings(
  env: Environment,
  config: ProjectConfig | undefined,
  tried: ModelFindings['keys'],
): readonly Finding[] {
  const keys = keysFinding(env, config, tried);
  const file = join(config?.root ?? '', DOT_ENV);
  const problem = config?.dotEnvProblem;
  const held = (config?.dotEnvHeld ?? []).map((one): Finding => {
    return { about: DOT_ENV, state: 'note', text: heldKeyText(file, one), fix: heldKeyFix(one) };
  });
  if (problem === undefined) return [keys, ...held];
  const fix = 'write the keys into a plain file there, or set them in the environment';
  return [keys, { about: DOT_ENV, state: 'note', text: `${file} ${problem}: no key is taken from it`, fix }];
}

function keysFinding(env: Environment, config: ProjectConfig | undefined, tried: ModelFindings['keys']): Finding {
  const { keyEnv = env, providers = {}, fromDotEnv = [], root = '' } = config ?? {};
  const found = keysIn(keyEnv, providers).map(({ variable, providers: of }): Key => {
    const flaw = keyFlaw(setting(keyEnv, variable) ?? '');
    const refusing = of.filter((name) => tried.get(name) === 'refused');
    const name = fromDotEnv.includes(variable) ? `${variable} (from ${join(root, DOT_ENV)})` : variable;
    if (flaw !== undefined) return { state: 'wrong', text: `${name} has ${flaw}` };
    if (refusing.length > 0) return { state: 'wrong', text: `${name} is refused by ${refusing.join(', ')}` };
    return of.some((one) => tried.get(one) === 'works')
      ? { state: 'works', text: `${name} works` }
      : { state: 'open', text: `${name} is set, not tried` };
  });
  if (found.length === 0) return none(providers, [...tried.values()].includes('works'));
  const text = found.map((key) => key.text).join('; ');
  if (!found.some(({ state }) => state === 'wrong')) return { about, state: 'good', text };
  const works = [...tried.values()].includes('works');
  return { about, state: works ? 'note' : 'broken', text, fix: 'set the right key: one line, as the provider shows it' };
}

interface Key {
  readonly state: 'works' | 'wrong' | 'open';
  readonly text: string;
}

/** The variables that are set, each with the providers that it is for. */
function keysIn(env: Environment, configured: ProjectConfig['providers']) {
  const wanted: Readonly<Record<string, readonly string[]>> = {
    ...keyVariables,
    ...Object.fromEntries(
      Object.entries(configured).map(([name, { apiKeyEnv }]) => [name, apiKeyEnv === undefined ? [] : [apiKeyEnv]]),
    ),
  };
  const all = [...new Set([...Object.values(keyVariables).flat(), ...Object.values(wanted).flat()])];
  return all
    .filter((variable) => setting(env, variable) !== undefined)
    .map((variable) => ({
      variable,
      providers: Object.entries(wanted).flatMap(([name, variables]) => (variables.includes(variable) ? [name] : [])),
    }));
}

function none(providers: ProjectConfig['providers'], works: boolean): Finding {
  if (works) return { about, state: 'good', text: 'none in the environment, and what answers needs none' };
  const own = Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const names = own.length > 0 ? own : ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'];
  const fix = `set ${names.join(' or ')}, here or in .env of the project, or use Ollama`;
  return { about, state: 'note', text: 'none in the environment', fix };
}
