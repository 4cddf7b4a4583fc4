/**
 * Types for the two parts of undici that the transport loads on their own: the whole package takes three times as long
 * to start.
 */
declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent } from 'undici';

  const dispatcher: typeof Agent;
  export = dispatcher;
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import type { EnvHttpProxyAgent } from 'undici';

  const dispatcher: typeof EnvHttpProxyAgent;
  export = dispatcher;
}
