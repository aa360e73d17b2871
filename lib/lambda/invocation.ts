/**
 * The context of an invocation, as Lambda gives it; the `Context` of `@types/aws-lambda` is the same. Declared here, so
 * that nobody needs those types to use this package.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-context.html
 */
export interface InvocationContext {
  callbackWaitsForEmptyEventLoop: boolean
  functionName: string
  functionVersion: string
  invokedFunctionArn: string
  memoryLimitInMB: string
  awsRequestId: string
  logGroupName: string
  logStreamName: string
  getRemainingTimeInMillis(): number
  /** Of the callback style, which nobody should use any more. */
  done(error?: Error, result?: unknown): void
  /** Of the callback style. */
  fail(error: Error | string): void
  /** Of the callback style. */
  succeed(messageOrObject: unknown): void
}

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Whether this code runs in AWS Lambda. @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
export const isInLambda = (environment: Environment): boolean => environment.AWS_LAMBDA_FUNCTION_NAME !== undefined
