import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { type ModelServer, startModelServer } from '../../../test/support/models/model-server.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import type { Json } from '../../base/json.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { runProgram } from '../program/program.ts';

/** An address where nobody listens. */
const NOBODY = '127.0.0.1:1';

async function models(env: Readonly<Record<string, string>>, settings: string, ...args: string[]) {
  await using project = await temporaryProject({ 'troupe.yaml': settings });
  const terminal = testTerminal({ env: { HOME: project.root, OLLAMA_HOST: NOBODY, ...env } });
  const code = await runProgram(['-C', project.root, 'models', ...args], terminal);
  const { out, progress } = terminal.written;
  return { code, out, progress, lines: out.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' ')) };
}

async function withLists<Value>(lists: Record<string, Json>, work: (server: ModelServer) => Promise<Value>): Promise<Value> {
  const server = await startModelServer(() => ({ text: '' }), { lists });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

describe('models', () => {
  it('are listed by every kind of provider, with windows and prices where they are known', async () => {
    const lists = {
      '/v1/models': {
        data: [
          { id: 'claude-sonnet-5', max_input_tokens: 12_000 },
          { id: 'other', context_length: 8_000 },
        ],
      },
      '/v1beta/models': {
        models: [
          { name: 'models/gemini-x', inputTokenLimit: 5_000, supportedGenerationMethods: ['generateContent'] },
          { name: 'models/embedding-x', supportedGenerationMethods: ['embedContent'] },
        ],
      },
      '/api/tags': { models: [{ name: 'qwen3:8b' }] },
    };
    const { code, lines, progress } = await withLists(lists, ({ origin }) =>
      models(
        {
          ...{ ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: origin, OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: 'b' },
          ...{ GEMINI_API_KEY: 'c', GEMINI_BASE_URL: `${origin}/v1beta`, OLLAMA_HOST: origin },
        },
        'prices: { openai/other: { input: 3, output: 4 } }\nmodel: openai/other\n',
      ),
    );
    expect(lines.slice(1, -1)).toEqual([
      'anthropic/claude-sonnet-5 ? ? 12.0k provider',
      'anthropic/other ? ? ? provider',
      'openai/claude-sonnet-5 ? ? ? provider',
      '* openai/other $3 $4 8.0k provider',
      'google/gemini-x ? ? 5.0k provider',
      'ollama/qwen3:8b $0 $0 ? provider',
    ]);
    expect(progress).toBe('* openai/other is used: named by troupe.yaml\n');
    expect(code).toBe(0);
  });

  it('come from the table where nobody answers, and it is said why', async () => {
    const { lines, progress, code } = await models({ OPENAI_BASE_URL: `http://${NOBODY}/v1` }, '');
    expect(lines).toContain('anthropic/claude-sonnet-5 $2 $10 1.0M table');
    expect(lines.join('\n')).not.toContain('embedding');
    expect(progress).toContain('anthropic: There is no key for anthropic');
    expect(progress).toMatch(/^openai: openai gives no list: /m);
    expect(progress).toContain('none would be used');
    expect(code).toBe(0);
  });

  it('of one provider, as JSON, with the one that is used', async () => {
    const { out } = await withLists({ '/v1/models': { data: [{ id: 'a' }] } }, ({ origin }) =>
      models({ TROUPE_MODEL: 'mine/b', K: 'secret-key' }, provider(origin), 'mine', '--json'),
    );
    const parsed = parseJson(out);
    expect(parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined).toEqual({
      models: [
        { name: 'mine/a', from: 'provider', used: false },
        { name: 'mine/b', from: 'settings', used: true },
      ],
      used: { models: ['mine/b'], why: 'named by TROUPE_MODEL' },
      providers: [{ provider: 'mine', answered: true }],
    });
  });

  it('of a provider that nobody knows are a mistake', async () => {
    const { code, progress } = await models({}, '', 'opnai');
    expect(code).toBe(2);
    expect(progress).toContain('openai');
  });

  it('are not asked for with --offline', async () => {
    await withLists({ '/v1/models': { data: [{ id: 'a' }] } }, async (server) => {
      const { progress } = await models({ K: 'secret-key' }, provider(server.origin), 'mine', '--offline');
      expect(progress).toContain('mine: not asked (--offline)');
      expect(server.connections()).toBe(0);
    });
  });
});

const provider = (origin: string): string => `providers: { mine: { baseURL: "${origin}/v1", apiKeyEnv: K } }\n`;
