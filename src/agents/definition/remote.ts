/** An agent that lives elsewhere: where its card is, and what is shown there to be let in. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';

const card = z.url({ protocol: /^https?$/ }).max(limits.peerUrlCharacters);
/** A secret has no place in a file: this names the variable that holds it. */
const variable = z
  .string()
  .regex(/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/, { error: `must name a variable of the environment, such as \${WEATHER_TOKEN}` });

/** Addresses of extensions of the protocol. */
export const extensionsSchema = z
  .array(
    z
      .string()
      .regex(/^[^\s,]+$/, { error: 'must be the address of an extension, such as https://example.org/polite/v1' })
      .max(limits.peerUrlCharacters),
  )
  .max(limits.peerExtensions);

const remoteSchema = z.strictObject({
  card,
  /** Sent as `Authorization: Bearer …`. */
  token: variable.optional(),
  headers: z.record(z.string().min(1).max(200), z.string().max(4_000)).optional(),
  /** The SHA-256 of the card: another one is refused. */
  pin: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, { error: 'must be 64 hexadecimal digits' })
    .optional(),
  /** The public key whose signature the card must bear: PEM, or a JWK as JSON. */
  key: z.string().min(1).max(limits.peerKeyCharacters).optional(),
  binding: z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC']).optional(),
  /** What is shown to be let in may go unencrypted to another machine: the network between is one's own. */
  plain: z.boolean().optional(),
  /** It takes a message once, however often it is sent: after a crash it is sent again without a question. */
  idempotent: z.boolean().optional(),
  /** Extensions of the protocol that its card must name: each request says that they are spoken. */
  extensions: extensionsSchema.optional(),
});

/** Where it is. */
export const elsewhereSchema = z.union([card, remoteSchema]);
/** Whether peers may find the agent; or where it is, when it is a peer's. */
export const a2aSchema = z.union([z.boolean(), card, remoteSchema]);

/** Variables are still names: their values are nowhere but in the environment. */
export type RemoteAgent = z.infer<typeof remoteSchema>;

/** What stands in the place of a model, for whoever shows or counts it. */
export const remoteModel = ({ card: address }: RemoteAgent): string => `a2a:${URL.parse(address)?.host ?? address}`;
