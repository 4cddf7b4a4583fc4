/** Templates of agent files: places in braces, each by its name or by its number. */

/** Each place is filled once, from left to right: what is filled in is not looked at again. Other braces are text. */
export function filled(template: string, places: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (place, name: string) => (Object.hasOwn(places, name) ? (places[name] ?? '') : place));
}

/** Whether the template has this place, under any of its names. */
export const hasPlace = (template: string, names: readonly string[]): boolean =>
  names.some((name) => template.includes(`{${name}}`));

/** What a template must have room for, by the key under which it stands: each place with the names that it goes by. */
export const TEMPLATE_PLACES = {
  userPromptTemplate: [
    ['request', '0'],
    ['catalogue', '1'],
  ],
  fallbackReasonTemplate: [['reason', '0']],
  partialFailureTemplate: [['successMessage'], ['failureMessage']],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;
