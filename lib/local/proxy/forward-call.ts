import { Agent, request } from 'node:http'
import type { Answer } from './answer.js'
import type { Call } from './caller.js'
import { readBody } from './read-body.js'

/** Sends calls on to an emulator. */
export type Forward = (call: Pick<Call, 'method' | 'url' | 'headers'>, body: Buffer | string) => Promise<Answer>

/** Headers of one connection, which do not travel further; the length is written anew. */
const ofConnection = ['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive']

const withoutConnection = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)))

/** Makes the way to an emulator. Connections are kept, since a run makes thousands of calls. */
export const forwardTo = (endpoint: string): { forward: Forward; close(): void } => {
  const agent = new Agent({ keepAlive: true })
  const forward: Forward = ({ method, url, headers }, body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        new URL(url, endpoint),
        { method, agent, headers: { ...withoutConnection(headers), 'content-length': Buffer.byteLength(body) } },
        (response) => {
          readBody(response).then(
            (received) =>
              resolve({
                status: response.statusCode ?? 502,
                headers: withoutConnection(response.headers),
                body: received,
              }),
            reject,
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  return { forward, close: () => agent.destroy() }
}
