/** What a report says, for the models that build on it: also that it ends in the middle. */
import type { Report } from './catalogue.ts';

export const CUT_OFF =
  '(The answer ends here because the limit of one answer was reached, maxOutputTokens: what should follow is missing.)';

export function reportText({ body, cut }: Report): string {
  return cut === true ? `${body}\n\n${CUT_OFF}` : body;
}
