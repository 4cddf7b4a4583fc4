/**
 * Claude Code, Codex and opencode work here, with a model server on this machine, and what they keep of it is taken over: found
 * by its project, with the sums that the programs themselves report, and with nothing that could go on.
 */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import {
  CODING_AGENTS_MODULES,
  CODING_AGENTS_PATH,
  codingAgents,
  describeWithCodingAgents,
} from '../support/executors/coding-agents.ts';
import { startModelServer } from '../support/models/model-server.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const TOOLS: Readonly<Record<string, string>> = { claude: '"Bash"', codex: '"exec_command"', opencode: '"bash"' };
const PROGRAMS = { claude: 'claude-code', codex: 'codex', opencode: 'opencode' } as const;
type Program = keyof typeof PROGRAMS;

interface Printed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const jsonIn = (text: string): JsonObject => {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`no JSON object: ${text.slice(0, 500)}`);
  return parsed.value;
};

describeWithCodingAgents('transcripts of programs that worked here', (installed) => {
  const has = (executor: string): boolean => installed.some((agent) => agent.executor === executor);
  const here = (Object.keys(PROGRAMS) as Program[]).filter((program) => has(PROGRAMS[program]));

  it.each(here)('%s', async (program) => {
    await using project = await createTestProject();
    const { play, run } = await programIn(project, program);
    play(({ toolResults }) =>
      toolResults === 0 ? CALLS[program] : { text: 'All is done.', usage: { input: 900, output: 40, cached: 300 } },
    );
    const first = await run('Do the main thing', false);
    expect(first, first.err).toMatchObject({ code: 0 });

    const listed = jsonIn((await project.troupe('import', '--list', '--json')).out)['found'];
    expect(listed).toMatchObject([{ program: PROGRAMS[program], session: null }]);
    const { path } = (listed as readonly JsonObject[])[0] ?? {};
    const done = await project.troupe('import', String(path), '--json');
    expect(done, done.err).toMatchObject({ code: 0 });
    const [imported] = jsonIn(done.out)['imported'] as readonly JsonObject[];
    expect(imported).toMatchObject({ program: PROGRAMS[program], outcome: 'imported', answers: 2, results: 1 });

    const session = String(imported?.['session']);
    const total = jsonIn((await project.look('cost', session, '--json')).out)['total'] as JsonObject;
    expect(total).toMatchObject(await reportedBy(program, first, project));
    expect(total).toMatchObject({ inputTokens: 1_000 + 900, outputTokens: 50 + 40, cacheReadTokens: 200 + 300, calls: 2 });

    const shown = jsonIn((await project.look('show', session, '--json')).out);
    expect(shown).toMatchObject({ status: 'completed', verification: { state: 'unchecked' }, report: { body: 'All is done.' } });
    expect((await project.look('logs', session, '--jsonl')).out).toContain('it-ran');
    for (const words of [['resume'], ['fork'], ['replay'], ['send', 'More'], ['cancel']]) {
      const [command = '', ...rest] = words;
      expect(await project.look(command, session, ...rest)).toMatchObject({
        code: 2,
        err: expect.stringContaining('was imported from'),
      });
    }

    // It goes on, and what is new is all that counts.
    const second = await run('Once more', true);
    expect(second, second.err).toMatchObject({ code: 0 });
    const again = jsonIn((await project.troupe('import', String(path), '--json')).out)['imported'];
    expect(again).toMatchObject([{ outcome: 'imported', earlier: session, runs: 2, answers: 3 }]);
    const [grown] = again as readonly JsonObject[];
    const more = jsonIn((await project.look('cost', String(grown?.['session']), '--json')).out)['total'];
    expect(more).toMatchObject({ inputTokens: 900, outputTokens: 40, calls: 1 });
    expect(jsonIn((await project.troupe('import', String(path), '--json')).out)['imported']).toMatchObject([
      { outcome: 'there already' },
    ]);
    expect((await project.look('ledger', 'verify')).code).toBe(0);
  });
});

const COMMAND = "printf 'it-%s' ran";
const CALLS: Readonly<Record<Program, Reply>> = {
  claude: {
    text: 'I run it.',
    calls: [{ name: 'Bash', input: { command: COMMAND, description: 'As asked' } }],
    usage: { input: 1_000, output: 50, cached: 200 },
  },
  codex: {
    text: 'I run it.',
    calls: [{ name: 'exec_command', input: { cmd: COMMAND } }],
    usage: { input: 1_000, output: 50, cached: 200 },
  },
  opencode: {
    text: 'I run it.',
    calls: [{ name: 'bash', input: { command: COMMAND, description: 'As asked' } }],
    usage: { input: 1_000, output: 50, cached: 200 },
  },
};

/** What the program says that it took: on its output, or where it keeps its sums. */
async function reportedBy(program: Program, { out }: Printed, project: TestProject): Promise<object> {
  if (program === 'claude') {
    const { total_cost_usd: usd } = jsonIn(out);
    return { nanoUsd: Math.round(Number(usd) * 1e9) };
  }
  if (program === 'codex') {
    const lines = out.split('\n').filter((line) => line.includes('"turn.completed"'));
    const { usage } = jsonIn(lines.at(-1) ?? '');
    const { input_tokens: input, output_tokens: output, cached_input_tokens: cached } = usage as JsonObject;
    return { inputTokens: input, outputTokens: output, cacheReadTokens: cached };
  }
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(project.folder, '.local/share/opencode/opencode.db'), { readOnly: true });
  const row = database.prepare('SELECT cost FROM session').get();
  database.close();
  return { nanoUsd: Math.round(Number(row?.['cost']) * 1e9) };
}

const WORDS: Readonly<Record<Program, (prompt: string, goesOn: boolean) => readonly string[]>> = {
  claude: (prompt, goesOn) => [
    ...['-p', prompt, '--output-format', 'json', '--model', 'claude-sonnet-4-5', '--dangerously-skip-permissions'],
    ...(goesOn ? ['--continue'] : []),
  ],
  codex: (prompt, goesOn) => [
    ...['exec', ...(goesOn ? ['resume', '--last'] : []), '--json', '--skip-git-repo-check'],
    ...['--dangerously-bypass-approvals-and-sandbox', prompt],
  ],
  opencode: (prompt, goesOn) => ['run', ...(goesOn ? ['--continue'] : []), prompt],
};

async function programIn(project: TestProject, program: Program) {
  const home = project.folder;
  let plays: (request: SeenRequest) => Reply = () => ({ text: 'Nothing yet.' });
  const server = await startModelServer((request) =>
    JSON.stringify(request.body['tools'] ?? '').includes(TOOLS[program] ?? '')
      ? plays(request)
      : { text: '{"title":"A task"}', usage: { input: 1, output: 1 } },
  );
  onTestFinished(() => server.close());
  const agent = codingAgents.find(({ executor }) => executor === PROGRAMS[program]);
  for (const [path, text] of Object.entries(agent?.home?.(server.origin) ?? {})) await project.write(path, text);
  if (program === 'codex') await project.write('.codex/config.toml', codexConfig(server.origin));
  if (program === 'opencode') await project.write('opencode.json', opencodeConfig(server.origin));
  const env = {
    PATH: [
      CODING_AGENTS_PATH,
      join(CODING_AGENTS_MODULES, '@anthropic-ai/claude-agent-sdk-linux-x64'),
      dirname(process.execPath),
      process.env['PATH'],
    ].join(delimiter),
    ...{ HOME: home, TERM: 'dumb', IS_SANDBOX: '1', NO_PROXY: '127.0.0.1,localhost' },
    ...{ HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', DISABLE_AUTOUPDATER: '1' },
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...agent?.quiet?.(home),
    ...agent?.environment(server.origin),
  };
  const run = (prompt: string, goesOn: boolean): Promise<Printed> =>
    ran(program, WORDS[program](prompt, goesOn), realpathSync(project.folder), env);
  const play = (next: (request: SeenRequest) => Reply): void => {
    plays = next;
  };
  return { play, run };
}

function ran(command: string, words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Printed> {
  const child = spawn(command, [...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

const codexConfig = (origin: string): string =>
  [
    ...['model = "gpt-5"', 'model_provider = "here"', 'check_for_update_on_startup = false', '[analytics]', 'enabled = false'],
    ...['[features]', 'plugins = false', 'remote_plugin = false', 'apps = false', '[model_providers.here]', 'name = "here"'],
    ...[`base_url = "${origin}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', 'requires_openai_auth = false', ''],
  ].join('\n');

const opencodeConfig = (origin: string): string =>
  JSON.stringify({
    ...{ model: 'here/model', small_model: 'here/model', share: 'disabled', autoupdate: false },
    provider: {
      here: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${origin}/v1`, apiKey: 'test' },
        models: {
          model: {
            ...{ name: 'Here', tool_call: true, limit: { context: 100_000, output: 8_000 } },
            cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
          },
        },
      },
    },
  });
