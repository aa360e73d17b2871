import type { Random } from '../random.js'

/** What is done over the network. */
export const OPERATIONS = ['store', 'claim', 'publish', 'settle', 'release'] as const

/** Where a call is: about to leave, arrived and not yet done, done and not yet answered, or its answer is there. */
export const PLACES = ['leaving', 'arrived', 'done', 'answered'] as const

/** A call of one kind. */
export type Operation = (typeof OPERATIONS)[number]

/** A moment in a call. */
export type Place = (typeof PLACES)[number]

/** Every await of claim, publish and settle, and of store and release besides. */
export const POINTS: readonly string[] = OPERATIONS.flatMap((operation) =>
  PLACES.map((place) => `${operation} ${place}`),
)

/** When a recall begins. */
export interface RecallPlan {
  /** At a moment in a call, or so many milliseconds after the beginning. */
  readonly at: { readonly point: string; readonly nth: number } | { readonly afterMs: number }
  /** It is done there and then, while the call stands still; otherwise it takes its way as any other call. */
  readonly isExact: boolean
}

/** Draws when a message is recalled: mostly at a point, each as likely as any other. */
export const planRecalls = (random: Random): readonly RecallPlan[] =>
  Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({
    at: random.chance(0.9)
      ? { point: random.pick(POINTS), nth: random.pick([1, 1, 1, 2, 3]) }
      : { afterMs: random.integer(1, 20_000) },
    isExact: random.chance(0.7),
  }))

/** Moments in calls, and what waits for them. */
export interface Points {
  /** A call is there. What happens there and then is over when this resolves. */
  pass(operation: Operation, place: Place): Promise<void>
}

/** Counts moments, and tells of each by its name and number. */
export const createPoints = (at: (point: string, nth: number) => Promise<void>): Points => {
  const counts = new Map<string, number>()
  return {
    pass: (operation, place) => {
      const point = `${operation} ${place}`
      const nth = (counts.get(point) ?? 0) + 1
      counts.set(point, nth)
      return at(point, nth)
    },
  }
}
