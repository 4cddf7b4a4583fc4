/** What went wrong with an executor, in words that say what to do. */
import { isJsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { endOf, startOf } from '../../base/whole-words.ts';
import { tellingLine } from '../../process/telling-line.ts';
import { AUTH_REQUIRED, type PeerTrouble } from '../acp-wire/peer.ts';
import type { ExecutorEntry } from '../entry.ts';
import type { ExecutorEnd, ExecutorFailure } from '../port.ts';

export interface FailureParts {
  readonly entry: ExecutorEntry;
  /** What was being done, as in "did not answer {doing}". */
  readonly doing: string;
  /** How one can log in, as it says. */
  readonly logins?: readonly string[] | undefined;
  redact(text: string): string;
  /** Ends it, when it is gone or must go, and says how. */
  end(): Promise<ExecutorEnd>;
  /** What was too much. */
  flood(): Promise<string | undefined>;
  /** The first that it wrote and that is no message, fit to be shown. */
  junk?(): string | undefined;
}

export async function executorFailureOf(trouble: PeerTrouble, parts: FailureParts): Promise<ExecutorFailure> {
  const { entry, doing, redact } = parts;
  if (trouble.kind === 'refused') {
    const said = redact(
      startOf([trouble.message, detailOf(trouble.data)].filter(Boolean).join(': '), limits.executorTitleCharacters),
    );
    if (trouble.code === AUTH_REQUIRED)
      return {
        why: 'auth',
        message: `${entry.title} wants somebody to log in: ${said}`,
        fix: loginFix(entry, parts.logins ?? []),
      };
    return { why: 'error', message: `${entry.title} says that ${doing} failed: ${said}` };
  }
  const flood = trouble.kind === 'closed' ? await parts.flood() : undefined;
  const end = await parts.end();
  const known = present({ stderr: end.stderr === '' ? undefined : end.stderr, exitCode: end.exitCode });
  const junk = parts.junk?.();
  const first = junk === undefined ? '' : ` It wrote what is no message: ${junk}`;
  if (flood !== undefined) return { why: 'protocol', message: `${entry.title} was ended: ${flood}.${first}`, ...known };
  if (trouble.kind === 'late')
    return {
      // Whoever talks and says nothing of the protocol is not slow.
      why: junk === undefined ? 'timeout' : 'protocol',
      message: `${entry.title} did not answer ${doing} within ${trouble.ms / 1000} s, and was ended.${first}`,
      ...known,
    };
  return { why: 'crashed', message: `${entry.title} ${endText(end)} during ${doing}.${lastLine(end)}`, ...known };
}

export const malformed = (entry: ExecutorEntry, doing: string): ExecutorFailure => ({
  why: 'protocol',
  message: `${entry.title} answered ${doing} with something that is not the protocol.`,
  fix: `Use a version of it that speaks the Agent Client Protocol${entry.install === undefined ? '.' : `: ${entry.install}`}`,
});

function endText({ exitCode, signal }: ExecutorEnd): string {
  if (signal !== undefined) return `was ended by ${signal}`;
  return exitCode === undefined ? 'closed the connection' : `ended with exit code ${exitCode}`;
}

const LAST_LINE_CHARACTERS = 300;

/** The line of what it wrote that says why; mostly the last one. */
function lastLine({ stderr }: ExecutorEnd): string {
  const { line } = tellingLine(stderr);
  return line === '' ? '' : ` Its last words: ${endOf(line, LAST_LINE_CHARACTERS)}`;
}

function detailOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data;
  if (!isJsonObject(data)) return undefined;
  const text = data['details'] ?? data['message'] ?? data['error'];
  return typeof text === 'string' ? text : undefined;
}

export function loginFix({ title, needs = [] }: ExecutorEntry, logins: readonly string[]): string {
  const key = needs.length === 0 ? undefined : `set ${needs.join(' or ')}`;
  const login = logins.length === 0 ? `log in with ${title} itself` : `log in with ${title} itself (${logins.join('; ')})`;
  const fix = [key, login].filter((one) => one !== undefined).join(', or ');
  return `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`;
}
