/** What must not be anywhere in a page that shows words of strangers: what runs, loads, or looks like part of the page. */
import type { Page } from '../../../tools/browser/node_modules/playwright-core/index.js';

const FORBIDDEN =
  '.prose :is(script, iframe, object, embed, svg, math, form, input, button, img, video, audio, style, link, meta, base, template, dialog, [id], [name], [style], [class])';

/** What hides, turns around or drives a screen: beside the words of an agent it is spelled out. */
const UNSEEN = '[\\u0000-\\u0008\\u000e-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069]';

/** What ran, and what is there that could; read in the page. */
const LOOK = `(() => {
  const all = [...document.querySelectorAll('*')];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const unseen = [];
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    if (/${UNSEEN}/.test(text.data) && text.parentElement.closest('.prose, textarea, script, style') === null)
      unseen.push(text.parentElement.outerHTML.slice(0, 200));
  return {
    hit: window.hit,
    found: [...document.querySelectorAll(${JSON.stringify(FORBIDDEN)})].map((one) => one.outerHTML.slice(0, 200)),
    bad: [...document.querySelectorAll('.prose a[href]')].map((link) => link.protocol).filter((one) => !/^https?:$/.test(one)),
    unseen,
    handlers: all.filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
  };
})()`;

export const NOTHING_HIT = { hit: undefined, found: [], bad: [], unseen: [], handlers: 0 };

export const hitsIn = async (page: Page): Promise<object> => (await page.evaluate(LOOK)) as object;
