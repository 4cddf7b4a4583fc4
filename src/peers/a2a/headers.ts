/** What is shown to be let in. Values come from the environment when they are needed, and are kept nowhere. */
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { Environment } from '../../base/environment.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { PeerFailure } from '../port.ts';

const NAMED = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export function filledHeaders(
  { token, headers = {}, extensions = [] }: Pick<RemoteAgent, 'token' | 'headers' | 'extensions'>,
  env: Environment,
): Result<Readonly<Record<string, string>>, PeerFailure> {
  const named = { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const missing = new Set<string>();
  const fill = (text: string): string =>
    text.replaceAll(NAMED, (_whole, name: string) => {
      const value = env[name];
      if (value === undefined || value === '') missing.add(name);
      return value ?? '';
    });
  const filled = Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), fill(value)]));
  if (missing.size === 0) return ok({ ...filled, ...naming(extensions) });
  const names = [...missing].join(', ');
  return fail({ kind: 'auth', message: `The variable ${names} is not set.`, fix: `Set ${names} in the environment or in .env.` });
}

/** In the words of both versions. */
function naming(extensions: readonly string[]): Readonly<Record<string, string>> {
  const all = extensions.join(', ');
  return all === '' ? {} : { 'a2a-extensions': all, 'x-a2a-extensions': all };
}
