/**
 * The built console, as a browser loads it. Files with a hash in their names never change and are kept for ever; the page that
 * names them is asked for again each time. What the page may do is said with it: run and load files of this origin, nothing else.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf } from '../../base/errors.ts';

export interface ConsoleFiles {
  /** `undefined` for what is no page and no file of the console. */
  respond(request: Request): Promise<Response | undefined>;
}

export interface ConsoleOptions {
  /** Where the built files are. */
  readonly folder: string;
  /** Makes sure that they are there; called once, when the first of them is asked for. Says what is wrong by throwing. */
  prepare?(): Promise<void>;
  onError(error: Error): void;
}

interface BuiltFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** By the name of the encoding. */
  readonly packed: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

type Built = ReadonlyMap<string, BuiltFile>;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const PACKED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Nothing inline, nothing from elsewhere, nothing in a frame; what an agent wrote can neither run nor call anybody. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = '/index.html';

export function createConsoleFiles({ folder, prepare, onError }: ConsoleOptions): ConsoleFiles {
  let loading: Promise<Built> | undefined;
  const load = async (): Promise<Built> => {
    await prepare?.();
    return await readBuilt(folder);
  };
  return {
    async respond(request) {
      const { pathname } = new URL(request.url);
      const isPage = request.headers.get('accept')?.includes('text/html') === true;
      if (!isPage && !pathname.startsWith('/assets/')) return undefined;
      try {
        loading ??= load();
        const built = await loading;
        const file = pathname.startsWith('/assets/') ? built.get(pathname) : built.get(PAGE);
        return file && respondWith(file, pathname, request.headers.get('accept-encoding') ?? '');
      } catch (error) {
        // Whatever was in the way may be put right meanwhile.
        loading = undefined;
        onError(error instanceof Error ? error : new Error(messageOf(error)));
        return isPage ? missingPage(messageOf(error)) : undefined;
      }
    },
  };
}

async function readBuilt(folder: string): Promise<Built> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const built = new Map<string, BuiltFile>();
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const packed = new Map<string, Uint8Array<ArrayBuffer>>();
    for (const [encoding, ending] of PACKED)
      if (names.includes(name + ending)) packed.set(encoding, await readFile(name + ending));
    built.set(`/${relative(folder, name).split(sep).join('/')}`, { bytes: await readFile(name), type, packed });
  }
  if (!built.has(PAGE)) throw new Error(`There is no built console in ${folder}.`);
  return built;
}

function respondWith({ bytes, type, packed }: BuiltFile, path: string, accepted: string): Response {
  const encoding = PACKED.map(([name]) => name).find((name) => accepted.includes(name) && packed.has(name));
  const headers = new Headers({
    'content-type': type,
    'content-security-policy': POLICY,
    'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept, accept-encoding',
    // Beside the policy: a page that is opened from here learns nothing of this one.
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  });
  if (encoding !== undefined) headers.set('content-encoding', encoding);
  return new Response(encoding === undefined ? bytes : packed.get(encoding), { headers });
}

const missingPage = (why: string): Response =>
  new Response(`The console cannot be shown: ${why}\nThe API is there all the same, at /api/v1; /reference describes it.\n`, {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'content-security-policy': "default-src 'none'" },
  });
