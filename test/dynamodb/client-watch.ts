import type { BatchStatementResponse, DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** A request that a client is about to send. */
export interface Call {
  /** The command's name, e.g. `QueryCommand`. */
  readonly command: string
  readonly input: Readonly<Record<string, unknown>>
  /** Counts the calls of this client from 1; an attempt that the SDK makes again counts too where attempts are watched. */
  readonly nth: number
}

/** What is done to a call. */
export type Treatment =
  /** It goes through. */
  | undefined
  /** It never reaches the store. */
  | { readonly refuse: Error }
  /** The store carries it out, and its answer is lost. */
  | { readonly lose: Error }
  /** Something is done before it goes through. */
  | { readonly before: () => Promise<void> }
  /** Something is done after the store carried it out, before the caller learns of it. */
  | { readonly after: () => Promise<void> }
  /** These statements of a batch are not carried out, and answered with this error. */
  | { readonly failStatements: readonly number[]; readonly code: string }

type Response = { response: unknown; output: Record<string, unknown> }

const statementsOf = (input: Readonly<Record<string, unknown>>) => (input.Statements ?? []) as readonly unknown[]

/**
 * Puts faults between the SDK and the store: seen by the caller of the client (`calls`), or by each attempt of the SDK, whose
 * own retry then goes on (`attempts`).
 */
export const watchClient = (
  client: DynamoDBClient,
  treat: (call: Call) => Treatment,
  level: 'calls' | 'attempts' = 'calls',
): void => {
  let nth = 0
  const carryOut = async (input: object, command: string, next: (input: object) => Promise<Response>) => {
    const treatment = treat({ command, input: input as Record<string, unknown>, nth: ++nth })
    if (treatment === undefined) return next(input)
    if ('refuse' in treatment) throw treatment.refuse
    if ('before' in treatment) await treatment.before()
    if ('failStatements' in treatment) return failSome(input as Record<string, unknown>, treatment, next)
    const answer = await next(input)
    if ('lose' in treatment) throw treatment.lose
    if ('after' in treatment) await treatment.after()
    return answer
  }
  if (level === 'calls')
    client.middlewareStack.add(
      (next, context) => async (args) =>
        (await carryOut(args.input, String(context.commandName), async (input) => {
          const answer = await next({ ...args, input: input as typeof args.input })
          return answer as unknown as Response
        })) as never,
      { step: 'initialize', priority: 'high' },
    )
  else
    client.middlewareStack.add(
      (next, context) => async (args) =>
        (await carryOut(
          args.input,
          String(context.commandName),
          async () => (await next(args)) as unknown as Response,
        )) as never,
      { step: 'finalizeRequest', priority: 'low' },
    )
}

const failSome = async (
  input: Readonly<Record<string, unknown>>,
  { failStatements, code }: Extract<Treatment, { readonly code: string }>,
  next: (input: object) => Promise<Response>,
): Promise<Response> => {
  const statements = statementsOf(input)
  const passed = statements.filter((_, index) => !failStatements.includes(index))
  const answer: Response =
    passed.length === 0
      ? { response: {}, output: { Responses: [], $metadata: { attempts: 1 } } }
      : await next({ ...input, Statements: passed })
  const real = (answer.output.Responses as BatchStatementResponse[]).values()
  const Responses = statements.map((_, index) =>
    failStatements.includes(index) ? { Error: { Code: code, Message: 'injected' } } : real.next().value,
  )
  return { ...answer, output: { ...answer.output, Responses } }
}

/** An error as the SDK raises it. */
export const sdkError = (name: string, message = 'injected'): Error =>
  Object.assign(new Error(message), { name, $metadata: { attempts: 1 } })

/** A time-out as the SDK raises it; its own retry goes on after one. */
export const timeOut = (): Error => sdkError('TimeoutError', 'the connection timed out')

/** Capacity units that a client's requests consumed. */
export interface Consumption {
  read: number
  written: number
}

const READS = ['QueryCommand', 'GetItemCommand', 'BatchGetItemCommand', 'ScanCommand']

/** Counts the capacity units that the store reports for a client's requests from now on. */
export const meterClient = (client: DynamoDBClient): Consumption => {
  const consumption: Consumption = { read: 0, written: 0 }
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
      const output = answer.output as { readonly ConsumedCapacity?: unknown }
      const units = [output.ConsumedCapacity ?? []]
        .flat()
        .reduce<number>((sum, one) => sum + ((one as { CapacityUnits?: number }).CapacityUnits ?? 0), 0)
      if (READS.includes(String(context.commandName))) consumption.read += units
      else consumption.written += units
      return answer
    },
    { step: 'initialize' },
  )
  return consumption
}
