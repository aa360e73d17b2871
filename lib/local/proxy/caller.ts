import type { Access, Denial } from '../access/policy.js'

/** Who calls a service: a function, by its credentials, or whoever runs the local cloud, who may do everything. */
export interface Caller {
  /** The construct path of the function; `undefined` for the operator. */
  readonly path: string | undefined
  /** What is denied to the caller; `undefined` when it is allowed. */
  deny(access: Access): Promise<Denial | undefined>
}

/** A call of a service. */
export interface Call {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  readonly caller: Caller
}

/** The operator: tests, and people at the command line. */
export const operator: Caller = { path: undefined, deny: async () => undefined }

/** The first denial among several accesses, in order. */
export const firstDenial = async (caller: Caller, accesses: readonly Access[]): Promise<Denial | undefined> => {
  for (const access of accesses) {
    const denial = await caller.deny(access)
    if (denial !== undefined) return denial
  }
  return undefined
}

/** The access key of a signed call. @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html */
export const accessKeyOf = (headers: Call['headers']): string | undefined =>
  /Credential=([^/,\s]+)\//.exec(String(headers.authorization ?? ''))?.[1]
