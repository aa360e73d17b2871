import type { JsonObject } from '../assembly/template.js'

/** A policy document of IAM, as the template holds it. */
export type PolicyDocument = JsonObject

/** A policy and where it comes from. */
export interface NamedPolicy {
  readonly name: string
  readonly document: PolicyDocument
}

/** A role with all its policies. */
export interface Role {
  readonly arn: string
  readonly name: string
  readonly path: string
  /** Who may take the role. */
  readonly trust: PolicyDocument
  readonly policies: readonly NamedPolicy[]
}

/** One question to IAM: may someone do this to that? */
export interface Access {
  /** Such as `sqs:SendMessage`. */
  readonly action: string
  /** The resource's ARN. */
  readonly resource: string
  /** Condition keys that the request sets, such as `dynamodb:LeadingKeys`. */
  readonly context?: Readonly<Record<string, string | readonly string[]>>
}

/** The statements of several documents as one document; `undefined` when there are none. */
export const joinDocuments = (documents: readonly PolicyDocument[]): PolicyDocument | undefined => {
  const statements = documents.flatMap(({ Statement: statement }) =>
    Array.isArray(statement) ? statement : [statement],
  )
  return statements.length === 0 ? undefined : { Version: '2012-10-17', Statement: statements as unknown[] }
}

/** A refused call. */
export interface Denial {
  readonly action: string
  readonly resource: string
  /** As AWS words it. */
  readonly message: string
}
