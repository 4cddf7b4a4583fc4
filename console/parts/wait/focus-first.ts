/** For a field that appears because somebody asked for it: they go on by typing. */
export const focusFirst = (field: HTMLElement | null): void => field?.focus();
