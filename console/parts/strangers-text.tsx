/**
 * Words of an agent, as markdown: bordered, with who said it. Cleaned of everything that could run, load, or pass for the page
 * around it: no scripts, styles, forms, frames, pictures from elsewhere, ids or classes. A link shows where it leads and opens
 * a page of its own that knows nothing of this one.
 */

import { type MouseEvent, useMemo } from 'react';
import { visibleText } from '../../src/base/visible-text.ts';
import { cleanMarkdown } from './clean-markdown.ts';
import './styles/strangers-text.css';

interface Props {
  readonly text: string;
  /** Who said it. */
  readonly by: string;
}

export function StrangersText({ text, by }: Props) {
  const html = useMemo(() => cleanMarkdown(text), [text]);
  return (
    <figure className="strangers-text">
      <figcaption>{visibleText(by)} says</figcaption>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: links inside are reached and opened by keyboard as links are */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: hears the clicks of the links inside */}
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: cleaned, and the page's policy runs nothing inline */}
      <div className="prose" onClick={askBeforeLeaving} dangerouslySetInnerHTML={{ __html: html }} />
    </figure>
  );
}

/** Nobody leaves without having seen where to. */
function askBeforeLeaving(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  if (window.confirm(`Open a page of ${link.host}?\n\n${link.href}`)) window.open(link.href, '_blank', 'noopener,noreferrer');
}
