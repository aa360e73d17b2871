import type { IncomingMessage } from 'node:http'

/** The whole body of a request or a response. @throws Error when the other side breaks off */
export const readBody = (message: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => resolve(Buffer.concat(chunks)))
    message.on('error', reject)
    message.on('close', () => reject(new Error('the connection broke off in mid-body')))
  })
