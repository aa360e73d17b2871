import type { Emulator } from './emulator.js'

/**
 * Starts an emulator of SNS and SQS on a free port of loopback.
 *
 * Its queue URLs have a host that does not resolve: give SQS clients `useQueueUrlAsEndpoint: false`.
 */
export const startMessaging = async (): Promise<Emulator> => {
  const { buildApp } = await import('fauxqs')
  const app = buildApp({ logger: false })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    kind: 'fauxqs',
    endpoint,
    stop: async () => {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}
