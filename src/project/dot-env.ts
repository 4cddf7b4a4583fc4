/**
 * Keys from `.env` of the project's own folder: never of a folder above it, and never through a link. Only the variables that
 * the project needs are taken: keys of providers, and what its MCP servers name. The rest of the file is as if it were not
 * there: a file of a repository can neither lead a key to another address nor change how commands run. The real environment wins.
 * A key beside the address of another server is that one's: without its address it is not taken either.
 */
import { lstat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { readText } from '../agents/text/read-text.ts';
import { type Environment, variablesNamed } from '../base/environment.ts';
import { present } from '../base/present.ts';
import { addressVariables, keyVariables, setting } from '../models/provider/providers.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';
import type { Settings } from './settings.ts';

export interface DotEnv {
  /** The environment with the keys of the file; for models and the project's MCP servers, never for commands. */
  readonly keyEnv: Environment;
  /** The variables that were taken. */
  readonly fromDotEnv: readonly string[];
  /** All that the file holds: what is secret of it is redacted, taken or not. */
  readonly dotEnv: Environment;
  /** Why the file that is there is passed over, to go on with "`.env`". */
  readonly dotEnvProblem?: string | undefined;
  /** Keys that are for an address in the file: that is not taken, so they are not. */
  readonly dotEnvHeld?: readonly HeldKey[] | undefined;
}

interface HeldKey {
  readonly key: string;
  readonly address: string;
}

const isSet = (from: Environment, name: string): boolean => setting(from, name) !== undefined;

export async function readDotEnv(
  path: string,
  env: Environment,
  settings: { readonly providers: NonNullable<Settings['providers']>; readonly mcp: NonNullable<Settings['mcp']> },
): Promise<DotEnv> {
  const facts = await lstat(path).catch(() => undefined);
  // Python's environments are folders of that name.
  if (facts === undefined || facts.isDirectory()) return { keyEnv: env, fromDotEnv: [], dotEnv: {} };
  const text = await readText(path);
  const dotEnv = text.ok ? variablesIn(text.value) : {};
  const problem = facts.isSymbolicLink() ? 'is a link, and links are not followed' : text.ok ? undefined : text.error.message;
  if (problem !== undefined) return { keyEnv: env, fromDotEnv: [], dotEnv, dotEnvProblem: problem };
  const basics = minimalEnvironment(dotEnv);
  const wanted = [...new Set(needed(settings))].filter(
    (name) => isSet(dotEnv, name) && !isSet(env, name) && !Object.hasOwn(basics, name),
  );
  const held = heldKeys(dotEnv, env, settings).filter(({ key }) => wanted.includes(key));
  const fromDotEnv = wanted.filter((name) => !held.some(({ key }) => key === name));
  const taken = Object.fromEntries(fromDotEnv.map((name) => [name, dotEnv[name]]));
  return { keyEnv: { ...env, ...taken }, fromDotEnv, dotEnv, ...present({ dotEnvHeld: held.length === 0 ? undefined : held }) };
}

/** Unless the settings have a provider for it, or the real environment says where it goes. */
function heldKeys(dotEnv: Environment, env: Environment, { providers }: Parameters<typeof readDotEnv>[2]): readonly HeldKey[] {
  const named = Object.values(providers).map(({ apiKeyEnv }) => apiKeyEnv);
  return Object.entries(addressVariables).flatMap(([provider, { variables, own }]) => {
    const address = variables.find((name) => isSet(dotEnv, name) && hostOf(setting(dotEnv, name)) !== own);
    if (address === undefined || variables.some((name) => isSet(env, name))) return [];
    const keys: readonly string[] = keyVariables[provider as keyof typeof keyVariables];
    return keys.filter((key) => !named.includes(key)).map((key) => ({ key, address }));
  });
}

const hostOf = (address = ''): string | undefined => (URL.canParse(address) ? new URL(address).hostname : undefined);

/** Behind `export` Node's own reader takes blanks, but no tab. */
function variablesIn(text: string): Environment {
  const read = Object.entries(parseEnv(text)).map(([name, value]) => [name.replace(/^export\s+/, ''), value]);
  return Object.fromEntries(read);
}

function needed({ providers, mcp }: Parameters<typeof readDotEnv>[2]): readonly string[] {
  const named = Object.values(mcp).flatMap((server) => Object.values(('url' in server ? server.headers : server.env) ?? {}));
  return [
    ...Object.values(keyVariables).flat(),
    ...Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
    ...variablesNamed(named),
  ];
}
