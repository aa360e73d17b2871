import { jsonAnswer } from './answer.js'
import type { Forward } from './forward-call.js'
import { targetOf } from './service.js'

/** The names of a table's key attributes. */
export type KeyNames = (table: string) => readonly string[] | undefined

type Value = Readonly<Record<string, unknown>>
type Item = Readonly<Record<string, Value>>

interface Statement {
  readonly Statement: string
  readonly Parameters?: readonly Value[]
}

/** An operation on one item that does what a statement does. */
interface ItemOperation {
  readonly target: 'PutItem' | 'UpdateItem' | 'DeleteItem'
  readonly body: object
}

const pick = (item: Item, names: readonly string[], keep: boolean): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name) === keep))

/** `#c0 = :c0 AND …` with its names and values. */
const conditionOf = (prefix: string, item: Item, joint: string) => {
  const entries = Object.entries(item)
  return {
    expression: entries.map((_, place) => `#${prefix}${place} = :${prefix}${place}`).join(joint),
    names: Object.fromEntries(entries.map(([name], place) => [`#${prefix}${place}`, name])),
    values: Object.fromEntries(entries.map(([, value], place) => [`:${prefix}${place}`, value])),
  }
}

/** The names in `"a"=? AND "b"=?`, each with the next parameter. */
const readPairs = (text: string, parameters: readonly Value[], from: number): Item =>
  Object.fromEntries(
    [...text.matchAll(/["']([^"']+)["']\s*[:=]\s*\?/g)].map(([, name = ''], place) => [
      name,
      parameters[from + place] ?? {},
    ]),
  )

const INSERT = /^INSERT INTO "([^"]+)" VALUE \{(.*)\}$/s
const UPDATE = /^UPDATE "([^"]+)" SET (.+?) WHERE (.+?)(?: RETURNING .*)?$/s
const DELETE = /^DELETE FROM "([^"]+)" WHERE (.+?)(?: RETURNING .*)?$/s

/** Reads a statement of the three plain forms; `undefined` for any other. */
const toOperation = (
  { Statement: text, Parameters: parameters = [] }: Statement,
  keysOf: KeyNames,
): ItemOperation | undefined => {
  const [form, table = '', first = '', second = ''] = INSERT.exec(text) ?? UPDATE.exec(text) ?? DELETE.exec(text) ?? []
  const keys = keysOf(table)
  if (form === undefined || keys === undefined) return undefined
  if (text.startsWith('INSERT')) {
    const names = { '#k': keys[0] }
    const absent = { ConditionExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: names }
    return { target: 'PutItem', body: { TableName: table, Item: readPairs(first, parameters, 0), ...absent } }
  }
  const isUpdate = text.startsWith('UPDATE')
  const changes = isUpdate ? readPairs(first, parameters, 0) : {}
  const where = readPairs(isUpdate ? second : first, parameters, Object.keys(changes).length)
  const set = conditionOf('s', changes, ', ')
  const condition = conditionOf('c', pick(where, keys, false), ' AND ')
  return {
    target: isUpdate ? 'UpdateItem' : 'DeleteItem',
    body: {
      TableName: table,
      Key: pick(where, keys, true),
      ...(condition.expression !== '' && { ConditionExpression: condition.expression }),
      ...(isUpdate && { UpdateExpression: `SET ${set.expression}` }),
      ExpressionAttributeNames: { ...set.names, ...condition.names },
      ExpressionAttributeValues: { ...set.values, ...condition.values },
      ReturnValues: isUpdate ? 'UPDATED_NEW' : 'ALL_OLD',
    },
  }
}

const unsupported = {
  Error: { Code: 'ValidationError', Message: 'this emulator runs INSERT, UPDATE and DELETE of one item only' },
}

const runStatement = async (
  call: Parameters<Forward>[0],
  operation: ItemOperation,
  forward: Forward,
): Promise<object> => {
  const headers = { ...call.headers, 'x-amz-target': `DynamoDB_20120810.${operation.target}` }
  const answer = await forward({ ...call, headers }, JSON.stringify(operation.body))
  const {
    Attributes,
    __type: type = '',
    message = '',
  } = JSON.parse(answer.body.toString()) as {
    Attributes?: Item
    __type?: string
    message?: string
  }
  if (answer.status === 200) return Attributes === undefined ? {} : { Item: Attributes }
  const failed = type.includes('ConditionalCheckFailed')
  const Code = failed
    ? operation.target === 'PutItem'
      ? 'DuplicateItem'
      : 'ConditionalCheckFailed'
    : type.split('#').at(-1)
  return { Error: { Code, Message: message } }
}

/**
 * Runs statements on an emulator that knows no PartiQL: each as the operation on one item that does the same. So functions
 * run unchanged where the platform has only that emulator, under the permissions that their statements need.
 */
export const runStatementsAsItems =
  (keysOf: KeyNames, forward: Forward): Forward =>
  async (call, body) => {
    if (targetOf(call) !== 'BatchExecuteStatement') return forward(call, body)
    const { Statements: statements } = JSON.parse(body.toString()) as { Statements: readonly Statement[] }
    const responses = statements.map(async (statement) => {
      const operation = toOperation(statement, keysOf)
      return operation === undefined ? unsupported : runStatement(call, operation, forward)
    })
    return jsonAnswer({ Responses: await Promise.all(responses) })
  }
