/**
 * The official MCP conformance suite against `troupe serve`, and against our HTTP app and server with the suite's own tools on
 * top. It fails when something fails that is not in the list of expected failures, and when an entry of the list passes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestProject, MAIN, type TestProject } from './support-project.ts';

const SUITE = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const FIXTURE_SERVER = fileURLToPath(new URL('../support/mcp/fixture-server.ts', import.meta.url));
const expectedFailures = (name: string): string => fileURLToPath(new URL(`../fixtures/mcp-${name}.yml`, import.meta.url));

interface Started {
  readonly url: string;
  readonly child: ChildProcess;
}

/** The first line on stdout is the address. */
async function startServer(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  const child = spawn(process.execPath, [...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) return { url: line, child };
  throw new Error(`the server ended at once: ${args.join(' ')}`);
}

function runSuite(url: string, revision: string, expected: string): Promise<{ code: number | null; out: string }> {
  const args = ['server', '--url', url, '--requirements', revision, '--expected-failures', expectedFailures(expected)];
  const child = spawn(process.execPath, [SUITE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

const summaryOf = (out: string): string => out.slice(Math.max(0, out.indexOf('=== SUMMARY')));
const revisions = ['2026-07-28', '2025-11-25'];

describe('troupe serve', () => {
  let project: TestProject;
  let server: Started | undefined;

  beforeAll(async () => {
    project = await createTestProject();
    await project.script({ text: 'Done.' });
    server = await startServer([MAIN, '-C', project.folder, 'serve', '--port', '0'], project.env);
  });

  afterAll(async () => {
    server?.child.kill();
    await project[Symbol.asyncDispose]();
  });

  it.each(revisions)('meets the requirements of %s but for the listed fixtures', async (revision) => {
    const { code, out } = await runSuite(server?.url ?? '', revision, `expected-${revision}`);
    expect(summaryOf(out)).toContain('✓ tools-list');
    expect(code, out).toBe(0);
  });
});

describe('our server with the tools of the suite', () => {
  let server: Started | undefined;

  beforeAll(async () => {
    server = await startServer([FIXTURE_SERVER], process.env);
  });

  afterAll(() => void server?.child.kill());

  it.each(revisions)('meets the requirements of %s but for what no tool of ours needs', async (revision) => {
    const { code, out } = await runSuite(server?.url ?? '', revision, `fixture-expected-${revision}`);
    expect(summaryOf(out)).toContain('✓ tools-call-simple-text');
    expect(code, out).toBe(0);
  });
});
