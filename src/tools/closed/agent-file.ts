/**
 * Knows the file of an agent by what it says, wherever it lies: `troupe run path/to/agent.md` takes one from anywhere, and
 * whoever changes it decides about its rights.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { limits } from '../../base/limits.ts';
import { foldedName } from '../protected-names.ts';

/**
 * Keys that nothing but an agent has at the beginning of its file. A page may have a name, a description, tags and examples of
 * its own.
 */
export const KEYS_OF_AGENTS: readonly string[] = [
  ...['model', 'models', 'tools', 'mcp', 'permissions', 'agents', 'chat', 'executor', 'a2a', 'verify', 'isolation', 'budget'],
  ...['advisors', 'team', 'group', 'dispatch', 'architect', 'router', 'handoff', 'contextWindow', 'outagePatience'],
  ...['maxTurns', 'maxToolCallsPerTurn', 'maxRetries', 'maxOutputTokens', 'llmTimeout', 'toolTimeout', 'toolResponseMaxBytes'],
];

const FENCE = /^\uFEFF?(?:#![^\n]*\n)?---\r?\n/;
/** Settings of other programs may begin like this, and are no agents. */
const SETTINGS = /\.ya?ml$/;
const KEY = new RegExp(`^["']?(?:${KEYS_OF_AGENTS.join('|')})["']?[ \\t]*:`, 'm');

export function isAgentFile(absolute: string): boolean {
  if (SETTINGS.test(foldedName(absolute))) return false;
  // Opening anything else, such as a pipe, could wait for ever.
  if (statSync(absolute, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const text = headOf(absolute);
  const opening = FENCE.exec(text);
  if (opening === null) return false;
  const [frontmatter = '', ...rest] = text.slice(opening[0].length).split(/^---\r?$/m, 2);
  return rest.length > 0 && KEY.test(frontmatter);
}

/** A longer one is no agent's: it would not be read. */
const HEAD_BYTES = limits.frontmatterBytes + 1024;

function headOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString('utf8');
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
