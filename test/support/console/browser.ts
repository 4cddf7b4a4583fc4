/**
 * The built console in a real browser, over a real server. The browser comes out of its package once for a checkout; the files of
 * the console are built if they are not there.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ConsoleFiles, createConsoleFiles } from '../../../src/http/console/files.ts';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
} from '../../../tools/browser/node_modules/playwright-core/index.js';
import { PATIENCE_MS } from '../patience.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const tools = join(root, 'tools', 'browser');
const require = createRequire(join(tools, 'package.json'));

export interface Looking extends AsyncDisposable {
  readonly browser: Browser;
  /** What the server needs to serve the console. */
  readonly pages: ConsoleFiles;
  /** A page that is logged in, and everything that went wrong in it. */
  open(server: Served, path: string, options?: BrowserContextOptions): Promise<Opened>;
}

interface Served {
  readonly origin: string;
  loginPath(): string;
}

export interface Opened extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and what the page's policy refused. */
  readonly wrong: readonly string[];
  /** Addresses beyond the server that the page tried to reach. */
  readonly elsewhere: readonly string[];
}

export async function startLooking(): Promise<Looking> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build-console.ts')]);
  const { chromium } = require('playwright-core') as {
    chromium: typeof import('../../../tools/browser/node_modules/playwright-core/index.js').chromium;
  };
  const browser = await chromium.launch({ executablePath: await browserProgram(), args: ARGUMENTS, headless: true });
  const pages = createConsoleFiles({ folder: join(root, 'dist', 'console'), onError: () => undefined });
  return {
    browser,
    pages,
    open: (server, path, options) => openPage(browser, server, path, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

const ARGUMENTS = [
  ...['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--font-render-hinting=none'],
];

/** Unpacked beside its package, whole or not at all. */
async function browserProgram(): Promise<string> {
  const folder = join(tools, 'node_modules', '.cache');
  const program = join(folder, 'browser', 'chromium');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const made = await mkdtemp(join(folder, 'unpacking-'));
  const packed = JSON.stringify(pathToFileURL(require.resolve('@sparticuz/chromium')).href);
  const code = `import chromium from ${packed}; await chromium.executablePath();`;
  const env = { ...process.env, TMPDIR: made };
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env });
  // Somebody else may have been as fast.
  await rename(made, join(folder, 'browser')).catch(() => rm(made, { recursive: true, force: true }));
  return program;
}

async function openPage(browser: Browser, server: Served, path: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const wrong: string[] = [];
  const elsewhere: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) wrong.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(server.origin) && !request.url().startsWith('data:')) elsewhere.push(request.url());
  });
  await page.goto(server.origin + server.loginPath());
  await page.waitForURL((url) => url.pathname === '/');
  await page.goto(server.origin + path);
  return { page, context, wrong, elsewhere, [Symbol.asyncDispose]: () => context.close() };
}

const SIZES = [
  [380, 800],
  [1_280, 800],
  [1_920, 1_080],
] as const;

/** Pictures of a page for whoever wants to look at it: in the folder that TROUPE_SHOTS names, light and dark, small and large. */
export async function shots(page: Page, name: string): Promise<void> {
  const folder = process.env['TROUPE_SHOTS'];
  if (folder === undefined) return;
  const before = page.viewportSize();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
    }
  }
  if (before !== null) await page.setViewportSize(before);
}

/** What bars people from a page, as axe finds it: nothing. */
export async function barriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource());
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Violation[];
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('; ')}`,
  );
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

let source: string | undefined;
function axeSource(): string {
  source ??= (require('axe-core') as { source: string }).source;
  return source;
}
