/** Which line of what a program wrote as it died says why. */

/** `TypeError: …`, `ModuleNotFoundError: …`, `error: …`: where a stack trace says what it is about. */
const SAYS_WHAT = /^(?:[\w.]*(?:Error|Exception)\b[^:]*|error|fatal|panic): /i;

/** A trace is no longer; what stands before it is about something else. */
const TRACE_LINES = 40;

/** The last one where none says it by its form. `others`: how many more there are. */
export function tellingLine(written: string): { readonly line: string; readonly others: number } {
  const said = written.split('\n').flatMap((line) => line.trim() || []);
  const line = said.slice(-TRACE_LINES).findLast((one) => SAYS_WHAT.test(one)) ?? said.at(-1) ?? '';
  return { line, others: Math.max(0, said.length - 1) };
}
