import { PostdateError } from './errors.js'
import { hashText } from './ids.js'
import { LATEST_INSTANT } from './lease.js'
import type { RowAddress } from './persistence.js'

/** What a recall handle tells. */
export interface HandleContent extends RowAddress {
  /** The name of the bus that sent the message. */
  readonly bus: string
}

const PREFIX = 'pd1_'
const CHECKSUM_DIGITS = 8

const toBase64Url = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64Url = (text: string): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0)),
  )

/** Writes a recall handle: opaque, checksummed, and good for ever. It is an address, not a secret. */
export const formatHandle = ({ bus, shard, dueAt, rowId, firstDueAt }: HandleContent): string => {
  const moved = firstDueAt === undefined ? [] : [firstDueAt]
  const content = JSON.stringify([bus, shard, dueAt, rowId, ...moved])
  return PREFIX + toBase64Url(hashText(content).slice(0, CHECKSUM_DIGITS) + content)
}

/** Instants, and shards, which are whole numbers too. */
const isInstant = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= LATEST_INSTANT

/** A checksum is no seal: what anyone may have written is looked at before it becomes a key. */
const readContent = (text: string): HandleContent | undefined => {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(content)) return undefined
  const [bus, shard, dueAt, rowId, firstDueAt] = content as unknown[]
  if (typeof bus !== 'string' || typeof rowId !== 'string' || rowId === '') return undefined
  if (!isInstant(shard) || !isInstant(dueAt)) return undefined
  if (firstDueAt === undefined) return { bus, shard, dueAt, rowId }
  return isInstant(firstDueAt) ? { bus, shard, dueAt, rowId, firstDueAt } : undefined
}

/**
 * Reads a recall handle.
 * @throws PostdateError `recall.malformed-handle` when the text is none, or was edited.
 */
export const parseHandle = (handle: unknown): HandleContent => {
  const malformed = (rule: string) => new PostdateError('recall.malformed-handle', { rule })
  if (typeof handle !== 'string')
    throw malformed(`it is ${handle === null ? 'null' : `of type ${typeof handle}`}, not text`)
  if (!handle.startsWith(PREFIX)) throw malformed(`it does not begin with ${PREFIX}`)
  let text: string
  try {
    text = fromBase64Url(handle.slice(PREFIX.length))
  } catch {
    throw malformed('it is cut or garbled')
  }
  const content = text.slice(CHECKSUM_DIGITS)
  if (hashText(content).slice(0, CHECKSUM_DIGITS) !== text.slice(0, CHECKSUM_DIGITS))
    throw malformed('its checksum is wrong')
  const parsed = readContent(content)
  if (parsed === undefined) throw malformed('it holds no address')
  // Base64 has several spellings of the same bytes: the unused bits of its last digit, blanks, padding.
  if (formatHandle(parsed) !== handle) throw malformed('it was written anew')
  return parsed
}
