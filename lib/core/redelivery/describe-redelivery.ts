import { plainDelay, type RedeliveryOptions, type RedeliveryPolicy, settleRedelivery } from './redelivery-policy.js'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/**
 * A duration as people write it, exact to the millisecond.
 * @example
 * formatDuration(54_524_000) // '15 h 8 min 44 s'
 */
export const formatDuration = (durationMs: number): string => {
  const parts: string[] = []
  let rest = durationMs
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(rest / unitMs)
    rest -= count * unitMs
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.length === 0 ? '0 ms' : parts.join(' ')
}

/** Longer lists of waits end in an ellipsis. */
const MOST_WAITS = 10

const describeWaits = (policy: RedeliveryPolicy): string => {
  const { maxAttempts, delaysMs, backoff, delayMs, maxDelayMs } = policy
  const waits = Array.from({ length: Math.min(maxAttempts - 1, MOST_WAITS) }, (_, index) =>
    formatDuration(plainDelay(policy, index + 1)),
  )
  if (waits.length === 0) return 'none'
  const list = waits.join(', ') + (maxAttempts - 1 > MOST_WAITS ? ', …' : '')
  if (delaysMs !== undefined) return `${list} (as listed)`
  if (backoff === 'fixed') return `${list} (fixed)`
  return `${list} (from ${formatDuration(delayMs)}, doubled, at most ${formatDuration(maxDelayMs)})`
}

const describeJitter = ({ jitter }: RedeliveryPolicy): string =>
  jitter === 0 ? 'none' : `each wait is shortened by up to ${Number((jitter * 100).toFixed(2))} %`

/** The lines of a policy. */
export const describePolicy = (policy: RedeliveryPolicy): readonly string[] => {
  if (!policy.enabled)
    return ['redelivery   off: the queue retries at its visibility time-out, then its redrive policy']
  const { maxAttempts, never } = policy
  return [
    `redelivery   on a durable persistence and a standard queue; elsewhere the queue retries`,
    `attempts     ${maxAttempts}, then the dead letters`,
    `waits        ${describeWaits(policy)}`,
    `jitter       ${describeJitter(policy)}`,
    `never for    ${never === undefined ? 'no error' : `errors that the function ${never.name || 'never'} picks`}`,
  ]
}

/**
 * The effective configuration of redelivery as text: what the options mean, with the defaults filled in.
 * @throws PostdateError `options.invalid`, `options.unknown`
 * @example
 * console.log(describeRedelivery({ delay: { minutes: 1 }, maxAttempts: 3 }))
 */
export const describeRedelivery = (options: RedeliveryOptions = {}): string =>
  describePolicy(settleRedelivery(options)).join('\n')
