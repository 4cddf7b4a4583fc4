/** Markdown of a stranger as HTML that can do nothing. */
import createDOMPurify, { type Config } from 'dompurify';
import { Marked } from 'marked';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What is HTML in it is shown as text, and a picture as a link to it: only markdown becomes elements. */
const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">picture: ${escaped(text)}</a>`,
  },
});
const purifier = createDOMPurify(window);

/** A list of what may be there, not of what may not. */
const CONFIG: Config = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code', 'em', 'strong', 'del', 'sub', 'sup'],
    ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'details', 'summary', 'kbd'],
  ],
  ALLOWED_ATTR: ['href', 'align', 'start', 'title'],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  KEEP_CONTENT: true,
  RETURN_TRUSTED_TYPE: false,
};

const HOST_CHARACTERS = 60;

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const href = node.getAttribute('href');
  if (href === null) return;
  node.setAttribute('rel', 'noopener noreferrer');
  const host = URL.parse(href)?.host ?? '';
  // What a link says it is and where it leads may be two things.
  const place = node.ownerDocument.createElement('span');
  place.textContent = ` (${host.slice(0, HOST_CHARACTERS)})`;
  if (node.textContent?.trim() !== href) node.append(place);
});

/** Texts beyond this are shown as they are: a parser must not be given a book by a stranger. */
const CHARACTERS = 200_000;

export function cleanMarkdown(text: string): string {
  const html = text.length > CHARACTERS ? `<pre>${escaped(text)}</pre>` : (marked.parse(text) as string);
  return purifier.sanitize(html, CONFIG);
}
