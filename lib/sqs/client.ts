import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'

/** The region in the URL of a queue on AWS; other URLs tell none. */
const QUEUE_URL_REGION = /^https:\/\/(?:sqs\.([\w-]+)|([\w-]+)\.queue)\.amazonaws\.com/

/**
 * Whether the environment names an endpoint. The SDK would prefer the host in the queue's URL to it, and that of an
 * emulator does not resolve.
 */
const environmentNamesEndpoint = (): boolean =>
  process.env.AWS_ENDPOINT_URL_SQS !== undefined || process.env.AWS_ENDPOINT_URL !== undefined

/**
 * Makes a client for one queue: of the queue's region, with a time-out that ends the call instead of warning only, and
 * with the endpoint of the environment where there is one.
 * @param requestTimeoutMs how long one attempt may wait for the answer to begin.
 */
export const createSqsClient = (
  queueUrl: string,
  requestTimeoutMs: number,
  config: SQSClientConfig = {},
): SQSClient => {
  const [, modern, legacy] = QUEUE_URL_REGION.exec(queueUrl) ?? []
  const region = modern ?? legacy
  return new SQSClient({
    requestHandler: { requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true },
    ...(region !== undefined && { region }),
    ...(environmentNamesEndpoint() && { useQueueUrlAsEndpoint: false }),
    ...config,
  })
}

/** The name in a queue's URL. */
export const queueNameOf = (queueUrl: string): string => queueUrl.slice(queueUrl.lastIndexOf('/') + 1)
