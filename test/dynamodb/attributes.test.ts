import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeEnvelope, utf8Bytes } from '../../lib/core/envelope.js'
import { formatLease, neverClaimed } from '../../lib/core/lease.js'
import { ROW_VERSION, readEnvelope, readRow, toBodyItem, toNewRow } from '../../lib/dynamodb/attributes.js'
import type { Item } from '../../lib/dynamodb/table.js'
import { bodyOfBytes, DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'

const LEASE = formatLease(neverClaimed('token-1'))

const writeRow = (message: ReturnType<typeof sampleMessage>) =>
  toNewRow(message, encodeEnvelope(message.envelope), LEASE)

const readBack = (item: Item) => {
  const row = readRow(item, 0)
  if (row === undefined) throw new Error('the row has a sort key of ours')
  return row
}

describe('rows', () => {
  test('a thin row is read as it was written, whatever its text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 150 }),
        fc.constantFrom('command' as const, 'event' as const),
        (text, kind) => {
          const message = sampleMessage({
            id: 'one',
            body: JSON.stringify({ text }),
            envelope: { kind, attributes: { zero: 0, no: false, empty: '', none: null }, headers: { trace: 'x' } },
          })
          const { row, body } = writeRow(message)
          expect(body).toBeUndefined()
          expect(readEnvelope(readBack(row), undefined)).toEqual(message.envelope)
          expect(readBack(row).bytes).toBe(utf8Bytes(encodeEnvelope(message.envelope)))
        },
      ),
    )
  })

  test('a thick row refers to its body, and tells its bytes before the body is read', () => {
    const message = sampleMessage({ id: 'one', body: bodyOfBytes(10_240) })
    const { row, body } = writeRow(message)
    expect(row.envelope).toBeUndefined()
    expect(readBack(row).bytes).toBe(utf8Bytes(encodeEnvelope(message.envelope)))
    expect(readEnvelope(readBack(row), body?.text)).toEqual(message.envelope)
  })

  test('a body leaves 90 days after its row was due, and an undelivered row never', () => {
    const { row, body } = writeRow(sampleMessage({ id: 'one', body: bodyOfBytes(2_000) }))
    expect(row.expiresAt).toBeUndefined()
    const item = toBodyItem(body?.key ?? { pk: '', sk: '' }, body?.text ?? '', DUE_AT)
    expect(Number(item.expiresAt?.N)).toBe(Math.ceil(DUE_AT / 1000) + 90 * 86_400)
  })

  test('target and attempt of a redelivery are kept', () => {
    const message = sampleMessage({ id: 'one', rowId: 'one~billing~2', target: 'billing', attempt: 2 })
    const row = readBack(writeRow(message).row)
    expect([row.target, row.attempt, row.rowId]).toEqual(['billing', 2, 'one~billing~2'])
    expect(readEnvelope(row, undefined)).toEqual(message.envelope)
  })

  const damages: readonly [string, Item, RegExp][] = [
    ['register', { lease: { S: 'nonsense' } }, /lease register can't be read: \{"S":"nonsense"\}/],
    ['register of another type', { lease: { N: '7' } }, /lease register can't be read: \{"N":"7"\}/],
    ['envelope without a line break', { envelope: { S: '{}' } }, /envelope can't be read/],
    ['envelope with a torn first line', { envelope: { S: '{"a\n{}' } }, /envelope can't be read/],
    ['envelope that is null', { envelope: { S: 'null\n{}' } }, /envelope can't be read/],
    ['envelope of another type', { envelope: { N: '7' } }, /holds no envelope/],
    ['kind', { kind: { S: 'query' } }, /kind is query/],
    ['empty name', { name: { S: '' } }, /name is missing/],
    ['creation instant', { createdAt: { N: '1.5' } }, /createdAt is no instant/],
    ['newer format', { v: { N: String(ROW_VERSION + 1) } }, /format 2, and this version reads up to 1/],
    ['format of another type', { v: { S: '1' } }, /no format version/],
  ]
  for (const [what, damage, why] of damages)
    test(`a row with a damaged ${what} says why it can't be read`, () => {
      const { row } = writeRow(sampleMessage({ id: 'one' }))
      expect(readEnvelope(readBack({ ...row, ...damage }), undefined)).toMatch(why)
    })

  test('a row without a reference to its body, or with a damaged one, says so', () => {
    const { row } = writeRow(sampleMessage({ id: 'one', body: bodyOfBytes(2_000) }))
    expect(readEnvelope(readBack(row), undefined)).toBe('the body is missing from the table')
    expect(readEnvelope(readBack({ ...row, bodyRef: { S: 'nonsense' } }), undefined)).toMatch(
      /body can't be read: nonsense/,
    )
    const { bodyRef: _, ...bare } = row
    expect(readEnvelope(readBack(bare), undefined)).toMatch(/holds no envelope/)
  })

  test('an item whose sort key is none of ours is no row', () => {
    expect(readRow({ pk: { S: 'due#0' }, sk: { S: 'stray' } }, 0)).toBeUndefined()
  })
})
