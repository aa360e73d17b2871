import { createServer } from 'node:net'

/** A running emulator on loopback. */
export interface Emulator {
  /** What it is, e.g. `dynoxide`. */
  readonly kind: string
  /** Where clients reach it. */
  readonly endpoint: string
  /** Ends it; what it held is gone. */
  stop(): Promise<void>
}

/** A port of loopback that nothing listens on at this moment. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port is free')),
      )
    })
  })
