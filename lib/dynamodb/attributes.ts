import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { decodeEnvelope, type Envelope, utf8Bytes } from '../core/envelope.js'
import { type Lease, LONGEST_LEASE_BYTES, parseLease } from '../core/lease.js'
import type { MessageKind } from '../core/message.js'
import type { OutgoingMessage, RowAddress } from '../core/persistence.js'
import { dynamoDbLimits } from '../wiring/limits.js'
import { itemBytes } from './item-size.js'
import { bodyKey, bodySortKey, dueKey, type ItemKey, keyOfItem, messageIdOf, parseSortKey, toKeyItem } from './keys.js'
import type { Item } from './table.js'

/** The format of rows that this version writes, and the newest that it reads. */
export const ROW_VERSION = 1

/** The address of a body within its row's partition, and its size, so that a claim knows it before it reads the body. */
export interface BodyRef {
  readonly sk: string
  readonly bytes: number
}

/** What a row holds of its message: its envelope, where that is, or why it can't be read. */
export type RowContent =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'body'; readonly body: BodyRef }
  | { readonly kind: 'unreadable'; readonly why: string }

/** A due or dead row, read. This file alone knows what attributes are called and how they are written. */
export interface Row extends RowAddress {
  readonly key: ItemKey
  /** The item as it was read. */
  readonly item: Item
  /** The register; `undefined` if it can't be read. */
  readonly lease: Lease | undefined
  readonly content: RowContent
  /** The bytes of the stored envelope. */
  readonly bytes: number
  readonly target: string | undefined
  readonly attempt: number
  readonly failures: number
}

/** A due row to store, and the body that goes before it when the row would be thicker than one write unit. */
export interface NewRow {
  readonly row: Item
  readonly body: { readonly key: ItemKey; readonly text: string } | undefined
}

const text = (value: string): AttributeValue => ({ S: value })
const number = (value: number): AttributeValue => ({ N: String(value) })

const readNumber = (value: AttributeValue | undefined): number | undefined =>
  value?.N === undefined ? undefined : Number(value.N)

/** Writes a reference to a body. */
export const formatBodyRef = ({ bytes, sk }: BodyRef): string => `${bytes} ${sk}`

const parseBodyRef = (value: string): BodyRef | undefined => {
  const [, bytes = '', sk = ''] = /^(\d+) (.+)$/.exec(value) ?? []
  return sk === '' ? undefined : { bytes: Number(bytes), sk }
}

/**
 * Writes a message as a due row. An item of at most one write unit, counted with the longest register, holds its envelope;
 * a larger one refers to a body, so that its claim and its settle cost one unit whatever the payload.
 */
export const toNewRow = (message: OutgoingMessage, envelopeText: string, lease: string): NewRow => {
  const { envelope, dueAt, rowId, target, attempt = 1, key } = message
  const lean: Item = {
    ...toKeyItem(dueKey(message)),
    lease: text(lease),
    kind: text(envelope.kind),
    name: text(envelope.name),
    createdAt: number(envelope.sentAt),
    v: number(ROW_VERSION),
    ...(target !== undefined && { target: text(target) }),
    ...(attempt !== 1 && { attempt: number(attempt) }),
    ...(key !== undefined && { key: text(key) }),
  }
  const thin: Item = { ...lean, envelope: text(envelopeText) }
  const roomForLease = LONGEST_LEASE_BYTES - utf8Bytes(lease)
  if (itemBytes(thin) + roomForLease <= dynamoDbLimits.writeUnitBytes) return { row: thin, body: undefined }
  const sk = bodySortKey(dueAt, envelopeText)
  const { correlationId, messageId } = envelope
  // A row without its envelope tells of it what operators look for.
  const found: Item = correlationId === messageId ? {} : { correlationId: text(correlationId) }
  return {
    row: { ...lean, ...found, bodyRef: text(formatBodyRef({ sk, bytes: utf8Bytes(envelopeText) })) },
    body: { key: bodyKey(rowId, sk), text: envelopeText },
  }
}

/** How long a body stays after its row was due: late is never lost for so long. */
const BODY_DAYS = 90
const DAY_SECONDS = 24 * 60 * 60

/** When what belongs to a row that is due then leaves by TTL, in epoch seconds. */
export const expiryOf = (dueAt: number): number => Math.ceil(dueAt / 1000) + BODY_DAYS * DAY_SECONDS

/** Writes a body. It leaves by TTL, which is free, `BODY_DAYS` after its row was due. */
export const toBodyItem = (key: ItemKey, envelopeText: string, dueAt: number): Item => ({
  ...toKeyItem(key),
  envelope: text(envelopeText),
  expiresAt: number(expiryOf(dueAt)),
})

/** The correlation id of a row's message: in the row, or in the envelope that it holds; else that is the message's own id. */
export const correlationOf = (row: Row): string => {
  const { item, content, rowId } = row
  const own = messageIdOf(rowId)
  if (item.correlationId?.S !== undefined) return item.correlationId.S
  if (content.kind !== 'inline') return own
  const envelope = readEnvelope(row, undefined)
  return typeof envelope === 'string' ? own : envelope.correlationId
}

/** Writes a withdrawn row where none was. */
export const toTombstone = (address: RowAddress, lease: string): Item => ({
  ...toKeyItem(dueKey(address)),
  lease: text(lease),
  v: number(ROW_VERSION),
})

/** Whether a row was written by a version of ours that this one does not know. */
export const isOfNewerFormat = ({ item }: Row): boolean => (readNumber(item.v) ?? 0) > ROW_VERSION

const readContent = (item: Item): RowContent => {
  const version = readNumber(item.v)
  if (version === undefined) return { kind: 'unreadable', why: 'the row has no format version' }
  if (version > ROW_VERSION)
    return { kind: 'unreadable', why: `the row has format ${version}, and this version reads up to ${ROW_VERSION}` }
  if (item.envelope?.S !== undefined) return { kind: 'inline', text: item.envelope.S }
  if (item.bodyRef?.S === undefined) return { kind: 'unreadable', why: 'the row holds no envelope' }
  const body = parseBodyRef(item.bodyRef.S)
  return body === undefined
    ? { kind: 'unreadable', why: `the row's reference to its body can't be read: ${item.bodyRef.S.slice(0, 80)}` }
    : { kind: 'body', body }
}

/** Reads a row of a shard, however damaged; `undefined` if its sort key is none of ours. */
export const readRow = (item: Item, shard: number): Row | undefined => {
  const key = keyOfItem(item)
  const address = parseSortKey(key.sk)
  if (address === undefined) return undefined
  const content = readContent(item)
  const firstDueAt = readNumber(item.firstDueAt)
  return {
    shard,
    dueAt: address.dueAt,
    rowId: address.rowId,
    ...(firstDueAt !== undefined && firstDueAt !== address.dueAt && { firstDueAt }),
    key,
    item,
    lease: item.lease?.S === undefined ? undefined : parseLease(item.lease.S),
    content,
    bytes: content.kind === 'inline' ? utf8Bytes(content.text) : content.kind === 'body' ? content.body.bytes : 0,
    target: item.target?.S,
    attempt: readNumber(item.attempt) ?? 1,
    failures: readNumber(item.failures) ?? 0,
  }
}

const isKind = (kind: string | undefined): kind is MessageKind => kind === 'command' || kind === 'event'

/** The envelope of a row; a text saying why it can't be read. `bodyText` is that of its body, `undefined` if it is missing. */
export const readEnvelope = (row: Row, bodyText: string | undefined): Envelope | string => {
  const { content, item, rowId } = row
  if (row.lease === undefined) return `the row's lease register can't be read: ${JSON.stringify(item.lease ?? null)}`
  if (content.kind === 'unreadable') return content.why
  const envelopeText = content.kind === 'inline' ? content.text : bodyText
  if (envelopeText === undefined) return 'the body is missing from the table'
  const kind = item.kind?.S
  const name = item.name?.S
  const sentAt = readNumber(item.createdAt)
  if (!isKind(kind)) return `the row's kind is ${kind ?? 'missing'}, not command or event`
  if (!name) return "the row's message name is missing"
  if (sentAt === undefined || !Number.isSafeInteger(sentAt)) return "the row's createdAt is no instant"
  try {
    return decodeEnvelope(envelopeText, { messageId: messageIdOf(rowId), kind, name, sentAt })
  } catch (error) {
    return `the envelope can't be read: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Why and when (epoch milliseconds) a dead row died. */
export const readDeath = ({ item }: Row): { readonly reason: string; readonly diedAt: number } => ({
  reason: item.reason?.S ?? 'the row does not say why',
  diedAt: readNumber(item.diedAt) ?? 0,
})
