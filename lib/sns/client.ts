import { SNSClient, type SNSClientConfig } from '@aws-sdk/client-sns'

/**
 * Takes the SDK's recursion detection out of a client. Lambda cuts loops of SQS, SNS and Lambda after 16 rounds by the
 * lineage in the trace header; a message that was delayed starts a chain of its own, so its publish must not carry the
 * lineage of the dispatcher.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const dropLineage = (client: SNSClient): SNSClient => {
  client.middlewareStack.remove('recursionDetectionMiddleware')
  return client
}

/**
 * Makes the client that dispatching needs: one attempt, since a retry has to look at lease and clock first; a time-out
 * that ends the call; sockets kept open; no lineage of the calling Lambda.
 *
 * `requestTimeout` alone only logs a warning and lets the call go on: a limit of 1,000 ms was seen to end after 4,039 ms.
 */
export const createSnsClient = (publishTimeoutMs: number, config: SNSClientConfig = {}): SNSClient =>
  dropLineage(
    new SNSClient({
      maxAttempts: 1,
      requestHandler: { requestTimeout: publishTimeoutMs, throwOnRequestTimeout: true },
      ...config,
    }),
  )
