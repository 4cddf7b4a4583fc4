/** The webhooks of `troupe serve`: loaded only where the settings have some. Their secrets are in the environment. */
import type { Environment } from '../../base/environment.ts';
import type { Project } from '../../project/project.ts';
import type { Webhook } from '../../protocols/webhooks/webhooks.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { logError } from './mcp-needs.ts';

type Settings = NonNullable<Project['config']['serve']['webhooks']>;

/** Shorter ones can be guessed. */
const SECRET_BYTES = 16;

/** `whsec_` and base64, as Standard Webhooks have it, or any other text as it is. */
export function webhooksOf(settings: Settings, env: Environment): readonly Webhook[] {
  return settings.map(({ secretEnv, ...hook }) => {
    const text = env[secretEnv] ?? '';
    const secret = text.startsWith('whsec_') ? Buffer.from(text.slice('whsec_'.length), 'base64') : Buffer.from(text);
    if (secret.length < SECRET_BYTES)
      throw usageError(
        `serve.webhooks: the secret of ${hook.name} in ${secretEnv} has fewer than ${SECRET_BYTES} bytes`,
        `make one: export ${secretEnv}="whsec_$(openssl rand -base64 32)"`,
      );
    return { ...hook, secret };
  });
}

/** Resolves when nobody is told any more. */
export async function beginWebhooks(
  context: CommandContext,
  { config, ledger, engine }: Project,
  hooks: readonly Webhook[],
  { origin, stopping }: { readonly origin: string; readonly stopping: AbortSignal },
): Promise<void> {
  if (hooks.length === 0) return;
  const { tellWebhooks } = await import('../../protocols/webhooks/webhooks.ts');
  const { url = origin } = config.serve;
  const { clock } = context;
  await tellWebhooks({ ledger, engine, clock, stopping, origin: () => url, onError: logError(context, 'webhooks') }, hooks);
}
