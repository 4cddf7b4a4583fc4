/** Pages that are written here and not built: plain, and nothing of anybody else in them. */
export const plainPage = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapedHtml(title)}</title>${head}</head><body>${body}</body></html>
`;

export const escapedHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
