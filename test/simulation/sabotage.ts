import type { Claim, DelayingPersistence, SettleOutcome } from '../../lib/core/persistence.js'

/** Breaks a store on purpose. */
export type Sabotage = (store: DelayingPersistence) => DelayingPersistence

/** A store that breaks one promise, and the rule by which that is found out. */
export interface SabotagedStore {
  readonly what: string
  readonly rule: string
  readonly sabotage: Sabotage
}

/** So late that every lease has ended. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER

/** Removes whatever is there, by a recall for which every lease has ended. */
const removeAnyhow = async (store: DelayingPersistence, claim: Claim): Promise<SettleOutcome> => {
  await store.recallOutgoingMessage(claim, END_OF_TIME)
  return { outcome: 'settled' }
}

/** Stores that break one promise each. */
export const SABOTAGES: readonly SabotagedStore[] = [
  {
    what: 'a settle removes the row whatever lease it has',
    rule: 'only the holder settles',
    sabotage: (store) => ({
      ...store,
      deleteOutgoingMessages: async (claims) => {
        const outcomes = await store.deleteOutgoingMessages(claims)
        return Promise.all(
          outcomes.map((outcome, index) => {
            const claim = claims[index]
            return outcome.outcome === 'lease-lost' && claim !== undefined ? removeAnyhow(store, claim) : outcome
          }),
        )
      },
    }),
  },
  {
    what: 'a claim takes rows that another holds',
    rule: 'one live lease',
    sabotage: (store) => ({
      ...store,
      claimDueOutgoingMessages: (request) => store.claimDueOutgoingMessages({ ...request, now: request.now + 10_000 }),
    }),
  },
  {
    what: 'a claim tells a due instant a second too early',
    rule: 'claim',
    sabotage: (store) => ({
      ...store,
      claimDueOutgoingMessages: async (request) => {
        const result = await store.claimDueOutgoingMessages(request)
        return { ...result, claims: result.claims.map((claim) => ({ ...claim, dueAt: claim.dueAt - 1_000 })) }
      },
    }),
  },
  {
    what: 'a store forgets a row and calls it stored',
    rule: 'never lost',
    sabotage: (store) => {
      let calls = 0
      return {
        ...store,
        storeOutgoingMessages: (messages) =>
          ++calls % 20 === 0
            ? Promise.resolve(messages.map(() => ({ outcome: 'stored' }) as const))
            : store.storeOutgoingMessages(messages),
      }
    },
  },
  {
    what: 'a release forgets that the message was perhaps published',
    rule: 'truthful',
    sabotage: (store) => ({
      ...store,
      releaseOutgoingMessages: (releases) =>
        store.releaseOutgoingMessages(releases.map((release) => ({ ...release, published: 'no' }))),
    }),
  },
  {
    what: 'a recall withdraws a row that is being published',
    rule: 'truthful',
    sabotage: (store) => ({
      ...store,
      recallOutgoingMessage: (address) => store.recallOutgoingMessage(address, END_OF_TIME),
    }),
  },
  {
    what: 'a row dies of its first failure',
    rule: 'dead',
    sabotage: (store) => ({
      ...store,
      releaseOutgoingMessages: (releases) =>
        store.releaseOutgoingMessages(
          releases.map((release) => ({ ...release, dead: { reason: 'it failed', diedAt: release.notBefore } })),
        ),
    }),
  },
  {
    what: 'a recall answers and does nothing',
    rule: 'truthful',
    sabotage: (store) => ({
      ...store,
      recallOutgoingMessage: async () => 'recalled',
    }),
  },
]
