import type { Announce } from './announcing.js'
import { describeValue } from './describe-value.js'
import { DelayedDeliveryNotSupported, isPostdateError, PostdateError, reasonOf } from './errors.js'
import { formatHandle } from './handle.js'
import { shardOf } from './ids.js'
import { readKeyOptions } from './keys.js'
import { defaultDelayOf, type MessageKind } from './message.js'
import { checkSendOptions } from './options.js'
import { missingMethods, type OutgoingMessage } from './persistence.js'
import { checkSize, type Inherited, prepareEnvelope } from './prepare.js'
import { publishNow } from './publish-now.js'
import { type DeliveryResult, type PreparedMessage, receiptOf } from './receipt.js'
import type { RedeliveryCopy } from './redelivery/redelivery-copy.js'
import { settleDueAt } from './schedule/due-instant.js'
import { readSchedule } from './schedule.js'
import type { BusSettings } from './settings.js'
import { createKeyedStore, isKeyed } from './store-under-key.js'

export type { DeliveryResult, PreparedMessage, Receipt } from './receipt.js'
export { receiptOf } from './receipt.js'

/** What to prepare. */
export interface SendOrder {
  readonly kind: MessageKind
  readonly message: unknown
  readonly options: object
  readonly inherited: Inherited
  readonly makeId: (content: string) => string
  /** Refuse a delay on a persistence that a frozen or ended process would lose. */
  readonly requireDurable: boolean
}

/** The one way out of a bus: everything that is sent is prepared and delivered here. */
export interface Outbox {
  /** Checks and builds a message. Nothing is stored or published yet. @throws PostdateError of the codes of section "message" and "schedule" */
  prepare(order: SendOrder): Promise<PreparedMessage>
  /**
   * Stores the rows, then publishes what goes at once. One result per message, in order. `together`: when a row is not
   * stored, nothing is published either.
   */
  deliver(
    messages: readonly PreparedMessage[],
    repeated: 'own' | 'derived',
    failing?: 'together' | 'apart',
  ): Promise<readonly DeliveryResult[]>
  /** Stores a copy for one receiver. @throws PostdateError `persistence.*` when the shard counts can't be read */
  redeliver(copy: RedeliveryCopy): Promise<DeliveryResult>
}

/** Makes the outbox of a bus. `announce` is told of every row once it is durable. */
export const createOutbox = (settings: BusSettings, announce: Announce): Outbox => {
  const { name: bus, persistence, transport, clock, logger, observe } = settings
  const storeKeyed = createKeyedStore(settings, announce)
  let warned = false

  const checkDelayable = (name: string, requireDurable: boolean): void => {
    const missing = missingMethods(persistence)
    // One that could store but not claim would take the message and never let it go.
    if (missing.length > 0) throw new DelayedDeliveryNotSupported({ persistence: persistence.name, name, missing })
    if (persistence.durable !== false) return
    if (requireDurable) throw new PostdateError('persistence.not-durable', { persistence: persistence.name, name })
    if (warned) return
    warned = true
    logger.warn(
      `scheduled messages are kept by the persistence ${persistence.name}: a restart of this process loses them; ` +
        'give createBus a durable one, e.g. persistence: dynamoDbPersistence({ tableName })',
    )
  }

  const unavailable = (operation: string, cause: unknown): PostdateError => {
    if (isPostdateError(cause)) return cause
    const details = { persistence: persistence.name, operation, reason: reasonOf(cause) }
    return new PostdateError('persistence.unavailable', details, cause)
  }

  let reading: Promise<number> | undefined
  /** Ten thousand messages prepared at once ask once. */
  const readWriteShards = (): Promise<number> => {
    reading ??= readShards().finally(() => {
      reading = undefined
    })
    return reading
  }

  const readShards = async (): Promise<number> => {
    try {
      const { coordination } = persistence
      if (coordination?.writeShards !== undefined) return await coordination.writeShards()
      return (await coordination?.readShards())?.write ?? 1
    } catch (cause) {
      throw unavailable('read the shard counts', cause)
    }
  }

  const prepare = async (order: SendOrder): Promise<PreparedMessage> => {
    const now = clock.now()
    checkSendOptions(order.options)
    const asked = readSchedule(order.options, now, settings.schedule, defaultDelayOf(order.message))
    const askedKey = readKeyOptions(order.options)
    if (askedKey !== undefined && asked.askedAt === undefined)
      throw new PostdateError('options.invalid', {
        option: 'key',
        value: describeValue(askedKey.key),
        rule: 'it goes with a time; without one nothing is scheduled',
      })
    let dueAt: number | undefined
    const prepared = await prepareEnvelope({
      ...order,
      dueAt: (messageId) => {
        // A key is kept by the store alone, so a message with one goes through it, however soon it is due.
        const soonest = askedKey === undefined ? undefined : now
        dueAt = settleDueAt(asked, messageId, now, settings.schedule.resolutionMs) ?? soonest
        return dueAt
      },
      discardAfterMs: asked.discardAfterMs,
      sentAt: now,
      middleware: settings.outgoing,
    })
    const envelope = askedKey === undefined ? prepared : { ...prepared, key: askedKey.key }
    const limits = [{ maxBytes: transport.limits.maxMessageBytes, limit: `the transport ${transport.name}` }]
    if (dueAt === undefined) {
      checkSize(envelope, dueAt, limits)
      return { envelope }
    }
    checkDelayable(envelope.name, order.requireDurable)
    const { maxEnvelopeBytes: maxBytes } = persistence
    if (maxBytes !== undefined) limits.push({ maxBytes, limit: `the persistence ${persistence.name}` })
    checkSize(envelope, dueAt, limits)
    const address = { shard: shardOf(envelope.messageId, await readWriteShards()), dueAt, rowId: envelope.messageId }
    const recallHandle = formatHandle({ bus, ...address })
    if (askedKey === undefined) return { envelope, row: { ...address, envelope }, recallHandle }
    if (persistence.keys === undefined)
      throw new PostdateError('persistence.keys-not-supported', { persistence: persistence.name })
    return { envelope, row: { ...address, envelope, key: askedKey.key }, recallHandle, asked: askedKey }
  }

  const storeAll = async (rows: readonly OutgoingMessage[]) => {
    try {
      return (await persistence.storeOutgoingMessages?.(rows)) ?? []
    } catch (cause) {
      const error = unavailable(`store ${rows.length} messages`, cause)
      return rows.map(() => ({ outcome: 'failed', stored: 'unknown', error }) as const)
    }
  }

  const store = async (
    messages: readonly PreparedMessage[],
    repeated: 'own' | 'derived',
  ): Promise<DeliveryResult[]> => {
    const rows = messages.flatMap(({ row }) => (row === undefined ? [] : [row]))
    const outcomes = await storeAll(rows)
    const durable: OutgoingMessage[] = []
    const results = rows.map((row, index): DeliveryResult => {
      const { messageId, name } = row.envelope
      const found = outcomes[index]
      const about = { messageId, dueAt: row.dueAt }
      switch (found?.outcome) {
        case 'stored':
        case 'duplicate':
          durable.push(row)
          // A copy is no message that anyone has sent; its receiver tells of it.
          if (row.target === undefined) observe({ type: 'scheduled', messageId, name, dueAt: row.dueAt })
          return { ok: true }
        case 'recalled':
          if (repeated === 'own') return { ok: false, error: new PostdateError('message.recalled', about) }
          // A handler that runs again repeats its sends; one that was recalled after the first run stays so.
          observe({ type: 'send-stayed-recalled', messageId, name })
          return { ok: true }
        case 'conflict':
          return { ok: false, error: new PostdateError('message.id-conflict', about) }
        case 'failed':
          return { ok: false, error: found.error }
        default: {
          const reason = `it answered ${outcomes.length} outcomes for ${rows.length} messages`
          const details = { persistence: persistence.name, operation: 'store messages', reason }
          return { ok: false, error: new PostdateError('persistence.unavailable', details) }
        }
      }
    })
    await announce(durable)
    return results
  }

  const deliver: Outbox['deliver'] = async (messages, repeated, failing = 'together') => {
    const keyed = messages.filter(isKeyed)
    const plain = messages.filter((message) => message.row !== undefined && !isKeyed(message))
    const immediate = messages.filter(({ row }) => row === undefined)
    const [storedPlain, storedKeyed] = await Promise.all([
      plain.length === 0 ? [] : store(plain, repeated),
      storeKeyed(keyed, repeated),
    ])
    const rows = [...plain, ...keyed]
    const stored = [...storedPlain, ...storedKeyed]
    // Rows first: what was published can't be taken back, and whoever fails to store its rows will send it all again.
    const refused = failing === 'together' ? stored.find((result) => !result.ok) : undefined
    const published = refused
      ? immediate.map(() => refused)
      : await publishNow(
          immediate.map(({ envelope }) => envelope),
          settings,
        )
    const byMessage = new Map<PreparedMessage, DeliveryResult | undefined>()
    for (const [index, message] of rows.entries()) byMessage.set(message, withReceipt(stored[index], message))
    for (const [index, message] of immediate.entries())
      byMessage.set(message, refused ?? withReceipt(published[index], message))
    return messages.map((message) => {
      const result = byMessage.get(message)
      if (result === undefined) throw new TypeError('a message has no result') // a broken port; never with ours
      return result
    })
  }

  const redeliver = async ({ envelope, dueAt, target, attempt }: RedeliveryCopy): Promise<DeliveryResult> => {
    const { messageId } = envelope
    const shard = shardOf(messageId, await readWriteShards())
    const row = { shard, dueAt, rowId: `${messageId}~${target}~${attempt}`, envelope, target, attempt }
    const { key } = envelope
    // Kept as data: nothing waits under the key for it, so it is stored as what has none.
    const [result] = await store([{ envelope, row: { ...row, ...(key !== undefined && { key }) } }], 'own')
    if (result === undefined) throw new TypeError('a copy has no result') // as above
    return result
  }

  return { prepare, deliver, redeliver }
}

/** Nothing of the sender's is there: a handle would be that of the message that is. */
const WITHOUT_RECEIPT: readonly string[] = ['message.id-conflict', 'message.recalled', 'key.taken']

const withReceipt = (result: DeliveryResult | undefined, message: PreparedMessage): DeliveryResult | undefined => {
  if (result === undefined || result.ok || WITHOUT_RECEIPT.includes(result.error.code)) return result
  const { error } = result
  const { messageId, dueAt, recallHandle } = receiptOf(message, 'done')
  const receipt = {
    messageId,
    ...(dueAt !== undefined && { dueAt }),
    ...(recallHandle !== undefined && { recallHandle }),
  }
  // One error may stand for a whole batch, so each message gets a copy with its own receipt.
  return { ok: false, error: new PostdateError(error.code, { ...error.details, receipt }, error.cause ?? error) }
}
