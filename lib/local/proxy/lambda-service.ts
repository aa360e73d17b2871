import { randomUUID } from 'node:crypto'
import type { AsynchronousInvoker } from '../events/invoke-asynchronously.js'
import type { FunctionPool } from '../functions/function-pool.js'
import { type Answer, type Refusal, refuseAccess } from './answer.js'
import type { Service } from './service.js'

/** A function as others can invoke it. */
export interface InvocableFunction {
  readonly pool: FunctionPool
  readonly asynchronous: AsynchronousInvoker
}

const answer = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID(), ...headers },
  body,
})

const refuse = ({ code, message, status = 400 }: Refusal): Answer =>
  answer(status, JSON.stringify({ Type: 'User', Message: message }), { 'x-amzn-errortype': code })

/**
 * The Invoke operation of Lambda, with which other functions and people at the command line call functions.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export const makeLambdaService = (find: (name: string) => InvocableFunction | undefined): Service => ({
  handle: async (call) => {
    const [, encoded] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(call.url) ?? []
    if (encoded === undefined || call.method !== 'POST') return undefined
    const name = decodeURIComponent(encoded)
    const found = find(name)
    if (found === undefined)
      return refuse({ code: 'ResourceNotFoundException', message: `Function not found: ${name}`, status: 404 })
    const { pool, asynchronous } = found
    const denial = await call.caller.deny({ action: 'lambda:InvokeFunction', resource: pool.definition.arn })
    if (denial !== undefined) return refuse(refuseAccess('lambda', denial))
    const event = call.body.length === 0 ? '{}' : call.body.toString('utf8')
    if (call.headers['x-amz-invocation-type'] === 'Event') {
      asynchronous.accept(event, 'event')
      return answer(202, '')
    }
    const { outcome, payload, error } = await pool.invoke(event, 'invoke')
    if (outcome === 'throttled')
      return refuse({ code: 'TooManyRequestsException', message: 'Rate Exceeded.', status: 429 })
    return error === undefined
      ? answer(200, JSON.stringify(payload ?? null))
      : answer(200, JSON.stringify(error), { 'x-amz-function-error': 'Unhandled' })
  },
})
