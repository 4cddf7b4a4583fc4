/** Where Troupe keeps its ledger: agents cannot rewrite what happened, nor read other sessions. */
export const STATE_FOLDER = '.troupe';
