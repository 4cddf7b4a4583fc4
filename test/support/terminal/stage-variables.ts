/** How a stage tells the program on it what time it is, and where its chance begins. */
export const STAGE_TIME = 'TROUPE_STAGE_TIME';
export const STAGE_SEED = 'TROUPE_STAGE_SEED';
