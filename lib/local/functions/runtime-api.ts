import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readBody } from '../proxy/read-body.js'

/** What a process of a function tells through the Runtime API. */
export interface RuntimeSession {
  /** It is ready; call back with the invocation to run next. */
  onNext(respond: (invocation: RuntimeInvocation) => void): void
  /** It answers an invocation. */
  onResponse(requestId: string, body: string): void
  /** An invocation failed. */
  onError(requestId: string, body: string): void
  /** The handler could not be loaded. */
  onInitError(body: string): void
}

/** An invocation as the Runtime API hands it out. */
export interface RuntimeInvocation {
  readonly requestId: string
  readonly event: string
  readonly deadlineAt: number
  readonly functionArn: string
  readonly traceId: string
}

/** The Runtime API of all functions. @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export interface RuntimeApi {
  /** Opens an address of its own for one process; answers what goes into `AWS_LAMBDA_RUNTIME_API`. */
  open(id: string, session: RuntimeSession): string
  close(id: string): void
  stop(): Promise<void>
}

const answerNext = (response: ServerResponse) => (invocation: RuntimeInvocation) => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'lambda-runtime-aws-request-id': invocation.requestId,
    'lambda-runtime-deadline-ms': String(invocation.deadlineAt),
    'lambda-runtime-invoked-function-arn': invocation.functionArn,
    'lambda-runtime-trace-id': invocation.traceId,
  })
  response.end(invocation.event)
}

const accept = (response: ServerResponse) => {
  response.writeHead(202, { 'content-type': 'application/json' })
  response.end('{"status":"OK"}')
}

/** Starts the Runtime API on a free port of loopback. Each process has its own path, so that one server does for all. */
export const startRuntimeApi = async (): Promise<RuntimeApi> => {
  const sessions = new Map<string, RuntimeSession>()

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, id = '', , , ...rest] = (request.url ?? '').split('/')
    const session = sessions.get(id)
    const body = await readBody(request)
    if (session === undefined) {
      response.writeHead(403).end()
      return
    }
    const route = rest.join('/')
    if (request.method === 'GET' && route === 'invocation/next') return session.onNext(answerNext(response))
    const [kind, requestId = '', verb] = rest
    if (kind === 'invocation' && verb === 'response') session.onResponse(requestId, body.toString('utf8'))
    else if (kind === 'invocation' && verb === 'error') session.onError(requestId, body.toString('utf8'))
    else if (route === 'init/error') session.onInitError(body.toString('utf8'))
    accept(response)
  }

  const server = createServer((request, response) => {
    // A killed process breaks its connection: that is told by its exit.
    response.on('error', () => {})
    handle(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = 0
  server.headersTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    open: (id, session) => {
      sessions.set(id, session)
      return `127.0.0.1:${port}/${id}`
    },
    close: (id) => {
      sessions.delete(id)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
