// What a Lambda execution environment runs: loads the handler from the asset's folder, then takes invocations from the
// Runtime API, one at a time, for ever. It is plain JavaScript without imports of ours, since it runs in a process of its own.
// See https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { AWS_LAMBDA_RUNTIME_API: api, LAMBDA_TASK_ROOT: root, _HANDLER: handlerName } = process.env
const agent = new Agent({ keepAlive: true })

/** A call of the Runtime API. node:http, since fetch would give up on an idle function after five minutes. */
const call = (method, path, body) =>
  new Promise((resolve, reject) => {
    const sent = request(`http://${api}/2018-06-01/runtime/${path}`, { method, agent }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })

const describeError = (error) =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') }
    : { errorType: typeof error, errorMessage: String(error), trace: [] }

const loadHandler = async () => {
  const dot = handlerName.lastIndexOf('.')
  const file = join(root, handlerName.slice(0, dot))
  const found = ['.mjs', '.js', '.cjs'].map((extension) => file + extension).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`Cannot find module '${file}'`)
  const loaded = await import(pathToFileURL(found).href)
  const name = handlerName.slice(dot + 1)
  const handler = loaded[name] ?? loaded.default?.[name]
  if (typeof handler !== 'function') throw new Error(`${handlerName} is undefined or not a function`)
  return handler
}

const makeContext = (headers) => {
  const deadline = Number(headers['lambda-runtime-deadline-ms'])
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  }
}

/** Both streams of the log end an invocation with this, so that the other side knows whose lines are whose. */
const markEnd = (requestId) => {
  process.stdout.write(`\u001e${requestId}\n`)
  process.stderr.write(`\u001e${requestId}\n`)
}

const handle = async (handler, { headers, text }) => {
  const requestId = headers['lambda-runtime-aws-request-id']
  process.env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id']
  try {
    const result = (await handler(JSON.parse(text), makeContext(headers))) ?? null
    const body = JSON.stringify(result)
    markEnd(requestId)
    await call('POST', `invocation/${requestId}/response`, body)
  } catch (error) {
    const described = describeError(error)
    console.error(`Invoke Error ${JSON.stringify(described)}`)
    markEnd(requestId)
    await call('POST', `invocation/${requestId}/error`, JSON.stringify(described))
  }
}

/** The cloud is gone, or has no more use for this process. */
const leave = () => process.exit(0)

let handler
try {
  handler = await loadHandler()
} catch (error) {
  console.error(`Init Error ${JSON.stringify(describeError(error))}`)
  await call('POST', 'init/error', JSON.stringify(describeError(error))).catch(leave)
  process.exit(1)
}
for (;;) {
  const invocation = await call('GET', 'invocation/next').catch(leave)
  await handle(handler, invocation).catch(leave)
}
