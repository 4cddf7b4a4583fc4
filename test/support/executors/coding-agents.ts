/**
 * Coding agents that others wrote, as data: how each is told of a model server on this machine, what its tools are called, and
 * what it does differently. They are installed by `tools/coding-agents`; where they are not, tests that need them do not run
 * and say so; in CI that is a failure.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';
import type { ExecutorProtocol } from '../../../src/executors/entry.ts';
import { mayRun } from '../left-out.ts';
import type { ServerCall } from '../models/script.ts';

export const CODING_AGENTS_MODULES = join(import.meta.dirname, '../../../tools/coding-agents/node_modules');
const FOLDERS = [join(CODING_AGENTS_MODULES, '.bin'), join(CODING_AGENTS_MODULES, 'opencode-linux-x64/bin')];
export const CODING_AGENTS_PATH = FOLDERS.join(delimiter);

export interface CodingAgent {
  /** Its known entry. */
  readonly executor: string;
  readonly program: string;
  readonly protocols: readonly ExecutorProtocol[];
  /** What a person has set, for a model server at this address. */
  environment(origin: string): Readonly<Record<string, string>>;
  /** What keeps it from asking others on the network, beside what its entry sets. */
  quiet?(home: string): Readonly<Record<string, string>>;
  /** Files in its home. */
  home?(origin: string): Readonly<Record<string, string>>;
  /** What it needs to see and to reach inside walls, beside what its entry says. */
  sandbox?(home: string, origin: string): { readonly read: readonly string[]; readonly network: readonly string[] };
  write(path: string, content: string): ServerCall;
  run(command: string): ServerCall;
  /** Who allows it to write a file: it has no tool for that but commands. */
  readonly writesByCommand?: true;
  /** What becomes of its session when it was killed; `either`: it depends on how far it had come. */
  readonly takenUp: 'loaded' | 'either';
}

export const codingAgents: readonly CodingAgent[] = [
  {
    ...{ executor: 'claude-code', program: 'claude-agent-acp', protocols: [1, 2], takenUp: 'loaded' },
    environment: (origin) => ({ ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_BASE_URL: origin }),
    write: (path, content) => ({ name: 'Write', input: { file_path: path, content } }),
    run: (command) => ({ name: 'Bash', input: { command, description: 'As asked' } }),
  },
  {
    ...{ executor: 'codex', program: 'codex-acp', protocols: [1, 2], takenUp: 'loaded', writesByCommand: true },
    environment: (origin) => ({
      ...{ OPENAI_API_KEY: 'sk-test', CODEX_API_KEY: 'sk-test', MODEL_PROVIDER: 'here' },
      CODEX_CONFIG: JSON.stringify({
        // A model that it does not know: of others it expects tools of their own.
        ...{ model: 'gpt-5', model_provider: 'here' },
        model_providers: {
          here: {
            ...{ name: 'here', base_url: `${origin}/v1`, wire_api: 'responses' },
            ...{ env_key: 'OPENAI_API_KEY', requires_openai_auth: false },
          },
        },
      }),
    }),
    home: () => ({
      '.codex/config.toml': [
        ...['check_for_update_on_startup = false', '[analytics]', 'enabled = false'],
        ...['[features]', 'plugins = false', 'remote_plugin = false', 'apps = false', ''],
      ].join('\n'),
    }),
    write: (path, content) => escalated(`printf '%s' '${content}' > '${path}'`),
    run: (command) => escalated(command),
  },
  {
    ...{ executor: 'gemini', program: 'gemini', protocols: [1], takenUp: 'either' },
    environment: (origin) => ({ GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: origin }),
    home: () => ({
      '.gemini/settings.json': JSON.stringify({
        ...{ general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } },
        ...{ telemetry: { enabled: false }, model: { name: 'gemini-2.5-pro' } },
      }),
    }),
    write: (path, content) => ({ name: 'write_file', input: { file_path: path, content } }),
    run: (command) => ({ name: 'run_shell_command', input: { command, description: 'As asked' } }),
  },
  {
    ...{ executor: 'opencode', program: 'opencode', protocols: [1], takenUp: 'loaded' },
    environment: () => ({}),
    quiet: (home) => ({
      ...{ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
      OPENCODE_CONFIG: join(home, 'opencode.json'),
    }),
    sandbox: (home, origin) => ({
      read: ['opencode.json', '.npmrc'].map((name) => join(home, name)),
      network: [new URL(origin).host],
    }),
    home: (origin) => ({
      // What plugins would need it wants to install, whether there are any or not.
      '.npmrc': `registry=${origin}/\n`,
      'opencode.json': JSON.stringify({
        ...{ model: 'here/model', small_model: 'here/model', share: 'disabled', autoupdate: false },
        provider: {
          here: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${origin}/v1`, apiKey: 'test' },
            models: { model: { name: 'Here', tool_call: true, limit: { context: 100_000, output: 8_000 } } },
          },
        },
      }),
    }),
    write: (path, content) => ({ name: 'write', input: { filePath: path, content } }),
    run: (command) => ({ name: 'bash', input: { command, description: 'As asked' } }),
  },
];

/** Whatever changes something it must ask to do outside of its own sandbox. */
const escalated = (cmd: string): ServerCall => ({
  name: 'exec_command',
  input: { cmd, sandbox_permissions: 'require_escalated', justification: 'As asked' },
});

const missing = codingAgents.filter(({ program }) => !FOLDERS.some((folder) => existsSync(join(folder, program))));

/** Tests that let those that are installed work. */
export function describeWithCodingAgents(name: string, tests: (installed: readonly CodingAgent[]) => void): void {
  const large = 'They are large: `CI=1 npm test` or `npm test -- test/e2e/coding-agents.test.ts` installs them';
  for (const { program } of missing) mayRun(`${name} with ${program}`, `${program} is not installed. ${large}`);
  const installed = codingAgents.filter((agent) => !missing.includes(agent));
  describe.skipIf(installed.length === 0)(name, () => tests(installed));
}
