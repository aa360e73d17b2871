import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

/** A request as it came over the wire. */
export interface SeenRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers a request, or leaves it without an answer, or breaks its connection. */
export type Script = (response: ServerResponse, request: SeenRequest) => void

/** A server that answers as a test says, for faults that emulators can't make. */
export interface ScriptedServer {
  readonly endpoint: string
  readonly requests: readonly SeenRequest[]
  /** Answers all further requests. */
  answerWith(script: Script): void
  stop(): Promise<void>
}

/** Starts a scripted server on a free port of loopback. */
export const startScriptedServer = async (): Promise<ScriptedServer> => {
  const requests: SeenRequest[] = []
  let script: Script = (response) => response.writeHead(500).end()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
      requests.push(seen)
      script(response, seen)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests,
    answerWith(next) {
      script = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
