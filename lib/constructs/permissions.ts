import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'

/** What may be done with the items of some partitions of the table. */
export interface TablePermission {
  readonly actions: readonly string[]
  /** Partition keys, `*` for the rest of one. */
  readonly partitions: readonly string[]
}

const DUE = 'due#*'
const BODY = 'body#*'
const DEAD = 'dead#*'
const CONTROL = 'control'
const INBOX = 'inbox#*'
const MOVED = 'moved#*'
const KEY = 'key#*'

/** A sender stores rows and bodies that are not there yet. It changes and removes none. */
export const senderPermissions: readonly TablePermission[] = [
  { actions: ['dynamodb:PartiQLInsert'], partitions: [DUE, BODY] },
  // A key that is taken is looked at; the shard counts are read.
  { actions: ['dynamodb:BatchGetItem', 'dynamodb:GetItem'], partitions: [DUE, BODY, CONTROL] },
]

/** Whoever meets a move that broke off finishes it: the new row, the old one, the note of its place, the alias of its key. */
const finishingMoves: readonly TablePermission[] = [
  { actions: ['dynamodb:GetItem'], partitions: [DUE, DEAD, KEY] },
  { actions: ['dynamodb:UpdateItem'], partitions: [DUE, MOVED] },
  { actions: ['dynamodb:PartiQLUpdate'], partitions: [DUE, KEY] },
  { actions: ['dynamodb:PartiQLDelete'], partitions: [DUE, DEAD] },
  { actions: ['dynamodb:PutItem'], partitions: [KEY] },
]

/**
 * A recall withdraws a row, alive or dead, wherever it was moved, leaves a tombstone where none is, and removes the body. A
 * reschedule also stores a body for a row that grows too thick, and lets body and alias stay longer.
 */
export const recallPermissions: readonly TablePermission[] = [
  ...finishingMoves,
  { actions: ['dynamodb:GetItem'], partitions: [MOVED] },
  { actions: ['dynamodb:UpdateItem'], partitions: [DEAD, BODY, KEY] },
  { actions: ['dynamodb:PartiQLInsert'], partitions: [BODY] },
  { actions: ['dynamodb:PutItem'], partitions: [DUE] },
  { actions: ['dynamodb:DeleteItem'], partitions: [DUE, BODY] },
]

/**
 * What an operator needs besides recalling: lists what waits and what is dead, looks into messages, puts back, purges, pauses.
 */
export const managePermissions: readonly TablePermission[] = [
  ...recallPermissions,
  { actions: ['dynamodb:Query'], partitions: [DUE, DEAD] },
  { actions: ['dynamodb:BatchGetItem'], partitions: [BODY] },
  // A death that broke off is finished before its row is put back.
  { actions: ['dynamodb:PutItem'], partitions: [DEAD] },
  { actions: ['dynamodb:DeleteItem'], partitions: [DEAD] },
  // The shard counts, and the pause.
  { actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], partitions: [CONTROL] },
]

/** An inbox notes what is being handled and was, and looks it up. */
export const inboxPermissions: readonly TablePermission[] = [
  {
    actions: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    partitions: [INBOX],
  },
]

/** Claims, settles, gives back, gives up. */
const dispatching: readonly TablePermission[] = [
  ...finishingMoves,
  { actions: ['dynamodb:Query'], partitions: [DUE] },
  { actions: ['dynamodb:BatchGetItem', 'dynamodb:DeleteItem'], partitions: [DUE, BODY] },
  { actions: ['dynamodb:UpdateItem'], partitions: [BODY] },
  { actions: ['dynamodb:PutItem'], partitions: [DEAD] },
]

/** The dispatcher also keeps the worker lease, and counts the dead. */
export const dispatcherPermissions: readonly TablePermission[] = [
  ...dispatching,
  { actions: ['dynamodb:GetItem'], partitions: [CONTROL] },
  // The worker lease, and the count of shards that are read.
  { actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem'], partitions: [CONTROL] },
  { actions: ['dynamodb:Query'], partitions: [DEAD] },
]

/** The waker reads the worker lease and never writes it. */
export const wakerPermissions: readonly TablePermission[] = [
  ...dispatching,
  { actions: ['dynamodb:GetItem'], partitions: [CONTROL] },
]

/**
 * Grants permissions on a table, limited to partitions by the condition key that PartiQL and the classic operations share.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
export const grantTable = (grantee: IGrantable, tableArn: string, permissions: readonly TablePermission[]): Grant =>
  permissions
    .map(({ actions, partitions }) =>
      Grant.addToPrincipal({
        grantee,
        actions: [...actions],
        resourceArns: [tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] } },
      }),
    )
    .reduce((all, grant) => all.combine(grant))

/** Grants one action or more on one resource. */
export const grantOn = (grantee: IGrantable, resourceArn: string, ...actions: readonly string[]): Grant =>
  Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [resourceArn] })

/** Makes one grant of several. */
export const combineGrants = (first: Grant, ...others: readonly Grant[]): Grant =>
  others.reduce((all, grant) => all.combine(grant), first)
