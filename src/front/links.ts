/** Where people find things in a browser. A link opens a page and never does anything by itself. */

/** The page on which one wait is answered. */
export const answerPath = ({ run, wait }: { readonly run: string; readonly wait: string }): string =>
  `/answer/${encodeURIComponent(run)}/${encodeURIComponent(wait)}`;
