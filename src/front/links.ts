/** Where people find things in a browser. A link opens a page and never does anything by itself. */

/** The page on which one wait is answered. */
export const answerPath = ({ run, wait }: { readonly run: string; readonly wait: string }): string =>
  `/answer/${encodeURIComponent(run)}/${encodeURIComponent(wait)}`;

/** The page of a session. */
export const sessionPath = (session: string): string => `/sessions/${encodeURIComponent(session)}`;
