import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the proxy sees it. */
export interface SeenRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A proxy in front of an emulator that can keep an answer back: the work is done, and whoever asked does not learn of it. */
export interface HoldingProxy {
  readonly endpoint: string
  /** Every request that came through, in order. */
  readonly seen: readonly SeenRequest[]
  /** Holds the next answer to a matching request; resolves when it is held. */
  holdNext(matches: (request: SeenRequest) => boolean): Promise<SeenRequest>
  stop(): Promise<void>
}

/** Starts a proxy on loopback. */
export const startHoldingProxy = async (target: string): Promise<HoldingProxy> => {
  const { hostname, port } = new URL(target)
  const seen: SeenRequest[] = []
  let hold: { matches: (request: SeenRequest) => boolean; resolve: (request: SeenRequest) => void } | undefined

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', () => {})
    outgoing.on('error', () => {})
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const about = { headers: incoming.headers, body: body.toString('utf8') }
      seen.push(about)
      const holding = hold?.matches(about) ? hold : undefined
      if (holding !== undefined) hold = undefined
      const onward = request(
        { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
        (answer) => {
          // The emulator has answered, so the work is done; only now is it certain that a held answer hides an effect.
          if (holding !== undefined) {
            answer.resume()
            answer.on('end', () => holding.resolve(about))
            return
          }
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
        },
      )
      onward.on('error', () => outgoing.destroy())
      onward.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: ownPort } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${ownPort}`,
    seen,
    holdNext: (matches) =>
      new Promise((resolve) => {
        hold = { matches, resolve }
      }),
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
