import type { Denial } from '../access/policy.js'
import type { Answer } from './answer.js'
import type { Call } from './caller.js'

/** A service of AWS, as the proxy answers for it. */
export interface Service {
  /** Answers a call; `undefined` for an operation that the local cloud does not know. */
  handle(call: Call): Promise<Answer | undefined>
}

/** What the proxy tells the cloud. */
export interface ProxyEvents {
  /** A call was refused by IAM. */
  onDenial(path: string, denial: Denial): void
  /** A function called what the local cloud does not know: the run is not to be trusted. */
  onUnknown(path: string, operation: string): void
}

/** The name of an operation in the JSON protocols. */
export const targetOf = (call: Pick<Call, 'headers'>): string =>
  String(call.headers['x-amz-target'] ?? '').split('.')[1] ?? ''
