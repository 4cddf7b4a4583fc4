/** The text of a card made into one: a stranger's, so everything is looked at before the SDK reads it. */
import { createHash } from 'node:crypto';
import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk';
import { isLegacyAgentCard, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';

export interface CheckedCard {
  readonly card: AgentCard;
  readonly hash: string;
}

const words = z.array(z.string()).nullish();
const named = { name: z.string().min(1), description: z.string().nullish() };
const skills = z
  .array(z.looseObject({ id: z.string().nullish(), name: z.string().nullish(), tags: words, examples: words }))
  .nullish();
const common = z.looseObject({
  ...named,
  version: z.string().nullish(),
  provider: z.looseObject({ organization: z.string().nullish(), url: z.string().nullish() }).nullish(),
  capabilities: z.looseObject({}).nullish(),
  securitySchemes: z.record(z.string(), z.looseObject({})).nullish(),
  skills,
});
const current = common.extend({
  supportedInterfaces: z
    .array(z.looseObject({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string().nullish() }))
    .min(1),
});
const older = common.extend({
  url: z.string(),
  preferredTransport: z.string().nullish(),
  additionalInterfaces: z.array(z.looseObject({ url: z.string(), transport: z.string() })).nullish(),
  protocolVersion: z.string().nullish(),
});

export function checkCard(text: string): Result<CheckedCard, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return fail(`it is not JSON: ${parsed.error}`);
  const raw = parsed.value;
  if (!isJsonObject(raw)) return fail('it is JSON, but not an object');
  const problem = sizeProblem(raw) ?? shapeProblem(raw);
  if (problem !== undefined) return fail(problem);
  try {
    const card = AgentCard.fromJSON(isLegacyAgentCard(raw) ? AgentCard.toJSON(parseLegacyAgentCard(raw)) : raw);
    return ok({ card, hash: cardHash(card) });
  } catch (error) {
    return fail(messageOf(error));
  }
}

/** Of what the protocol knows, in its canonical form; signatures may change without the card. */
function cardHash(card: AgentCard): string {
  return createHash('sha256').update(canonicalCard(card)).digest('hex');
}

/** The SDK makes it of the JSON of a card: of the card itself it would leave out how to log in. */
export function canonicalCard(card: AgentCard): string {
  return canonicalizeAgentCard(AgentCard.toJSON(card) as AgentCard);
}

function sizeProblem(raw: Json): string | undefined {
  if (isDeeperThan(raw, limits.cardDepth)) return `it is nested deeper than ${limits.cardDepth} levels (cardDepth)`;
  if (!isJsonObject(raw)) return undefined;
  const { supportedInterfaces, additionalInterfaces, skills: list } = raw;
  for (const places of [supportedInterfaces, additionalInterfaces])
    if (Array.isArray(places) && places.length > limits.cardInterfaces)
      return `it has ${places.length} interfaces, more than ${limits.cardInterfaces} (cardInterfaces)`;
  if (Array.isArray(list) && list.length > limits.cardSkills)
    return `it has ${list.length} skills, more than ${limits.cardSkills} (cardSkills)`;
  return undefined;
}

/** Level by level: what is nested without end must not be walked by calls within calls. */
function isDeeperThan(value: Json, most: number): boolean {
  let level: readonly (Json | undefined)[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.flatMap((one) => (one === null || typeof one !== 'object' ? [] : Object.values(one)));
    if (level.length === 0) return false;
  }
  return true;
}

function shapeProblem(raw: Json): string | undefined {
  const checked = (isLegacyAgentCard(raw) ? older : current).safeParse(raw);
  const issue = checked.error?.issues[0];
  if (issue === undefined) return undefined;
  const place = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return `${place.replace(/^\./, '').slice(0, 100) || 'the card'}: ${issue.message}`;
}
