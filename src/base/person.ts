/** In threads and in the ledger this name stands for whoever uses Troupe. No agent may speak under it. */
export const PERSON = 'user';
