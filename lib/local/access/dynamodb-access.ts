import { isObject, type JsonObject } from '../assembly/template.js'
import { statementAccess } from './partiql-access.js'
import type { Access } from './policy.js'

/** What reading a request needs to know of tables. */
export interface TableNames {
  arnOf(table: string): string
  partitionKeyOf(table: string): string | undefined
}

const leadingKeyContext = (keys: readonly string[]): Access['context'] =>
  keys.length === 0 ? {} : { 'dynamodb:LeadingKeys': [...new Set(keys)] }

const keyIn = (item: unknown, partitionKey: string | undefined): readonly string[] => {
  const value = isObject(item) && partitionKey !== undefined ? item[partitionKey] : undefined
  const text = isObject(value) ? Object.values(value)[0] : undefined
  return typeof text === 'string' ? [text] : []
}

/** The partition key's value in `#pk = :pk AND ...`. */
const keyInQuery = (body: JsonObject, partitionKey: string | undefined): readonly string[] => {
  const names = (body.ExpressionAttributeNames ?? {}) as Readonly<Record<string, string>>
  const values = (body.ExpressionAttributeValues ?? {}) as JsonObject
  for (const [, name = '', value = ''] of String(body.KeyConditionExpression ?? '').matchAll(
    /([\w#.-]+)\s*=\s*(:\w+)/g,
  ))
    if ((names[name] ?? name) === partitionKey) return keyIn({ key: values[value] }, 'key')
  return []
}

type ReadAccess = (body: JsonObject, tables: TableNames) => readonly Access[] | undefined

const onTable =
  (action: string, keysOf: (body: JsonObject, partitionKey: string | undefined) => readonly string[]): ReadAccess =>
  (body, { arnOf, partitionKeyOf }) => {
    const table = String(body.TableName)
    const index = body.IndexName === undefined ? '' : `/index/${String(body.IndexName)}`
    return [{ action, resource: arnOf(table) + index, context: leadingKeyContext(keysOf(body, partitionKeyOf(table))) }]
  }

const noKeys = () => []

const byTable =
  (action: string, itemsOf: (request: unknown) => readonly unknown[]): ReadAccess =>
  ({ RequestItems: requests = {} }, { arnOf, partitionKeyOf }) =>
    Object.entries(requests as JsonObject).map(([table, request]) => ({
      action,
      resource: arnOf(table),
      context: leadingKeyContext(itemsOf(request).flatMap((item) => keyIn(item, partitionKeyOf(table)))),
    }))

const transaction =
  (actions: Readonly<Record<string, string>>): ReadAccess =>
  ({ TransactItems: items = [] }, tables) =>
    (items as readonly JsonObject[]).flatMap((item) =>
      Object.entries(item).flatMap(([kind, request]) => {
        const action = actions[kind]
        if (action === undefined || !isObject(request)) return []
        return onTable(action, (body, key) => keyIn(body.Key ?? body.Item, key))(request, tables) ?? []
      }),
    )

const statements =
  (listed: (body: JsonObject) => readonly unknown[]): ReadAccess =>
  (body, { arnOf, partitionKeyOf }) => {
    const accesses: Access[] = []
    for (const one of listed(body)) {
      if (!isObject(one)) return undefined
      const read = statementAccess(String(one.Statement), (one.Parameters ?? []) as JsonObject[], partitionKeyOf)
      if (read === undefined) return undefined
      const resource = arnOf(read.table) + (read.index === undefined ? '' : `/index/${read.index}`)
      accesses.push({ action: read.action, resource, context: leadingKeyContext(read.leadingKeys) })
    }
    return accesses
  }

const itemsOfWrites = (request: unknown): readonly unknown[] =>
  (request as readonly JsonObject[]).map(
    ({ PutRequest: put, DeleteRequest: remove }) => (put as JsonObject)?.Item ?? (remove as JsonObject)?.Key,
  )

/**
 * Which actions an operation needs, on which resources. Batches of statements need one access per statement, in order.
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
 */
const operations: Readonly<Record<string, ReadAccess>> = {
  GetItem: onTable('dynamodb:GetItem', ({ Key: key }, name) => keyIn(key, name)),
  PutItem: onTable('dynamodb:PutItem', ({ Item: item }, name) => keyIn(item, name)),
  UpdateItem: onTable('dynamodb:UpdateItem', ({ Key: key }, name) => keyIn(key, name)),
  DeleteItem: onTable('dynamodb:DeleteItem', ({ Key: key }, name) => keyIn(key, name)),
  Query: onTable('dynamodb:Query', keyInQuery),
  Scan: onTable('dynamodb:Scan', noKeys),
  DescribeTable: onTable('dynamodb:DescribeTable', noKeys),
  DescribeTimeToLive: onTable('dynamodb:DescribeTimeToLive', noKeys),
  BatchGetItem: byTable('dynamodb:BatchGetItem', (request) => (request as JsonObject).Keys as readonly unknown[]),
  BatchWriteItem: byTable('dynamodb:BatchWriteItem', itemsOfWrites),
  TransactGetItems: transaction({ Get: 'dynamodb:GetItem' }),
  TransactWriteItems: transaction({
    Put: 'dynamodb:PutItem',
    Update: 'dynamodb:UpdateItem',
    Delete: 'dynamodb:DeleteItem',
    ConditionCheck: 'dynamodb:ConditionCheckItem',
  }),
  ExecuteStatement: statements((body) => [body]),
  BatchExecuteStatement: statements(({ Statements: listed = [] }) => listed as readonly unknown[]),
  ExecuteTransaction: statements(({ TransactStatements: listed = [] }) => listed as readonly unknown[]),
}

/** The accesses of a call of DynamoDB; `undefined` for an operation or a statement that is not known. */
export const dynamoDbAccess = (
  operation: string,
  body: JsonObject,
  tables: TableNames,
): readonly Access[] | undefined => operations[operation]?.(body, tables)
