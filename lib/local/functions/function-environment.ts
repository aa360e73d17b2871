import type { FunctionDefinition } from './function-definition.js'

/** What the environment of a function needs to know of the cloud. */
export interface FunctionSurroundings {
  readonly region: string
  /** Where the services answer. */
  readonly endpoint: string
  readonly accessKeyId: string
}

/** The services whose clients are led to the local cloud. */
const services = ['DYNAMODB', 'SNS', 'SQS', 'SCHEDULER', 'LAMBDA']

/**
 * The environment variables of a function's process: what Lambda sets, the endpoints of the local cloud, and the
 * template's own, which win.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export const makeEnvironment = (
  definition: FunctionDefinition,
  { region, endpoint, accessKeyId }: FunctionSurroundings,
  runtimeApi: string,
  stream: string,
): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
  AWS_EXECUTION_ENV: `AWS_Lambda_${definition.runtime}`,
  AWS_LAMBDA_FUNCTION_NAME: definition.name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: stream,
  AWS_LAMBDA_RUNTIME_API: runtimeApi,
  LAMBDA_TASK_ROOT: definition.folder,
  _HANDLER: definition.handler,
  // The machine may have an older Node than the template's runtime; the SDK would say so in every log.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  ...Object.fromEntries(services.map((service) => [`AWS_ENDPOINT_URL_${service}`, endpoint])),
  ...definition.environment,
})
