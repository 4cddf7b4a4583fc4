/**
 * When a task is done. A line of the acceptance that names a command is run by the runtime, and how that ends decides; every
 * other line is judged by whoever handed the task over, and counts as judged, never as proved.
 */
import { present } from '../../base/present.ts';

export interface AcceptanceLine {
  readonly line: string;
  /** What is run for it. */
  readonly command?: string;
}

/** A line that begins with a command between backticks: `` `npm test` passes ``. */
const QUOTED = /^`([^`\n]+)`/;

/** Every line with its command, if it has one; a command that no line speaks of is a line of its own. */
export function acceptanceLines(acceptance: readonly string[], verify: readonly string[]): readonly AcceptanceLine[] {
  const lines = acceptance.map((line): AcceptanceLine => {
    const named = verify.find((command) => speaksOf(line, command)) ?? QUOTED.exec(line.trim())?.[1]?.trim();
    return { line, ...present({ command: named }) };
  });
  const unsaid = verify.filter((command) => !lines.some((one) => one.command === command));
  return [...lines, ...new Set(unsaid)].map((one) =>
    typeof one === 'string' ? { line: `\`${one}\` passes`, command: one } : one,
  );
}

/** Whole: `npm test` is not spoken of by a line about `npm test-all`. */
export function speaksOf(line: string, command: string): boolean {
  const at = line.indexOf(command);
  if (at === -1) return false;
  const before = line[at - 1] ?? ' ';
  const after = line[at + command.length] ?? ' ';
  return !/[\w-]/.test(before) && !/[\w-]/.test(after);
}

export const acceptanceCommands = (lines: readonly AcceptanceLine[]): string[] => [
  ...new Set(lines.flatMap(({ command }) => (command === undefined ? [] : [command]))),
];
