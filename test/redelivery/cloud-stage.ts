import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { build } from 'esbuild'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { MessageReceiver } from '../../lib/constructs/message-receiver.js'
import type { Message, Receipt, SendOptions } from '../../lib/index.js'
import { startLocalCloud } from '../../lib/local/start-local-cloud.js'
import type { LocalCloud } from '../../lib/local.js'

/** A receiver of the app: its function behaves as `functions/behaviours.ts` says. */
export interface CloudReceiver {
  readonly name: string
  readonly behaviour: string
  /** @default its own message */
  readonly messages?: readonly string[]
  readonly inbox?: boolean
}

/** What a function wrote of one run of a handler. */
export interface Told {
  readonly what: string
  readonly receiver: string
  readonly messageId: string
  readonly attempt: number
  /** What it waited for; absent at the first attempt, which was sent at once. */
  readonly dueAt?: number
  readonly at: number
  readonly of?: string
}

/** An app with these receivers on a local cloud. */
export interface CloudStage {
  readonly cloud: LocalCloud
  readonly lines: string[]
  readonly tableName: string
  /** Sends through a function of the app. */
  send(message: Message, options?: SendOptions): Promise<Receipt>
  /** What the functions of a receiver have told until now, in order. */
  told(receiver: string): readonly Told[]
  /** The address of a receiver's dead-letter queue. */
  deadLetters(receiver: string): string
  stop(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT = Duration.seconds(3)

/** The assets of the constructs, of the sources as they are now. */
const bundleConstructs = (): void => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'bin/bundle.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`bundling failed:\n${stderr}`)
}

const bundle = async (room: string, name: string): Promise<string> => {
  const folder = join(room, name)
  mkdirSync(folder, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: [`test/redelivery/functions/${name}.ts`],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  })
  return folder
}

const pascal = (name: string): string => name.replace(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase())

const synthesize = async (room: string, receivers: readonly CloudReceiver[]): Promise<string> => {
  const [behaviours, sender] = await Promise.all([bundle(room, 'behaviours'), bundle(room, 'sender')])
  const outdir = join(room, 'cdk.out')
  const app = new App({ outdir, analyticsReporting: false, context: { 'aws:cdk:disable-creation-stack-traces': true } })
  const stack = new Stack(app, 'Test')
  const delivery = new DelayedDelivery(stack, 'Delivery', {
    busName: 'test',
    removalPolicy: RemovalPolicy.DESTROY,
    alarms: false,
  })
  const createFunction = (id: string, folder: string, environment: Record<string, string> = {}) =>
    new LambdaFunction(stack, id, {
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromAsset(folder),
      timeout: id === 'Sender' ? Duration.seconds(10) : TIMEOUT,
      environment,
    })
  delivery.connect(createFunction('Sender', sender))
  for (const { name, behaviour, messages = [`test/${name}`], inbox = false } of receivers) {
    const handler = createFunction(`${pascal(name)}Function`, behaviours, {
      BEHAVIOUR: behaviour,
      RECEIVER: name,
      MARKER: join(room, `${name}-has-died`),
      INBOX: String(inbox),
    })
    if (inbox) delivery.grantInbox(handler)
    // Shorter than the default of six times, so that records of a dead process come again soon.
    const receiver = new MessageReceiver(stack, pascal(name), {
      delivery,
      name,
      handler,
      messages,
      visibilityTimeout: Duration.seconds(6),
      maxReceiveCount: 20,
      alarms: false,
    })
    new CfnOutput(stack, `DeadLetters${pascal(name).replace(/\W/g, '')}`, { value: receiver.deadLetterQueue.queueName })
  }
  new CfnOutput(stack, 'TableName', { value: delivery.table.tableName })
  app.synth({ validateOnSynthesis: false })
  return outdir
}

const readTold = (line: string): readonly Told[] => {
  if (!line.startsWith('{"what":')) return []
  return [JSON.parse(line) as Told]
}

/** Synthesizes an app with these receivers, and starts it on a local cloud; a minute of its schedule takes a second. */
export const startCloudStage = async (receivers: readonly CloudReceiver[]): Promise<CloudStage> => {
  process.env.CDK_VALIDATION = 'false'
  const room = mkdtempSync(join(tmpdir(), 'redelivery-'))
  const lines: string[] = []
  try {
    bundleConstructs()
    const assembly = await synthesize(room, receivers)
    const cloud = await startLocalCloud({ assembly, scheduleSpeed: 60, onLine: (line) => lines.push(line) })
    const outputs = cloud.outputs.Test ?? {}
    return {
      cloud,
      lines,
      tableName: outputs.TableName ?? '',
      send: async (message, options = {}) => {
        const { outcome, payload, error } = await cloud.invoke('Test/Sender', { message, options })
        if (outcome !== 'ok') throw Object.assign(new Error(error?.errorMessage ?? outcome), { lines })
        return payload as Receipt
      },
      told: (receiver) =>
        cloud
          .invocations(`Test/${pascal(receiver)}Function`)
          .flatMap(({ logs }) => logs)
          .flatMap(readTold),
      deadLetters: (receiver) => cloud.queueUrl(outputs[`DeadLetters${pascal(receiver)}`] ?? ''),
      stop: async () => {
        await cloud.stop()
        rmSync(room, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(room, { recursive: true, force: true })
    throw error
  }
}
