import { dynamoDbLimits } from '../../wiring/limits.js'
import { dynamoDbAccess, type TableNames } from '../access/dynamodb-access.js'
import type { JsonObject } from '../assembly/template.js'
import { type Answer, jsonAnswer, jsonRefusal, type Refusal, refuseAccess } from './answer.js'
import { type Call, firstDenial } from './caller.js'
import type { Forward } from './forward-call.js'
import { type Service, targetOf } from './service.js'

const refuse = (refusal: Refusal): Answer => jsonRefusal(refusal, 'com.amazonaws.dynamodb.v20120810')

const deniedStatement = (message: string) => ({ Error: { Code: 'AccessDenied', Message: message } })

/**
 * Statements of a batch are allowed or denied one by one, and a denied one does not keep the others from being run.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
 */
const runAllowed = async (call: Call, body: JsonObject, denials: readonly (string | undefined)[], forward: Forward) => {
  const statements = body.Statements as readonly unknown[]
  const allowed = statements.filter((_, place) => denials[place] === undefined)
  const answer =
    allowed.length === 0
      ? jsonAnswer({ Responses: [] })
      : await forward(call, JSON.stringify({ ...body, Statements: allowed }))
  if (answer.status !== 200) return answer
  const { Responses: responses = [], ...rest } = JSON.parse(answer.body.toString()) as { Responses?: unknown[] }
  const left = [...responses]
  return jsonAnswer({
    ...rest,
    Responses: denials.map((message) => (message === undefined ? left.shift() : deniedStatement(message))),
  })
}

/** DynamoDB: IAM for every table, index and statement, then the emulator. */
export const makeDynamoDbService = (tables: TableNames, forward: Forward): Service => ({
  handle: async (call) => {
    const operation = targetOf(call)
    const body = JSON.parse(call.body.toString('utf8')) as JsonObject
    const { maxBatchStatements } = dynamoDbLimits
    if (operation === 'BatchExecuteStatement' && (body.Statements as readonly unknown[]).length > maxBatchStatements)
      return refuse({
        code: 'ValidationException',
        message: `Member must have length less than or equal to ${maxBatchStatements}`,
      })
    if (call.caller.path === undefined) return forward(call, call.body)
    const accesses = dynamoDbAccess(operation, body, tables)
    if (accesses === undefined) return undefined
    if (operation === 'BatchExecuteStatement') {
      const denials = await Promise.all(accesses.map((access) => call.caller.deny(access)))
      if (denials.every((denial) => denial === undefined)) return forward(call, call.body)
      return runAllowed(
        call,
        body,
        denials.map((denial) => denial?.message),
        forward,
      )
    }
    const denial = await firstDenial(call.caller, accesses)
    return denial === undefined ? forward(call, call.body) : refuse(refuseAccess('dynamodb', denial))
  },
})
