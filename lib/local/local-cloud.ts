import type { Denial } from './access/policy.js'
import type { Invocation } from './functions/invocation.js'
import type { AlarmReport } from './metrics/read-alarms.js'
import type { MetricSample } from './metrics/record-metrics.js'

/** How to start a local cloud. */
export interface LocalCloudOptions {
  /** The folder of the cloud assembly. @default 'cdk.out' */
  readonly assembly?: string
  /** How much faster than the wall the rates of schedules run: at 60, a minute is a second. @default 1 */
  readonly scheduleSpeed?: number
  /** The region of stacks that fix none. @default 'us-east-1' */
  readonly region?: string
  /** Whether the lines of functions' logs are among the lines. @default true */
  readonly log?: boolean
  /** Gets what happens, line by line. @default console.log */
  readonly onLine?: (line: string) => void
  /** Which emulator of DynamoDB to insist on. @default dynoxide where the platform has it, else dynalite */
  readonly dynamodb?: 'dynoxide' | 'dynalite'
}

/** A refused call of a function. */
export interface DeniedCall extends Denial {
  /** The construct path of the function. */
  readonly path: string
}

/**
 * A cloud on this machine that runs a synthesized app unchanged. Functions and queues are named by logical id, construct
 * path (with or without the stack), physical name or ARN.
 */
export interface LocalCloud {
  /** Where DynamoDB, SNS, SQS, the Scheduler and Lambda answer; any credentials do, and may do everything. */
  readonly endpoint: string
  /** The outputs, by stack and by name. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Calls a function and waits for it. Rejects for a function that does not exist, never for one that fails. */
  invoke(name: string, payload?: unknown): Promise<Invocation>
  /** Kills the live processes of a function, as a crash would; answers their ids. The next invocation starts another. */
  kill(name: string): readonly number[]
  /** The live processes of a function. */
  pids(name: string): readonly number[]
  /** The address of a queue. */
  queueUrl(name: string): string
  /** What has ended until now, oldest first. @param name of one function */
  invocations(name?: string): readonly Invocation[]
  /** What IAM has refused until now. */
  denials(): readonly DeniedCall[]
  /** What functions wrote in the Embedded Metric Format, what Lambda and SNS measure, and the queues as they are now. */
  metrics(): Promise<readonly MetricSample[]>
  /** The app's alarms, with what was measured of the metrics that they watch. */
  alarms(): Promise<readonly AlarmReport[]>
  /**
   * Ends all processes and emulators.
   * @throws LocalCloudError `call.unknown` when a function called what the local cloud does not know
   */
  stop(): Promise<void>
}
