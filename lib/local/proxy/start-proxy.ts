import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Answer, jsonRefusal } from './answer.js'
import { accessKeyOf, type Call, type Caller, operator } from './caller.js'
import { readBody } from './read-body.js'
import type { ProxyEvents, Service } from './service.js'

/** The services behind the proxy. */
export interface ProxyServices {
  readonly dynamodb: Service
  readonly sqs: Service
  readonly sns: Service
  readonly scheduler: Service
  readonly lambda: Service
  readonly cloudformation: Service
}

/** What the proxy serves, once the cloud is made. */
export interface ProxyContent {
  readonly services: ProxyServices
  /** The caller that has an access key; `undefined` for a key that no function has. */
  callerOf(accessKeyId: string): Caller | undefined
  readonly events: ProxyEvents
}

/** One address for all services. */
export interface CloudProxy {
  readonly endpoint: string
  /** Says what to serve; calls before are refused. */
  serve(content: ProxyContent): void
  stop(): Promise<void>
}

/** Which service a call is for: by its target, its path, or else the query protocol, which SNS and CloudFormation have. */
const serviceOf = ({ headers, url, body }: Call): keyof ProxyServices => {
  const target = String(headers['x-amz-target'] ?? '')
  if (target.startsWith('DynamoDB')) return 'dynamodb'
  if (target.startsWith('AmazonSQS')) return 'sqs'
  if (url.startsWith('/schedules')) return 'scheduler'
  if (url.startsWith('/2015-03-31/')) return 'lambda'
  // In a value of a form, the equals sign is encoded.
  return body.includes('Action=DescribeStacks') ? 'cloudformation' : 'sns'
}

const operationOf = ({ headers, url, method, body }: Call): string =>
  String(headers['x-amz-target'] ?? /Action=(\w+)/.exec(body.toString('utf8'))?.[1] ?? `${method} ${url}`)

const refuse = (code: string, message: string, status: number): Answer => {
  const answer = jsonRefusal({ code, message, status }, 'postdate.local')
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': code } }
}

const notReady = refuse('ServiceUnavailable', 'the local cloud is not made yet', 503)

const answerCall = async (call: Omit<Call, 'caller'>, content: ProxyContent): Promise<Answer> => {
  const accessKey = accessKeyOf(call.headers)
  const caller = accessKey === undefined ? operator : (content.callerOf(accessKey) ?? operator)
  const { services, events } = content
  const watched: Caller = {
    path: caller.path,
    deny: async (access) => {
      const denial = await caller.deny(access)
      if (denial === undefined || caller.path === undefined) return denial
      const named = { ...denial, message: `${denial.message} (the function ${caller.path})` }
      events.onDenial(caller.path, named)
      return named
    },
  }
  const whole: Call = { ...call, caller: watched }
  const answer = await services[serviceOf(whole)].handle(whole)
  if (answer !== undefined) return answer
  const operation = operationOf(whole)
  events.onUnknown(caller.path ?? 'the operator', operation)
  return refuse(
    'LocalCloudUnknownOperation',
    `the local cloud does not know what ${operation} needs of IAM, or does`,
    501,
  )
}

/** Starts the proxy on a free port of loopback. */
export const startProxy = async (): Promise<CloudProxy> => {
  let content: ProxyContent | undefined

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const call = { method: request.method ?? 'POST', url: request.url ?? '/', headers: request.headers, body }
    const { status, headers, body: answer } = content === undefined ? notReady : await answerCall(call, content)
    const given = Object.entries(headers).filter(([, value]) => value !== undefined)
    response.writeHead(status, { ...Object.fromEntries(given), 'content-length': Buffer.byteLength(answer) })
    response.end(answer)
  }

  const server = createServer((request, response) => {
    response.on('error', () => {})
    handle(request, response).catch((error: Error) => {
      if (response.headersSent || response.destroyed) return
      const { status, headers, body } = refuse('InternalFailure', error.message, 500)
      response.writeHead(status, headers as Record<string, string>).end(body)
    })
  })
  // Idle connections are kept as long as the clients like: a server that closes one first makes the next call fail.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    serve: (made) => {
      content = made
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
