/**
 * What a child process gets to know of our environment: little, and no secrets. API keys live in environment variables, and
 * a command that a model wrote has no business with them.
 */

import type { Environment } from '../../base/environment.ts';
import { isSecretVariable } from '../../base/secrets/redact.ts';

const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'TZ'];

/** The basics plus `allowed` names. A name that looks like a secret is never passed on, allowed or not. */
export function minimalEnvironment(environment: Environment, allowed: readonly string[] = []): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of [...PASSED_ON, ...allowed]) {
    const value = environment[name];
    // A value that starts like this would be run as a function by old shells.
    if (value !== undefined && !value.startsWith('()') && !isSecretVariable(name, value)) passed[name] = value;
  }
  passed['TERM'] = 'dumb';
  return passed;
}

export interface Expanded {
  readonly text: string;
  /** Variables that were named but are not set. */
  readonly missing: readonly string[];
}

/** Fills `${NAME}` from the environment. Only names written in the configuration are ever looked up. */
export function expandVariables(text: string, environment: Environment): Expanded {
  const missing: string[] = [];
  const filled = text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, name: string) => {
    const value = environment[name];
    if (value === undefined) missing.push(name);
    return value ?? '';
  });
  return { text: filled, missing };
}
