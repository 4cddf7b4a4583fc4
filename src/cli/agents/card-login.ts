/** How an agent that lives elsewhere wants to be shown who calls, as far as its card says. */
import type { AgentCard, SecurityScheme } from '@a2a-js/sdk';

/** `token` goes with `Authorization: Bearer`; anything else cannot be given by one variable. */
export type CardLogin =
  | { readonly kind: 'token' }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'other'; readonly what: string };

/** What the card demands; nothing when whoever comes may call. The first that can be given counts. */
export function loginOf({ securityRequirements, securitySchemes }: AgentCard): CardLogin | undefined {
  if (securityRequirements.length === 0) return undefined;
  const ways = securityRequirements.map(({ schemes }) =>
    Object.keys(schemes).map((name) => (Object.hasOwn(securitySchemes, name) ? loginBy(securitySchemes[name]) : UNKNOWN)),
  );
  // A requirement without schemes is one that nobody has to meet.
  if (ways.some((way) => way.length === 0)) return undefined;
  const single = ways.flatMap((way) => (way.length === 1 ? way : []));
  return single.find(({ kind }) => kind !== 'other') ?? ways[0]?.find(({ kind }) => kind === 'other') ?? SEVERAL;
}

const UNKNOWN: CardLogin = { kind: 'other', what: 'something that its card does not explain' };
const SEVERAL: CardLogin = { kind: 'other', what: 'several things at once' };
/** What a header may be called, and those that are ours to set. */
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const OURS = /^(?:host|connection|content-.*|transfer-encoding|te|upgrade|expect|accept.*|a2a-.*|proxy-.*)$/i;

function loginBy(said: SecurityScheme | undefined): CardLogin {
  const { scheme } = said ?? {};
  switch (scheme?.$case) {
    case 'httpAuthSecurityScheme':
      return scheme.value.scheme.toLowerCase() === 'bearer'
        ? { kind: 'token' }
        : { kind: 'other', what: 'HTTP authentication of another kind than bearer' };
    case 'oauth2SecurityScheme':
    case 'openIdConnectSecurityScheme':
      return { kind: 'token' };
    case 'apiKeySecurityScheme': {
      const { name, location } = scheme.value;
      if (location !== 'header') return { kind: 'other', what: 'a key that is not sent in a header' };
      if (!HEADER.test(name) || OURS.test(name)) return { kind: 'other', what: 'a key in a header that cannot be used for it' };
      return { kind: 'header', name };
    }
    case 'mtlsSecurityScheme':
      return { kind: 'other', what: 'a certificate of the caller' };
    case undefined:
      return UNKNOWN;
  }
}
