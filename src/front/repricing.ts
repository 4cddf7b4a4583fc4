/** What was spent, at other prices than those of its day: the tokens are recorded, so the sum can be made again. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { codeOf, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { CallCost, Usage } from '../events/messages.ts';
import type { Prices } from '../models/port.ts';
import { createPrices, type PricesOptions, priceOverride } from '../models/prices.ts';

const priceMap = z.record(z.string(), priceOverride);
/** A list by itself, or settings with one in them. */
const priceFile = z.union([z.looseObject({ prices: priceMap }).transform(({ prices }) => prices), priceMap]);

export interface OtherPrices {
  /** What they are, for people. */
  readonly name: string;
  readonly prices: Pick<Prices, 'cost'>;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const FIX = 'write a day such as 2026-01-31, or a file with lines such as: openai/gpt-5: { input: 1.25, output: 10 }';

/** By the name of a file, or a day: then the table's prices of that day, and the settings' own. */
export async function otherPrices(text: string, cwd: string, options: PricesOptions): Promise<Result<OtherPrices, Failure>> {
  if (DATE.test(text)) {
    const day = Date.parse(`${text}T12:00:00Z`);
    if (Number.isNaN(day)) return fail(usage(`${text} is no day of any calendar`));
    const clock = { ...options.clock, now: () => day, elapsed: () => 0 };
    return ok({ name: `prices of ${text}`, prices: createPrices({ ...options, clock }) });
  }
  const read = await readPriceFile(resolve(cwd, text));
  if (!read.ok) return fail(usage(`The prices in ${text} cannot be read: ${read.error}`));
  return ok({ name: `prices in ${text}`, prices: createPrices({ ...options, overrides: read.value }) });
}

const usage = (message: string): Failure => ({ code: 'usage', message, fix: FIX });

async function readPriceFile(path: string): Promise<Result<z.output<typeof priceFile>, string>> {
  try {
    const { size } = await stat(path);
    if (size > limits.priceFileBytes)
      return fail(`it has ${size} bytes, and ${limits.priceFileBytes} are the limit (priceFileBytes)`);
    const { parse } = await import('yaml');
    const parsed = priceFile.safeParse(parse(await readFile(path, 'utf8'), { version: '1.2', maxAliasCount: 100 }));
    return parsed.success ? ok(parsed.data) : fail('it is no list of models with their prices');
  } catch (error) {
    return fail(codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error));
  }
}

/** The event as it would be at these prices. What who did the work said itself stays as it was said. */
export function repriced(event: LedgerEvent, { cost }: Pick<Prices, 'cost'>): LedgerEvent {
  const priceOf = (models: readonly string[], usage: Usage, recorded: CallCost | undefined): { cost?: CallCost } => {
    if (recorded !== undefined && !isListed(recorded)) return { cost: recorded };
    const nanoUsd = models.map((model) => cost(model, usage)).find((one) => one !== undefined);
    return nanoUsd === undefined ? {} : { cost: { nanoUsd, prices: 'given' } };
  };
  if (event.event_type === 'model.response') {
    const { cost: recorded, ...payload } = event.payload;
    return { ...event, payload: { ...payload, ...priceOf([payload.served, payload.requested], payload.usage, recorded) } };
  }
  if (event.event_type !== 'model.failed' || event.payload.cost === undefined) return event;
  const { cost: recorded, ...payload } = event.payload;
  return { ...event, payload: { ...payload, ...priceOf([payload.model], payload.usage ?? {}, recorded) } };
}

const isListed = ({ prices }: CallCost): boolean => /^(config over )?genai-prices /.test(prices);
