import type { AccessCheck } from '../access/check-access.js'
import type { DeployedAssembly } from '../deploy/deploy-assembly.js'
import { readAsynchronousSettings } from '../events/asynchronous-settings.js'
import { type AsynchronousInvoker, makeAsynchronousInvoker } from '../events/invoke-asynchronously.js'
import { recordEmbedded } from '../metrics/record-embedded.js'
import type { MetricRecorder } from '../metrics/record-metrics.js'
import type { Caller } from '../proxy/caller.js'
import type { FunctionDefinition } from './function-definition.js'
import { type FunctionPool, makeFunctionPool } from './function-pool.js'
import type { Invocation } from './invocation.js'
import type { RuntimeApi } from './runtime-api.js'

/** A function with all that runs it. */
export interface RunningFunction {
  readonly definition: FunctionDefinition
  readonly accessKeyId: string
  readonly caller: Caller
  readonly pool: FunctionPool
  readonly asynchronous: AsynchronousInvoker
}

/** What functions run in. */
export interface FunctionStage {
  readonly deployed: DeployedAssembly
  readonly runtimeApi: RuntimeApi
  readonly region: string
  /** Where the services answer. */
  readonly endpoint: string
  readonly metrics: MetricRecorder
  readonly onLine: (line: string) => void
  readonly onInvocation: (invocation: Invocation, definition: FunctionDefinition) => void
}

/** An access key that tells whose it is, also to people: 20 capitals and digits, as AWS's. */
const accessKeyFor = ({ logicalId }: FunctionDefinition, place: number): string =>
  `L${String(place).padStart(3, '0')}${logicalId.toUpperCase().replace(/[^A-Z0-9]/g, '')}`.padEnd(20, '0').slice(0, 20)

const callerFor = ({ path, roleArn, name }: FunctionDefinition, access: AccessCheck): Caller => ({
  path: path.replace(/\/Resource$/, ''),
  deny: (asked) => access.asRole(roleArn, name, asked),
})

/** Makes the functions of an app ready; their processes start when they are invoked. */
export const runFunctions = (stage: FunctionStage): readonly RunningFunction[] => {
  const { deployed, runtimeApi, region, endpoint, metrics, onLine, onInvocation } = stage
  const { functions, resources, queues, client, access } = deployed
  return functions.map((definition, place) => {
    const accessKeyId = accessKeyFor(definition, place)
    const pool = makeFunctionPool(definition, { region, endpoint, accessKeyId }, runtimeApi, {
      onInvocation: (invocation) => onInvocation(invocation, definition),
      onLogLine: (line) => recordEmbedded(line, metrics),
    })
    const settings = readAsynchronousSettings(definition, resources)
    return {
      definition,
      accessKeyId,
      caller: callerFor(definition, access),
      pool,
      asynchronous: makeAsynchronousInvoker({ pool, settings, queues, client, access, metrics, onLine }),
    }
  })
}
