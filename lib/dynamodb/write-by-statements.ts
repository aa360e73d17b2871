import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb'
import {
  judgeStatement,
  mayHaveApplied,
  type Operation,
  toStatementError,
  toStoreError,
  wasRepeated,
} from './failures.js'
import { runBounded } from './run-bounded.js'
import type { Table } from './table.js'
import type { Write, WriteResult } from './write-items.js'

/** Requests on their way at once when the writes of a batch go alone. */
const MOST_REQUESTS = 4

/**
 * The statements. One `SET` each, since AWS and the emulators disagree about the form of a second.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.update.html
 */
const swapStatement = (tableName: string) =>
  `UPDATE "${tableName}" SET "lease"=? WHERE "pk"=? AND "sk"=? AND "lease"=? RETURNING MODIFIED NEW *`

const deleteStatement = (tableName: string) =>
  `DELETE FROM "${tableName}" WHERE "pk"=? AND "sk"=? AND "lease"=? RETURNING ALL OLD *`

const insertStatement = (tableName: string, names: readonly string[]) =>
  `INSERT INTO "${tableName}" VALUE {${names.map((name) => `'${name}':?`).join(',')}}`

const toStatement = (tableName: string, write: Write): BatchStatementRequest => {
  const { pk, sk } = write.key
  if (write.write === 'insert')
    return {
      Statement: insertStatement(tableName, Object.keys(write.item)),
      Parameters: Object.values<AttributeValue>(write.item),
    }
  if (write.write === 'swap')
    return {
      Statement: swapStatement(tableName),
      Parameters: [{ S: write.next }, { S: pk }, { S: sk }, { S: write.seen }],
    }
  return { Statement: deleteStatement(tableName), Parameters: [{ S: pk }, { S: sk }, { S: write.seen }] }
}

/**
 * Whether an answer without an error proves that the write was made. A swap counts only if my token came back, since one
 * emulator answers success for a false condition; a delete only if the row came back, since AWS answers success for a row
 * that is not there.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.delete.html
 */
const isProven = (write: Write, response: BatchStatementResponse): boolean => {
  if (write.write === 'insert') return true
  const lease = response.Item?.lease?.S
  return lease === (write.write === 'swap' ? write.next : write.seen)
}

const toResult = (
  table: Table,
  operation: Operation,
  write: Write,
  response: BatchStatementResponse | undefined,
  repeated: boolean,
): WriteResult => {
  if (response === undefined)
    return {
      result: 'passing',
      mayBeMine: true,
      error: toStatementError(table, operation, 'InternalServerError', 'the statement was not answered'),
    }
  const { Error: error } = response
  if (error === undefined)
    return isProven(write, response) ? { result: 'done' } : { result: 'refused', mayBeMine: repeated }
  const code = error.Code ?? 'InternalServerError'
  const judgement = judgeStatement(code)
  if (judgement === 'refused') return { result: 'refused', mayBeMine: repeated }
  const typed = toStatementError(table, operation, code, error.Message)
  const mayBeMine = repeated || code === 'InternalServerError'
  return judgement === 'passing'
    ? { result: 'passing', mayBeMine, error: typed }
    : { result: 'failed', applied: mayBeMine ? 'unknown' : 'no', error: typed }
}

/** Sends at most 25 writes of different keys in one request. One result per write, in order; never throws. */
export const sendStatements = async (
  table: Table,
  operation: Operation,
  writes: readonly Write[],
): Promise<readonly WriteResult[]> => {
  try {
    const Statements = writes.map((write) => toStatement(table.tableName, write))
    const answer = await table.client.send(new BatchExecuteStatementCommand({ Statements }))
    const repeated = wasRepeated(answer)
    return writes.map((write, index) => toResult(table, operation, write, answer.Responses?.[index], repeated))
  } catch (error) {
    // Refused whole as invalid: one write of the batch may be to blame, and harms no other when each goes alone.
    if (writes.length > 1 && error instanceof Error && error.name === 'ValidationException')
      return (await runBounded(writes, MOST_REQUESTS, (write) => sendStatements(table, operation, [write]))).flat()
    const typed = toStoreError(table, operation, error)
    const applied = mayHaveApplied(error) ? 'unknown' : 'no'
    return writes.map(() => ({ result: 'failed', applied, error: typed }))
  }
}
