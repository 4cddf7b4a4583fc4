import { readFile } from 'node:fs/promises';
import { calcPrice } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeModels } from '../agents/foreign/claude.ts';
import { systemClock } from '../base/clock.ts';
import { defaultModels } from './detect.ts';
import { createPrices, TABLE_VERSION } from './prices.ts';

const prices = createPrices({ env: {}, clock: systemClock });

describe('createPrices', () => {
  it('names the version of the table that is installed', async () => {
    const text = await readFile(new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url), 'utf8');
    expect(TABLE_VERSION).toBe(`genai-prices ${JSON.parse(text).version}`);
  });

  it('knows what the default models cost', () => {
    for (const model of Object.values(defaultModels))
      expect(prices.cost(model, { inputTokens: 1_000, outputTokens: 1_000 })).toBeGreaterThan(0);
  });

  it('names no model by itself that the table has only under the name of another', () => {
    for (const model of [...Object.values(defaultModels), ...Object.values(claudeModels)]) {
      const [providerId = '', name = ''] = model.split('/');
      const found = calcPrice({ input_tokens: 1 }, name, { providerId });
      expect(found?.model.id).toBe(name);
    }
    expect(claudeModels['sonnet']).toBe(defaultModels.anthropic);
  });

  it('agrees with the table about every kind of token and every step', () => {
    const models = [
      'anthropic/claude-sonnet-4-5',
      'anthropic/claude-sonnet-5',
      'openai/gpt-5.5',
      'openai/gpt-4.1-mini',
      'google/gemini-2.5-pro',
    ];
    const counts = fc.record({
      model: fc.constantFrom(...models),
      plain: fc.nat(400_000),
      read: fc.nat(400_000),
      write: fc.nat(100_000),
      output: fc.nat(100_000),
    });
    fc.assert(
      fc.property(counts, ({ model, plain, read, write, output }) => {
        const cacheWrite = model.startsWith('anthropic') ? write : 0;
        const input = plain + read + cacheWrite;
        const usage = { input_tokens: input, cache_read_tokens: read, cache_write_tokens: cacheWrite, output_tokens: output };
        const [providerId = '', name = ''] = model.split('/');
        const expected = calcPrice(usage, name, { providerId })?.total_price ?? Number.NaN;
        const cost = prices.cost(model, {
          inputTokens: input,
          cacheReadTokens: read,
          cacheWriteTokens: cacheWrite,
          outputTokens: output,
        });
        expect(Math.abs((cost ?? Number.NaN) - expected * 1e9)).toBeLessThan(2);
      }),
    );
  });

  it('does not take an unknown price for none', () => {
    const usage = { inputTokens: 10, outputTokens: 10 };
    for (const model of ['openai/never-heard-of-it', 'nobody/gpt-5.5', 'plain'])
      expect(prices.cost(model, usage)).toBeUndefined();
    expect(prices.worstCase('nobody/m', 1, 1)).toBeUndefined();
    expect(prices.cost('openai/gpt-5.5', { inputTokens: 10 })).toBeUndefined();
    const elsewhere = createPrices({ env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, clock: systemClock });
    expect(elsewhere.cost('openai/gpt-5.5', usage)).toBeUndefined();
  });

  it('knows which models are free', () => {
    for (const model of ['scripted:a.yaml', 'recorded:ses_x', 'ollama/qwen3']) {
      expect(prices.cost(model, {})).toBe(0);
      expect(prices.worstCase(model, 1_000_000, 1_000_000)).toBe(0);
    }
  });

  it('lets the config say otherwise', () => {
    const overrides = { 'openai/mine': { input: 1, output: 2, cacheRead: 0.5 } };
    const own = createPrices({ env: {}, clock: systemClock, overrides });
    expect(own.cost('openai/mine', { inputTokens: 1_000, cacheReadTokens: 400, outputTokens: 10 })).toBe(
      600_000 + 200_000 + 20_000,
    );
    expect(own.version).toContain('config');
  });

  it('does not know a price that is beyond what can be counted', () => {
    const own = createPrices({ env: {}, clock: systemClock, overrides: { 'openai/mine': { input: 1e300, output: 1e300 } } });
    expect(own.cost('openai/mine', { inputTokens: 1_000, outputTokens: 10 })).toBeUndefined();
    expect(own.worstCase('openai/mine', 1_000, 10)).toBeUndefined();
  });

  it('reserves at least what a call can cost', () => {
    fc.assert(
      fc.property(fc.nat(500_000), fc.nat(50_000), fc.double({ min: 0, max: 1, noNaN: true }), (input, output, part) => {
        const worst = prices.worstCase('anthropic/claude-sonnet-4-5', input, output) ?? 0;
        const split = Math.floor(input * part);
        for (const cache of [{ cacheReadTokens: split }, { cacheWriteTokens: split }, {}]) {
          expect(
            prices.cost('anthropic/claude-sonnet-4-5', { inputTokens: input, outputTokens: output, ...cache }),
          ).toBeLessThanOrEqual(worst);
        }
      }),
    );
  });
});
