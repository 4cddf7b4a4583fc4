/** Bounds of agents that live elsewhere. */
import { MIB, MINUTE, SECOND } from './units.ts';

export const peerLimits = {
  // cards of agents that live elsewhere
  cardBytes: 1 * MIB,
  cardDepth: 32,
  cardInterfaces: 100,
  cardSkills: 1_000,
  cardMs: 10 * SECOND,
  cardFreshMs: 60 * MINUTE,
  cardKeptMs: 24 * 60 * MINUTE,
  cardsKept: 500,
  cardReasonCharacters: 500,
  cardTags: 20,
  cardTagCharacters: 60,
  cardSkillsShown: 10,

  // agents that live elsewhere
  peerUrlCharacters: 2_000,
  peerKeyCharacters: 10_000,
  peerIdCharacters: 500,
  peerMessageBytes: 1 * MIB,
  peerAnswerBytes: 1 * MIB,
  peerArtifacts: 50,
  peerArtifactBytes: 1 * MIB,
  peerDataDepth: 100,
  peerQuestionCharacters: 4_000,
  peerReasonCharacters: 2_000,
  peerExchanges: 20,
  peerStreamBytes: 64 * MIB,
  peerStreamEvents: 20_000,
  peerSilenceMs: 60 * SECOND,
  peerCallMs: 30 * SECOND,
  peerPollMs: 1 * SECOND,
  peerPollMaxMs: 30 * SECOND,
  peerAttempts: 5,
  peerRetryMs: 500,
  peerRetryMaxMs: 10 * SECOND,
  peerCancelMs: 10 * SECOND,
  peerHistory: 20,
  peerTasksListed: 50,
  peerClientsKept: 64,
} as const;
