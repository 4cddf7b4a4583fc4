/**
 * The executors that need no entry in executors.yaml: how each is started, which keys it gets, and what it does differently.
 * Each was run for a whole task. Only what differs from the usual is said.
 */
import type { ExecutorFields } from '../entry.ts';

const ANTHROPIC = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];
const OPENAI = ['OPENAI_API_KEY', 'OPENAI_BASE_URL'];
const GOOGLE = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL'];

/** Hosts of the providers, for those that can use any. */
const PROVIDERS = ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com', 'openrouter.ai'];

/** Where a variable puts it, if it is set. */
const folderIn = (variable: string): string => `\${${variable}}/`;

/** Of its own folders what it runs, or what says what is run: whoever writes that acts outside, the next time. */
const below = (folders: readonly string[], names: readonly string[]): string[] =>
  folders.flatMap((folder) => names.map((name) => `${folder}${name}`));

/** It asks only when it is told to. */
const ASK_FIRST = '{"permission":{"edit":"ask","bash":"ask","webfetch":"ask"}}';

export const knownExecutors: Readonly<Record<string, ExecutorFields>> = {
  'claude-code': {
    title: 'Claude Code',
    command: ['claude-agent-acp'],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp@0.99.1',
    keys: [...ANTHROPIC, 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
    needs: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    modes: { 'read-only': 'plan', full: 'default' },
    model: 'model',
    sandbox: {
      network: ['*.anthropic.com', 'platform.claude.com', 'claude.ai'],
      write: ['~/.claude/', '~/.claude.json', folderIn('CLAUDE_CONFIG_DIR')],
      read: below(
        ['~/.claude/', folderIn('CLAUDE_CONFIG_DIR')],
        [...['settings.json', 'settings.local.json', 'CLAUDE.md'], ...['agents', 'commands', 'hooks', 'plugins', 'skills']],
      ),
    },
    notes: 'Also works with a login of its own. MCP tools are found by it on demand.',
  },
  codex: {
    title: 'Codex',
    command: ['codex-acp'],
    install: 'npm install -g @agentclientprotocol/codex-acp@2.6.0',
    keys: [...OPENAI, 'CODEX_API_KEY', 'CODEX_HOME', 'CODEX_CONFIG', 'MODEL_PROVIDER'],
    needs: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    env: { NO_BROWSER: '1' },
    // In its mode `agent` it runs commands without asking.
    modes: { 'read-only': 'read-only', full: 'read-only' },
    refusal: 'cancels',
    model: 'model',
    sandbox: {
      network: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
      write: ['~/.codex/', folderIn('CODEX_HOME')],
      read: below(
        ['~/.codex/', folderIn('CODEX_HOME')],
        ['config.toml', 'hooks.json', 'AGENTS.md', 'prompts', 'rules', 'skills'],
      ),
    },
    notes:
      'Its mode read-only runs commands that only read in a sandbox of its own, and asks before others; its mode agent does not ask.',
  },
  gemini: {
    title: 'Gemini CLI',
    command: ['gemini', '--acp'],
    install: 'npm install -g @google/gemini-cli@0.61.0',
    keys: GOOGLE,
    needs: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    // Without it the folder counts as not trusted, and MCP servers are left out in silence.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    modes: { 'read-only': 'plan', full: 'default' },
    // It takes every error for a broken client, also when it is about to make the file.
    missingFile: 'empty',
    titleIsCommand: true,
    model: 'none',
    sandbox: {
      network: [
        ...['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'aiplatform.googleapis.com'],
        ...['oauth2.googleapis.com', 'accounts.google.com', 'www.googleapis.com'],
      ],
      write: ['~/.gemini/'],
      read: below(['~/.gemini/'], ['settings.json', 'GEMINI.md', 'agents', 'commands', 'extensions', 'skills']),
    },
    notes: 'A session is mostly not found again: a new one is begun then.',
  },
  opencode: {
    title: 'opencode',
    command: ['opencode', 'acp'],
    install: 'npm install -g opencode-ai@1.18.33',
    keys: [...ANTHROPIC, ...OPENAI, ...GOOGLE, 'OPENROUTER_API_KEY', 'OPENCODE_API_KEY'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_CONFIG_CONTENT: ASK_FIRST },
    modes: { 'read-only': 'plan', full: 'build' },
    refusal: 'ends',
    model: 'model',
    sandbox: {
      network: [...PROVIDERS, 'opencode.ai', 'models.dev'],
      write: ['~/.local/share/opencode/', '~/.local/state/opencode/', '~/.cache/opencode/'],
      read: ['~/.config/opencode'],
    },
  },
  copilot: {
    title: 'GitHub Copilot CLI',
    command: ['copilot', '--acp'],
    install: 'npm install -g @github/copilot@1.0.102',
    keys: [
      ...['GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_GITHUB_TOKEN'],
      ...['COPILOT_PROVIDER_BASE_URL', 'COPILOT_PROVIDER_API_KEY', 'COPILOT_MODEL'],
    ],
    env: { COPILOT_AUTO_UPDATE: 'false' },
    modes: { 'read-only': 'plan', full: 'agent' },
    mcp: ['http'],
    refusal: 'ends',
    model: 'model',
    sandbox: {
      network: ['github.com', 'api.github.com', '*.githubcopilot.com'],
      write: ['~/.copilot/'],
      read: below(['~/.copilot/'], ['mcp-config.json', 'agents', 'hooks', 'skills']),
    },
  },
  qwen: {
    title: 'Qwen Code',
    command: ['qwen', '--acp'],
    install: 'npm install -g @qwen-code/qwen-code@0.24.4',
    keys: [...OPENAI, 'OPENAI_MODEL', 'DASHSCOPE_API_KEY'],
    needs: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
    // In its mode `auto` a model decides what may be done.
    modes: { 'read-only': 'plan', full: 'default' },
    missingFile: 'empty',
    refusal: 'ends',
    model: 'none',
    sandbox: {
      network: ['api.openai.com', 'dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'chat.qwen.ai'],
      write: ['~/.qwen/'],
      read: below(['~/.qwen/'], ['settings.json', 'QWEN.md', 'agents', 'commands', 'extensions', 'skills']),
    },
  },
  pi: {
    title: 'pi',
    command: ['pi-acp'],
    install: 'npm install -g pi-acp@0.0.34 @earendil-works/pi-coding-agent@0.87.1',
    keys: [...ANTHROPIC, ...OPENAI, ...GOOGLE],
    env: { PI_OFFLINE: '1' },
    mcp: [],
    asks: false,
    titleIsCommand: true,
    model: 'none',
    sandbox: {
      network: PROVIDERS,
      write: ['~/.pi/'],
      read: below(['~/.pi/agent/'], ['settings.json', 'models.json', 'AGENTS.md', 'extensions', 'prompts', 'skills']),
    },
    notes: 'It never asks: only a sandbox or a workspace of its own holds it.',
  },
  kilo: {
    title: 'Kilo Code',
    command: ['kilo', 'acp'],
    install: 'npm install -g @kilocode/cli@7.7.7 @kilocode/cli-linux-x64@7.7.7',
    keys: [...ANTHROPIC, ...OPENAI, ...GOOGLE, 'OPENROUTER_API_KEY', 'KILO_API_KEY'],
    env: { KILO_DISABLE_AUTOUPDATE: '1', KILO_CONFIG_CONTENT: ASK_FIRST },
    modes: { 'read-only': 'plan', full: 'code' },
    refusal: 'ends',
    model: 'model',
    sandbox: {
      network: [...PROVIDERS, 'api.kilo.ai', 'kilo.ai', 'models.dev'],
      write: ['~/.local/share/kilo/', '~/.local/state/kilo/', '~/.cache/kilo/'],
      read: ['~/.config/kilo'],
    },
  },
  cline: {
    title: 'Cline',
    command: ['cline', '--acp'],
    install: 'npm install -g cline@3.0.65',
    keys: ['CLINE_API_KEY', 'CLINE_PROVIDER', 'CLINE_MODEL'],
    needs: ['CLINE_API_KEY'],
    modes: { 'read-only': 'plan', full: 'act' },
    mcp: [],
    model: 'none',
    sandbox: {
      network: [...PROVIDERS, 'api.cline.bot'],
      write: ['~/.cline/'],
    },
    notes: 'It leaves a daemon behind when it ends, which is looked for and ended.',
  },
};

export interface BuiltinNeeds {
  /** How this command line is started. */
  readonly program: readonly string[];
  /** What it is told: whose settings count, where its state is. */
  readonly args: readonly string[];
  /** Variables with keys that the settings name. */
  readonly keys: readonly string[];
}

/** Our own loop in a process of its own. */
export const builtinExecutor = ({ program, args, keys }: BuiltinNeeds): ExecutorFields => ({
  title: 'Troupe',
  command: [...program, 'acp', '--executor', ...args],
  keys: [...new Set([...ANTHROPIC, ...OPENAI, ...GOOGLE, 'GOOGLE_GENERATIVE_AI_API_KEY', 'TROUPE_MODEL', ...keys])],
  // What it would do is put to us, by its rules and then by ours.
  modes: { 'read-only': 'read-only', full: 'ask' },
  model: 'model',
  notes: 'Needs nothing but a model.',
});
