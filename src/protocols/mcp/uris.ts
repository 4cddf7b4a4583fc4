/**
 * The addresses of resources: `troupe://agents/{name}`, `troupe://runs/{run}` and what is below a run. They are read as plain
 * text and not as URLs, because a URL would quietly resolve `..` before anybody could refuse it.
 */
export type ResourceAddress =
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'run' | 'log' | 'artifacts'; readonly run: string }
  | { readonly kind: 'artifact'; readonly run: string; readonly path: string };

const SCHEME = 'troupe://';
const ADDRESS_CHARACTERS = 8_192;

export const agentAddress = (name: string): string => `${SCHEME}agents/${encodeURIComponent(name)}`;
export const runAddress = (run: string, part?: 'log' | 'artifacts'): string =>
  `${SCHEME}runs/${encodeURIComponent(run)}${part === undefined ? '' : `/${part}`}`;
export const artifactAddress = (run: string, path: string): string =>
  `${runAddress(run, 'artifacts')}/${path.split('/').map(encodeURIComponent).join('/')}`;

/** `undefined` for everything that is not the address of a resource. */
export function parseAddress(uri: string): ResourceAddress | undefined {
  if (!uri.startsWith(SCHEME) || uri.length > ADDRESS_CHARACTERS) return undefined;
  const parts = uri.slice(SCHEME.length).split('/').map(decoded);
  if (parts.some((part) => part === undefined || part === '')) return undefined;
  const [root, name, part, ...path] = parts.filter((each) => each !== undefined);
  if (name === undefined) return undefined;
  if (root === 'agents') return part === undefined ? { kind: 'agent', name } : undefined;
  if (root !== 'runs') return undefined;
  if (part === undefined) return { kind: 'run', run: name };
  if (path.length === 0) return part === 'log' || part === 'artifacts' ? { kind: part, run: name } : undefined;
  return part === 'artifacts' ? { kind: 'artifact', run: name, path: path.join('/') } : undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
