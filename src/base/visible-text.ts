/** Text that somebody has to judge: what a screen would not show, or show in another order, is spelled out. */

/** Controls, marks that hide or reorder, other spaces than the ordinary one. Newlines and tabs are seen as they are. */
const UNSEEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export function visibleText(text: string): string {
  return text.replace(UNSEEN, (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
