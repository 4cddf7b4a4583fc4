/** One answer out of those of several agents: what was done, and what was not. */
import { filled } from '../../agents/definition/places.ts';
import { sentence } from '../../base/wording.ts';
import type { DispatchSettings } from './settings.ts';
import type { Response } from './work.ts';

type Said = Pick<Response, 'agentId' | 'content' | 'success' | 'errorMessage'>;
type Wording = Pick<DispatchSettings, 'priority' | 'join' | 'partialFailureTemplate' | 'fallbackMessage'>;

/** Those with priority first, in its order; all others by their ids. */
export function inOrder<One extends Pick<Said, 'agentId'>>(
  responses: readonly One[],
  { priority }: Pick<Wording, 'priority'>,
): One[] {
  const rank = ({ agentId }: One): number => {
    const at = priority.indexOf(agentId);
    return at === -1 ? priority.length : at;
  };
  return responses.toSorted((left, right) => rank(left) - rank(right) || (left.agentId < right.agentId ? -1 : 1));
}

/**
 * 1. One answer is the answer, as it is.
 * 2. Several are put together.
 * 3. Whoever failed is named, with why.
 * 4. When all have failed, there is a sentence for that.
 */
export function aggregate(unordered: readonly Said[], wording: Wording): string {
  const responses = inOrder(unordered, wording);
  const done = responses.filter(({ success }) => success);
  const failed = responses.filter(({ success }) => !success);
  if (done.length === 0) return wording.fallbackMessage;
  const successMessage = successText(done, wording);
  if (failed.length === 0) return successMessage;
  const hasLines = successMessage.includes('\n');
  const template = hasLines ? wording.partialFailureTemplate.replace(AFTER_SUCCESS, '$1\n\n') : wording.partialFailureTemplate;
  return filled(template, {
    successMessage: wording.join ? ended(successMessage) : successMessage,
    failureMessage: failureText(failed),
  });
}

/** Where answers have lines of their own, what follows them in the template stands on its own: the last line is somebody's. */
const AFTER_SUCCESS = /(\{successMessage\})[ \t]+/;

function successText(done: readonly Said[], { join }: Wording): string {
  const texts = done.map((one) => contentOf(one));
  const [only, ...others] = texts;
  if (only !== undefined && others.length === 0) return only;
  if (!join) return done.map((one, index) => `### ${displayName(one.agentId)}\n\n${texts[index]}`).join('\n\n');
  // What has lines of its own keeps them.
  if (texts.some((text) => text.includes('\n'))) return texts.join('\n\n');
  return texts.map(ended).join(' ');
}

const contentOf = ({ agentId, content }: Said): string =>
  content.trim() === '' ? `${displayName(agentId)} completed successfully.` : content.trim();

/** What ends with a word gets its full stop; a list or a block of code is left as it is. */
const ended = (text: string): string => (/[\p{L}\p{N})"'”’»%°]$/u.test(text) ? sentence(text) : text);

export function failureText(failed: readonly Said[]): string {
  const [only, ...others] = failed;
  if (only !== undefined && others.length === 0) return `${displayName(only.agentId)} could not do its part: ${why(only)}.`;
  return `these parts were not done: ${failed.map((one) => `${displayName(one.agentId)} (${why(one)})`).join(', ')}.`;
}

const why = ({ errorMessage }: Said): string => (errorMessage ?? 'no reason was given').trim().replace(/[.!…]+$/, '');

/** `light-agent` is the Light Agent. */
export const displayName = (id: string): string =>
  id
    .split(/[-_\s]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [first = '', ...rest] = word;
      return first.toLocaleUpperCase('en') + rest.join('');
    })
    .join(' ') || id;
