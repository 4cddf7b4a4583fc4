/** Who one is, and how a browser gets in and out. */
import { z } from 'zod';
import { fail, ok } from '../../base/result.ts';
import { roleOfCaller } from '../../front/roles.ts';
import type { Logins } from '../logins.ts';
import { COOKIE, cookieIn, isOwnPage } from './door.ts';
import { defineRoute, type Route } from './route.ts';

const time = z.iso.datetime();
const who = z.object({ name: z.string(), role: z.enum(['viewer', 'operator', 'owner', 'caller']), version: z.string() });
const login = z.object({ name: z.string(), key: z.string().describe('what writes must carry as x-troupe-key'), expiresAt: time });
const code = z.object({ code: z.string(), path: z.string().describe('opened in a browser, it logs in'), expiresAt: time });

const group = 'Who asks';

export function loginRoutes(logins: Logins, version: string, proxied?: string): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'GET', path: '/me', group, deed: 'look', answer: who },
      summary: 'Who the token or the login belongs to, and what they may do.',
      handle: async ({ caller }) => ok({ kind: 'value', value: { name: caller.name, role: roleOfCaller(caller), version } }),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/login-codes', group, deed: 'look', answer: code, status: 201 },
      summary: 'A code with which a browser logs in as whoever asks: once, within ten minutes.',
      handle: async ({ caller }) => {
        const made = logins.code(caller.name);
        const value = { code: made.code, path: loginPath(made.code), expiresAt: isoTime(made.expiresAt) };
        return ok({ kind: 'value', value });
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/login', group, deed: 'anybody', answer: login },
      summary: 'Swaps a code for a cookie that scripts cannot read, and for the key that writes need beside it.',
      body: z.strictObject({ code: z.string().min(1).max(200) }),
      handle: async ({ body, header }) => {
        const made = isOwnPage(header, proxied) ? logins.swap(body.code) : undefined;
        if (made === undefined)
          return fail({
            status: 401,
            code: 'unknown_code',
            message: 'There is no such code, or not any more: each works once, within ten minutes.',
            fix: 'Have another one made: troupe console prints one.',
          });
        const { name, key, cookie, expiresAt } = made;
        const response = Response.json({ name, key, expiresAt: isoTime(expiresAt) });
        const safe = header('origin')?.startsWith('https://') === true ? '; Secure' : '';
        const until = `Expires=${new Date(expiresAt).toUTCString()}`;
        response.headers.set('set-cookie', `${COOKIE}=${cookie}; HttpOnly; SameSite=Strict; Path=/; ${until}${safe}`);
        return ok({ kind: 'response', response });
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/logout', group, deed: 'look', answer: z.object({}) },
      summary: 'Ends the login that asks.',
      handle: async ({ header }) => {
        const cookie = cookieIn(header);
        if (cookie !== undefined) logins.end(cookie);
        const response = Response.json({});
        response.headers.set('set-cookie', `${COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`);
        return ok({ kind: 'response', response });
      },
    }),
  ];
}

/** Behind the `#`: a browser sends it to nobody. A page of the console may follow, which is shown then. */
export const loginPath = (made: string): string => `/login#${made}`;

const isoTime = (at: number): string => new Date(at).toISOString();
