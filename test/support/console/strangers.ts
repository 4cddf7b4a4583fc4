/** What must not be anywhere in a page that shows words of strangers: what runs, loads, or looks like part of the page. */
import type { Page } from '../../../tools/browser/node_modules/playwright-core/index.js';

const FORBIDDEN =
  '.prose :is(script, iframe, object, embed, svg, math, form, input, button, img, video, audio, style, link, meta, base, template, dialog, [id], [name], [style], [class])';

/** What ran, and what is there that could; read in the page. */
const LOOK = `(() => {
  const all = [...document.querySelectorAll('*')];
  return {
    hit: window.hit,
    found: [...document.querySelectorAll(${JSON.stringify(FORBIDDEN)})].map((one) => one.outerHTML.slice(0, 200)),
    bad: [...document.querySelectorAll('.prose a[href]')].map((link) => link.protocol).filter((one) => !/^https?:$/.test(one)),
    handlers: all.filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
  };
})()`;

export const NOTHING_HIT = { hit: undefined, found: [], bad: [], handlers: 0 };

export const hitsIn = async (page: Page): Promise<object> => (await page.evaluate(LOOK)) as object;
