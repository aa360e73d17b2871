import { expect, it } from 'vitest'
import { dynamoDbAccess } from '../../../lib/local/access/dynamodb-access.js'

const tables = {
  arnOf: (table: string) => `arn:${table}`,
  partitionKeyOf: () => 'pk',
}

/** As `action resource leading-keys`. */
const read = (operation: string, body: Record<string, unknown>) =>
  dynamoDbAccess(operation, body, tables)?.map(({ action, resource, context = {} }) => {
    const keys = context['dynamodb:LeadingKeys']
    return [action.replace('dynamodb:', ''), resource, ...(keys === undefined ? [] : [keys].flat())].join(' ')
  })

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'x' } })
const TableName = 't'

it.each([
  ['GetItem', { TableName, Key: key('a') }, ['GetItem arn:t a']],
  ['PutItem', { TableName, Item: key('a') }, ['PutItem arn:t a']],
  ['UpdateItem', { TableName, Key: key('a') }, ['UpdateItem arn:t a']],
  ['DeleteItem', { TableName, Key: key('a') }, ['DeleteItem arn:t a']],
  ['Scan', { TableName }, ['Scan arn:t']],
  ['DescribeTable', { TableName }, ['DescribeTable arn:t']],
  [
    'Query',
    {
      TableName,
      KeyConditionExpression: '#p = :p AND sk < :s',
      ExpressionAttributeNames: { '#p': 'pk' },
      ExpressionAttributeValues: { ':p': { S: 'due#1' }, ':s': { S: '9' } },
    },
    ['Query arn:t due#1'],
  ],
  [
    'Query',
    {
      TableName,
      IndexName: 'i',
      KeyConditionExpression: 'sk = :s and pk = :p',
      ExpressionAttributeValues: { ':p': { S: 'a' }, ':s': { S: 'b' } },
    },
    ['Query arn:t/index/i a'],
  ],
  [
    'BatchGetItem',
    { RequestItems: { t: { Keys: [key('a'), key('b'), key('a')] }, u: { Keys: [key('c')] } } },
    ['BatchGetItem arn:t a b', 'BatchGetItem arn:u c'],
  ],
  [
    'BatchWriteItem',
    { RequestItems: { t: [{ PutRequest: { Item: key('a') } }, { DeleteRequest: { Key: key('b') } }] } },
    ['BatchWriteItem arn:t a b'],
  ],
  [
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { TableName, Item: key('a') } },
        { Update: { TableName, Key: key('b') } },
        { Delete: { TableName, Key: key('c') } },
        { ConditionCheck: { TableName, Key: key('d') } },
      ],
    },
    ['PutItem arn:t a', 'UpdateItem arn:t b', 'DeleteItem arn:t c', 'ConditionCheckItem arn:t d'],
  ],
  ['TransactGetItems', { TransactItems: [{ Get: { TableName, Key: key('a') } }] }, ['GetItem arn:t a']],
  [
    'BatchExecuteStatement',
    {
      Statements: [
        { Statement: 'UPDATE t SET a = ? WHERE pk = ? AND sk = ?', Parameters: [{ S: '1' }, { S: 'a' }, { S: 'x' }] },
        { Statement: "DELETE FROM u WHERE pk = 'b'" },
      ],
    },
    ['PartiQLUpdate arn:t a', 'PartiQLDelete arn:u b'],
  ],
  [
    'ExecuteStatement',
    { Statement: 'SELECT * FROM t.i WHERE pk = ?', Parameters: [{ S: 'a' }] },
    ['PartiQLSelect arn:t/index/i a'],
  ],
  [
    'ExecuteTransaction',
    { TransactStatements: [{ Statement: "DELETE FROM t WHERE pk = 'a'" }] },
    ['PartiQLDelete arn:t a'],
  ],
])('%s needs its actions on its tables', (operation, body, accesses) => {
  expect(read(operation, body)).toEqual(accesses)
})

it('an operation or a statement that is not known has no answer', () => {
  expect(read('CreateTable', { TableName })).toBeUndefined()
  expect(read('BatchExecuteStatement', { Statements: [{ Statement: 'VACUUM' }] })).toBeUndefined()
})
