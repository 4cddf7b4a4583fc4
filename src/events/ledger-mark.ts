/** What the ledger's file calls itself (`TRUP`), as SQLite's `application_id`. Whoever meets such a file knows what it is. */
export const LEDGER_MARK = 0x54525550;
