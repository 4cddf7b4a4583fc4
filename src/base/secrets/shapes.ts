/**
 * Texts that are secret whatever they are called: the shapes of well-known keys, and what stands where a secret belongs (behind
 * `Bearer`, in the login of an address).
 */
import { present } from '../present.ts';
import { canBeSecret } from './values.ts';

/**
 * `within` looks over a text or its JSON, and may cry wolf; `exact` says what is secret of a text. Both want an edge before a
 * key, so that data is not mistaken for one: no letter or digit, unless that is the end of an escape (`\\n`, `%3D`). Signs are
 * edges, too: a key may stand behind the `+` of a diff. Nothing here may take longer than in proportion to the text: no look back
 * over a repetition without a bound, and no repetition that ends in what it may consist of.
 */
export interface Shape {
  readonly name: string;
  readonly within: string;
  /** What is secret is its group, which ends where the match ends; without a group it is all of it. */
  readonly exact: RegExp;
  /** How much of what stands before it belongs to it as well: gets the text from the last match of this shape up to this one. */
  before?(text: string): number;
  /** Has the last word, where words of ordinary texts can have the shape. */
  accepts?(found: string): boolean;
}

const EDGE = '(?:(?<![A-Za-z0-9])|(?<=\\\\(?:[0bfnrt]|u[0-9a-fA-F]{4}))|(?<=%[0-9A-Fa-f]{2}))';

const shape = (name: string, within: string, accepts?: Shape['accepts']): Shape => ({
  name,
  within: `${EDGE}(?:${within})`,
  exact: new RegExp(`${EDGE}(?:${within})`, 'g'),
  ...present({ accepts }),
});

/** Of a key, unlike `sk-fading-circle-with-a-long-name`, some characters are no small letters. */
const isMixed = (found: string): boolean => /\d|[a-z][A-Z]|[A-Z][a-z]|[A-Za-z]{20}/.test(found.slice(3));

/** Before a secret that an event carries for whoever runs on it. */
export const KEPT_SECRET = 'tsec_';

const PRIVATE_KEY = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';

/** What a diff or a listing puts before a line. */
const LINE_BEFORE = /^(?:[ +-]|\d{1,9}\t)?$/;
const KEY_LINE = /^(?:[ +-]|\d{1,9}\t)?[A-Za-z0-9+/=]+\r?\n?$/;

export const SHAPES: readonly Shape[] = [
  shape('anthropic-key', 'sk-ant-[A-Za-z0-9_-]{16,}'),
  shape('api-key', '(?:sk|rk|pk|gsk|xai|fw|nvapi|pplx)-[A-Za-z0-9_-]{20,}|(?:gsk|r8|hf|xai)_[A-Za-z0-9]{30,}', isMixed),
  shape('stripe-key', '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}'),
  shape('google-key', 'AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\\.[A-Za-z0-9_-]{20,}'),
  shape('github-token', 'gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}'),
  shape('gitlab-token', 'gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{20,}', isMixed),
  shape('npm-token', 'npm_[A-Za-z0-9]{30,}'),
  shape('pypi-token', 'pypi-[A-Za-z0-9_-]{40,}'),
  shape('docker-token', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}'),
  shape('slack-token', 'xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}'),
  shape('sendgrid-key', 'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}'),
  shape('shopify-token', 'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}'),
  shape('digitalocean-token', 'do[opr]_v1_[a-f0-9]{64}'),
  shape('linear-key', 'lin_(?:api|oauth)_[A-Za-z0-9]{30,}'),
  shape('age-key', 'AGE-SECRET-KEY-1[0-9A-Z]{50,}'),
  // Nothing but letters and digits: in base64 data it goes on.
  shape('aws-key', 'A(?:KIA|SIA)[0-9A-Z]{16}(?![A-Za-z0-9])'),
  // What others gave us to show it to them again: ours to keep, and nobody's to read.
  shape('kept-secret', `${KEPT_SECRET}[A-Za-z0-9_-]+`),
  shape('jwt', 'eyJ[A-Za-z0-9_-]{8,1000}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*'),
  {
    name: 'aws-secret',
    within: '[Aa][Ww][Ss]_?[Ss][Ee][Cc]|[Ss]ecretAccessKey',
    exact: /(?<=(?:aws_?secret_?(?:access_?)?key|SecretAccessKey)\W{1,5})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi,
  },
  {
    name: 'webhook',
    within: 'hooks\\.slack\\.com/services/|discord(?:app)?\\.com/api/webhooks/',
    exact: /(?<=hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/)[A-Za-z0-9/_-]{20,}/g,
  },
  {
    name: 'bearer',
    within: '[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9._~+/=-]{16,}',
    exact: /\bbearer +([A-Za-z0-9._~+/=-]{16,})/gi,
    accepts: (found) => isMixed(`   ${found}`),
  },
  {
    name: 'basic-auth',
    within: '[Bb]asic +[A-Za-z0-9+/]{12,}={0,2}',
    exact: /\bauthorization\W{1,5}basic +([A-Za-z0-9+/]{12,}={0,2})/gi,
  },
  {
    name: 'password',
    // The host begins behind the last @: a name before that one belongs to the password.
    within: '[A-Za-z0-9+.-]://[^\\s/:@]{0,100}:(?:[^\\s/@]{1,200}(?:@[A-Za-z0-9.-]{1,100}){1,3}|[^\\s/@]{8,200})@',
    exact: /(?<=[a-z0-9+.-]:\/\/[^\s/:@]{0,100}:)(?:[^\s/@]{1,200}(?:@[a-z0-9.-]{1,100}){1,3}|[^\s/@]{8,200})(?=@)/gi,
    accepts: canBeSecret,
  },
  {
    // Also without its end, as it is when a text was cut,
    name: 'private-key',
    within: `-----BEGIN ${PRIVATE_KEY}`,
    exact: new RegExp(`-----BEGIN ${PRIVATE_KEY}[\\s\\S]*?(?:-----END ${PRIVATE_KEY}|$)`, 'g'),
  },
  {
    // or without its beginning. The lines before it are found from here backwards.
    name: 'private-key',
    within: `-----END ${PRIVATE_KEY}`,
    exact: new RegExp(`-----END ${PRIVATE_KEY}`, 'g'),
    before: (text) => {
      const own = text.lastIndexOf('\n') + 1;
      let from = LINE_BEFORE.test(text.slice(own)) ? own : text.length;
      for (;;) {
        const line = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
        if (from === 0 || !KEY_LINE.test(text.slice(line, from))) return text.length - from;
        from = line;
      }
    },
  },
];
