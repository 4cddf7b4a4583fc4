/** Settings of package managers: they decide whether a script is run at all, by what, and in which package. */

export const MANAGER_SETTINGS =
  /(?:^|\/)(?:\.npmrc|\.yarnrc[^/]*|\.pnpmrc|bunfig\.toml|pnpm-workspace\.yaml|lerna\.json|\.pnpmfile\.c?js)$/;

/** Where packages come from, and what is printed. */
const HARMLESS = new RegExp(
  `^["']?(?:${[
    '@[\\w.-]+:registry|//[^=]*|registry|always-auth|_auth\\w*|email|ca|cafile|strict-ssl|proxy|https-proxy|noproxy|maxsockets',
    'save|save-exact|save-prefix|engine-strict|fund|audit|audit-level|package-lock|lockfile|legacy-peer-deps|install-links',
    'strict-peer-dependencies|auto-install-peers|node-linker|hoist|hoist-pattern|public-hoist-pattern|shamefully-hoist|progress|color',
    'prefer-offline|offline|update-notifier|fetch-\\w[\\w-]*|cache|prefer-frozen-lockfile|link-workspace-packages|resolution-mode',
    'nodeLinker|npmRegistryServer|npmAuthToken|enableTelemetry|enableGlobalCache|compressionLevel|defaultSemverRangePrefix',
    'enableImmutableInstalls|httpProxy|httpsProxy|enableStrictSsl',
  ].join('|')})["']?\\s*(?:[=:]|\\s|$)`,
);

/** The first line that is not known to leave scripts alone. */
export function strangeSetting(lines: readonly string[]): string | undefined {
  return lines.find((line) => !/^\s*(?:[#;]|$)/.test(line) && !HARMLESS.test(line.trim()));
}
