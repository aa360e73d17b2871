import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeEnvelope, utf8Bytes } from '../../lib/core/envelope.js'
import { formatLease, LONGEST_LEASE_BYTES, neverClaimed } from '../../lib/core/lease.js'
import { toNewRow } from '../../lib/dynamodb/attributes.js'
import { itemBytes } from '../../lib/dynamodb/item-size.js'
import type { Item } from '../../lib/dynamodb/table.js'
import { DUE_AT, sampleMessage } from '../../lib/testing/contract/message-samples.js'
import { startTestDynamoDb, type TestDynamoDb, whyNoDynoxide } from '../support/dynamodb-table.js'
import { meterClient } from './client-watch.js'
import { openPersistence } from './open-persistence.js'

const LEASE = formatLease(neverClaimed('0123456789a'))

/** A message whose thin row, under the longest register, would be so many bytes. */
const messageOfRowBytes = (bytes: number, fill = 'x') => {
  const sized = (length: number) => sampleMessage({ id: 'one', body: `"${fill.repeat(length)}"` })
  const rowBytes = (length: number) => {
    const { envelope } = sized(length)
    const thin = toNewRow(sized(0), encodeEnvelope(sized(0).envelope), LEASE).row
    return itemBytes({ ...thin, envelope: { S: encodeEnvelope(envelope) } }) + LONGEST_LEASE_BYTES - LEASE.length
  }
  const length = Math.floor((bytes - rowBytes(0)) / utf8Bytes(fill))
  return sized(length)
}

const isThin = (message: ReturnType<typeof sampleMessage>) =>
  toNewRow(message, encodeEnvelope(message.envelope), LEASE).body === undefined

describe('thin rows', () => {
  test('a row tips at 1,024 bytes, counted with the longest register', () => {
    expect([1_023, 1_024, 1_025].map((bytes) => isThin(messageOfRowBytes(bytes)))).toEqual([true, true, false])
  })

  test('bytes are those of UTF-8', () => {
    const message = messageOfRowBytes(1_024, '€')
    const { row } = toNewRow(message, encodeEnvelope(message.envelope), LEASE)
    expect(itemBytes(row) + LONGEST_LEASE_BYTES - LEASE.length).toBeGreaterThan(1_024 - 3)
    expect(isThin(message)).toBe(true)
  })

  test('numbers count by their significant digits', () => {
    const bytesOf = (N: string) => itemBytes({ n: { N } }) - 1
    expect(['0', '7', '10', '12', '123', '1900', '1732969884123'].map(bytesOf)).toEqual([1, 2, 2, 2, 3, 2, 8])
  })
})

describe.skipIf(whyNoDynoxide() !== undefined)('thin rows on a store that counts capacity', () => {
  let emulator: TestDynamoDb
  beforeAll(async () => {
    emulator = await startTestDynamoDb('dynoxide')
  })
  afterAll(() => emulator.stop())

  const writeUnits = async (item: Item) => {
    const tableName = await emulator.table()
    const answer = await emulator
      .client()
      .send(new PutItemCommand({ TableName: tableName, Item: item, ReturnConsumedCapacity: 'TOTAL' }))
    return answer.ConsumedCapacity?.CapacityUnits
  }

  test.each([1_023, 1_024, 1_025])('the count of a row of %i bytes is that of the store', async (bytes) => {
    const message = messageOfRowBytes(1_024)
    const { row } = toNewRow(message, encodeEnvelope(message.envelope), LEASE)
    const padding = bytes - itemBytes(row)
    const item = { ...row, lease: { S: `${LEASE}${'x'.repeat(padding)}` } }
    expect(itemBytes(item)).toBe(bytes)
    expect(await writeUnits(item)).toBe(bytes <= 1_024 ? 1 : 2)
  })

  test.each([
    [1_023, 1],
    [1_024, 1],
    // The thick row and its body of one unit; two units would be what a single item costs, three times over.
    [1_025, 2],
  ])(
    'a row of %i bytes takes %i units to store, and one each to claim, to give back and to settle',
    async (bytes, units) => {
      const { subject, client } = await openPersistence(emulator)
      const consumption = meterClient(client)
      await subject.storeNew(messageOfRowBytes(bytes))
      expect(consumption.written).toBe(units)
      const claim = await subject.claimOne(DUE_AT)
      expect(consumption.written).toBe(units + 1)
      await subject.release({ claim, published: 'no', notBefore: DUE_AT })
      expect(consumption.written).toBe(units + 2)
      await subject.settle(await subject.claimOne(DUE_AT))
      expect(consumption.written).toBe(units + 4)
    },
  )
})
