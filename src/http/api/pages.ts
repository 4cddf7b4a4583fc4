/** The few pages that there are: how to get in, and what the API does. Nothing in them comes from elsewhere, or from an agent. */
import { limits } from '../../base/limits.ts';
import { ok } from '../../base/result.ts';
import { plainPage } from '../described/html.ts';
import { openApi } from '../described/openapi.ts';
import { REFERENCE_STYLE, referencePage } from '../described/reference.ts';
import { defineRoute, type Route, type RouteReply } from './route.ts';

export function pageRoutes(routes: readonly Route[], version: string): readonly Route[] {
  const root = { method: 'GET', at: 'root', group: 'Pages', deed: 'anybody' } as const;
  const described = JSON.stringify(openApi(routes, version));
  const reference = referencePage(routes, version);
  return [
    defineRoute({
      ...{ ...root, path: '/openapi.json', answer: 'text' },
      summary: 'This table for programs: OpenAPI 3.1.',
      handle: async () => ok(respond(described, 'application/json')),
    }),
    defineRoute({
      ...{ ...root, path: '/reference', answer: 'page' },
      summary: 'This table for people: what each route takes, answers and refuses.',
      handle: async () => ok(respond(reference, 'text/html; charset=utf-8', "style-src 'self'")),
    }),
    defineRoute({
      ...{ ...root, path: '/reference.css', answer: 'text' },
      summary: 'How the page of this table looks.',
      handle: async () => ok(respond(REFERENCE_STYLE, 'text/css; charset=utf-8')),
    }),
    defineRoute({
      ...{ ...root, path: '/login', answer: 'page' },
      summary: 'The page that swaps the code behind the # of its address for a login.',
      handle: async () => ok(respond(LOGIN, 'text/html; charset=utf-8', "script-src 'self'; connect-src 'self'")),
    }),
    defineRoute({
      ...{ ...root, path: '/login.js', answer: 'text' },
      summary: 'What that page does.',
      handle: async () => ok(respond(LOGIN_SCRIPT, 'text/javascript; charset=utf-8')),
    }),
  ];
}

/** Where the console keeps the page that it could not show to a stranger. */
const RETURN = 'troupe-return';

const CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const respond = (body: string, type: string, more = ''): RouteReply<never> => ({
  kind: 'response',
  response: new Response(body, {
    headers: { 'content-type': type, 'content-security-policy': more === '' ? CLOSED : `${CLOSED}; ${more}` },
  }),
});

const LOGIN = plainPage('Troupe', '<script src="/login.js" defer></script>', '<main><p id="said">Logging in …</p></main>');

/**
 * The code leaves the address before anything else happens: nobody finds it in the history. Behind it may stand the page that is
 * shown then; otherwise it is the one that somebody was sent away from in this browser, a moment ago. Never one of another
 * origin.
 */
const LOGIN_SCRIPT = `const [, code, page] = /^#?([^/]*)(.*)$/s.exec(location.hash);
history.replaceState(null, '', location.pathname);
const wanted = () => {
  const [at, left] = (localStorage.getItem('${RETURN}') ?? '').split(' ');
  localStorage.removeItem('${RETURN}');
  return performance.timeOrigin + performance.now() - Number(at) < ${limits.loginCodeMs} ? left : undefined;
};
const within = (path) => {
  const target = URL.parse(path || '/', location.origin);
  return target?.origin === location.origin && target.pathname !== '/login' ? target.href : '/';
};
const say = (text) => { document.getElementById('said').textContent = text; };
const body = JSON.stringify({ code });
fetch('/api/v1/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(async (answer) => {
  const said = await answer.json();
  if (!answer.ok) return say(said.error.message + ' ' + (said.error.fix ?? ''));
  localStorage.setItem('troupe-key', said.key);
  const left = wanted();
  location.replace(within(page || left));
}).catch(() => say('The server does not answer.'));
`;
