import { type DispatchMode, dispatchModes } from './environment.js'

/**
 * A deployed delivery, as an output of its stack tells it: by this the command line finds what to work on, whatever a user
 * calls constructs, stacks and outputs.
 */
export interface DeployedDelivery {
  readonly busName: string
  readonly mode: DispatchMode
  readonly tableName: string
  readonly topicArn: string
  /** The queue of wake hints. @default none: dispatching is precise to the minute */
  readonly wakeQueueUrl?: string
  /** The queue of messages that no receiver takes. @default none: they are not looked for */
  readonly unroutedQueueUrl?: string
}

/** The first property of such an output, which no other has; its value is the version of the format. */
const MARK = 'postdate'
const VERSION = 1

/** What is written as JSON into the output. */
export const markDelivery = (delivery: DeployedDelivery): object => ({ [MARK]: VERSION, ...delivery })

/** Reads the value of an output of any stack; `undefined` for one that tells of no delivery. */
export const readDelivery = (value: string): DeployedDelivery | undefined => {
  if (!value.startsWith(`{"${MARK}":${VERSION},`)) return undefined
  const { busName, mode, tableName, topicArn, wakeQueueUrl, unroutedQueueUrl } = JSON.parse(value) as DeployedDelivery
  if (!dispatchModes.includes(mode)) return undefined
  return {
    ...{ busName, mode, tableName, topicArn },
    ...(wakeQueueUrl !== undefined && { wakeQueueUrl }),
    ...(unroutedQueueUrl !== undefined && { unroutedQueueUrl }),
  }
}
