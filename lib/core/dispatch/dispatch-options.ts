import { describeValue } from '../describe-value.js'
import { PostdateError } from '../errors.js'
import { LEASE_MARGIN_MS } from '../lease.js'

/** How a dispatcher works; every default suits a Lambda of 256 MB and a process that shares its host. */
export interface DispatchOptions {
  /** How often it looks at the due rows, at least. @default 1,000 */
  readonly pollMs?: number
  /** How far ahead it claims, so as to publish at the exact millisecond; below 50 it may be late by 50. @default 1,000 */
  readonly lookAheadMs?: number
  /** How long a claim lasts; more than the margin and the time-out of a publish together. @default 30,000 */
  readonly leaseMs?: number
  /** The transport's own time-out of a publish; no publish starts that could outlast its lease. @default 5,000 */
  readonly publishTimeoutMs?: number
  /** The most claims in hand. @default 1,000 */
  readonly maxInHand?: number
  /** The most bytes of envelopes in hand; one message is always allowed. @default 32 MiB */
  readonly maxInHandBytes?: number
  /** The most publish requests at once. @default 8 */
  readonly maxPublishing?: number
}

/** The least of each option; every one is an integer. */
const LEAST: Readonly<Record<keyof DispatchOptions, number>> = {
  pollMs: 1,
  lookAheadMs: 0,
  leaseMs: 1,
  publishTimeoutMs: 1,
  maxInHand: 1,
  maxInHandBytes: 1,
  maxPublishing: 1,
}

/**
 * Fills in the defaults and checks the ranges.
 * @throws PostdateError `options.invalid`
 */
export const settleDispatchOptions = (options: DispatchOptions): Required<DispatchOptions> => {
  const settled: Required<DispatchOptions> = {
    pollMs: options.pollMs ?? 1_000,
    lookAheadMs: options.lookAheadMs ?? 1_000,
    leaseMs: options.leaseMs ?? 30_000,
    publishTimeoutMs: options.publishTimeoutMs ?? 5_000,
    maxInHand: options.maxInHand ?? 1_000,
    maxInHandBytes: options.maxInHandBytes ?? 32 * 1024 * 1024,
    maxPublishing: options.maxPublishing ?? 8,
  }
  const refuse = (option: string, value: number, rule: string) =>
    new PostdateError('options.invalid', { option: `dispatch.${option}`, value: describeValue(value), rule })
  for (const option of Object.keys(LEAST) as (keyof DispatchOptions)[]) {
    const value = settled[option]
    if (!Number.isSafeInteger(value) || value < LEAST[option])
      throw refuse(option, value, `it must be an integer from ${LEAST[option]}`)
  }
  const shortestLeaseMs = LEASE_MARGIN_MS + settled.publishTimeoutMs + settled.lookAheadMs
  if (settled.leaseMs <= shortestLeaseMs) {
    const rule = `it must exceed margin, publish time-out and look-ahead together, ${shortestLeaseMs}`
    throw refuse('leaseMs', settled.leaseMs, rule)
  }
  return settled
}
