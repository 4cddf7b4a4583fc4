/** The text of a request, taken apart: why it is asked, and what would be done, without the marks that a terminal needs. */
const MARK = '  | ';

export interface AskedFor {
  readonly why: string;
  readonly text: string;
}

export function askedIn(request: string): AskedFor {
  const [why = '', ...lines] = request.split('\n');
  // The engine puts a mark before each line, so that no text can pass for the words around it; here a frame does that.
  return { why, text: lines.map((line) => (line.startsWith(MARK) ? line.slice(MARK.length) : line)).join('\n') };
}
