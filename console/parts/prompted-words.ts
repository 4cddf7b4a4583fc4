/** What became of a prompt, as it is told to whoever gave it: what has happened, which stays true, and not what goes on. */
export const promptedWords = ({ outcome, before }: { readonly outcome: string; readonly before: number }): string =>
  outcome === 'started' ? 'It has begun.' : `It waits its turn; ${before} before it.`;
