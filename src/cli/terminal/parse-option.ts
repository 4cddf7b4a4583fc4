/** Values of options: a value, or a message that says what would be one. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../agents/definition/duration.ts';

/** `--var key=value`, collected. */
export function collectVariable(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const split = text.indexOf('=');
  if (split <= 0) throw new InvalidArgumentError(`--var ${text} is not key=value`);
  return { ...before, [text.slice(0, split)]: text.slice(split + 1) };
}

/** Each time it is given, one more. */
export const collectWord = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count <= 0) throw new InvalidArgumentError(`"${text}" is not a whole number above zero`);
  return count;
}

export function parseUsd(text: string): number {
  const usd = Number(text.replace(/^\$/, ''));
  if (text.trim() === '' || !Number.isFinite(usd) || usd < 0)
    throw new InvalidArgumentError(`"${text}" is not an amount of dollars, such as 0.50`);
  return usd;
}

/** In milliseconds. */
export function parseTime(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new InvalidArgumentError(`"${text}" is not a length of time, such as 90s, 20m or 2h`);
  return milliseconds;
}

/** 0 stands for any free one. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError(`"${text}" is not a port, 0 to 65535`);
  return port;
}

/** An option that may be given again. */
export function collectText(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function parseShare(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !(share >= 0 && share <= 1)) throw new InvalidArgumentError(`"${text}" is not a share from 0 to 1`);
  return share;
}
