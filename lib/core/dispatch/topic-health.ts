import type { Clock } from '../clock.js'
import type { Observer } from '../observation.js'

/** Waits between probes of a topic that takes nothing: 1 s, doubled up to 15 s. */
const PROBE_AFTER_MS = [1_000, 2_000, 4_000, 8_000, 15_000]
const LONGEST_PROBE_MS = Math.max(...PROBE_AFTER_MS)

/** Whether the topic takes messages, and when to probe it again. */
export interface TopicHealth {
  /** Grows at every failure that counts; a publish remembers the one it started in. */
  generation(): number
  /** When the next probe is allowed, epoch milliseconds; `undefined` while the topic is up. */
  nextProbeAt(): number | undefined
  /** A publish of this generation found the topic down. Answers whether that is news: several may fail at once. */
  failed(generation: number, reason: string): boolean
  /** A publish of this generation got through. One that started before the last failure proves nothing. */
  succeeded(generation: number): void
}

/** Watches one topic. */
export const watchTopic = (clock: Clock, observe: Observer): TopicHealth => {
  let generation = 0
  let probes = 0
  let downSince: number | undefined
  let probeAt: number | undefined
  return {
    generation: () => generation,
    nextProbeAt: () => {
      // Farther away than any wait, it was set by a clock that has been set back since.
      if (probeAt !== undefined) probeAt = Math.min(probeAt, clock.now() + LONGEST_PROBE_MS)
      return probeAt
    },
    failed: (started, reason) => {
      if (started !== generation) return false
      generation++
      const now = clock.now()
      downSince ??= now
      probeAt = now + (PROBE_AFTER_MS[Math.min(probes, PROBE_AFTER_MS.length - 1)] ?? 0)
      probes++
      observe({ type: 'topic-down', reason, probe: probes, nextProbeAt: probeAt })
      return true
    },
    succeeded: (started) => {
      if (downSince === undefined || started !== generation) return
      observe({ type: 'topic-up', downMs: clock.now() - downSince })
      probes = 0
      downSince = undefined
      probeAt = undefined
    },
  }
}
