/** The environment variables by which constructs tell a function what it is connected to. Nobody types them by hand. */
export const environmentVariables = {
  /** The bus's name. */
  busName: 'POSTDATE_BUS_NAME',
  /** The name of the table that keeps its delayed messages. */
  tableName: 'POSTDATE_TABLE_NAME',
  /** The ARN of its topic. */
  topicArn: 'POSTDATE_TOPIC_ARN',
  /** The URL of the queue of wake hints; absent when dispatching is precise to the minute only. */
  wakeQueueUrl: 'POSTDATE_WAKE_QUEUE_URL',
  /** How many slices senders spread the rows over; absent for the default. */
  writeShards: 'POSTDATE_WRITE_SHARDS',
  /** How the dispatcher works: `second` or `minute`. Set on the dispatcher alone. */
  mode: 'POSTDATE_MODE',
  /** The name of the receiver whose queue a function reads. */
  receiverName: 'POSTDATE_RECEIVER_NAME',
  /** The message names that this queue is subscribed to; see `formatNames`. */
  subscribedNames: 'POSTDATE_SUBSCRIBED_NAMES',
  /** The URL of that queue's dead-letter queue, to which a receiver sends what it gives up on. */
  deadLetterQueueUrl: 'POSTDATE_DEAD_LETTER_QUEUE_URL',
} as const

/** How a scheduled dispatcher works: `second` stays while anything is near, `minute` drains what is due and leaves. */
export type DispatchMode = 'second' | 'minute'

/** The modes that there are. */
export const dispatchModes: readonly DispatchMode[] = ['second', 'minute']

/** SHA-256 of a text in hexadecimal digits; each side brings its own. */
export type HashText = (text: string) => string

/**
 * All variables of a function together may have 4 KB, and a subscription 150 names of 256 characters. Longer lists than
 * this are written as hashes.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const LONGEST_LIST = 2_048
const HASHED = 'sha256:'
const HASH_DIGITS = 12

const hashName = (name: string, hash: HashText): string => hash(name).slice(0, HASH_DIGITS)

/** Writes message names for an environment variable. Names hold no comma. */
export const formatNames = (names: readonly string[], hash: HashText): string => {
  const sorted = [...names].sort()
  const plain = sorted.join(',')
  return plain.length <= LONGEST_LIST ? plain : HASHED + sorted.map((name) => hashName(name, hash)).join(',')
}

/** How the names in an environment variable differ from those that code knows. */
export interface NameDifference {
  /** In the variable only; a name that was hashed is `sha256:` and its digits. */
  readonly onlyListed: readonly string[]
  /** In the code only. */
  readonly onlyKnown: readonly string[]
}

/** Compares the names that `formatNames` wrote with those that code knows. */
export const compareNames = (written: string, known: readonly string[], hash: HashText): NameDifference => {
  const isHashed = written.startsWith(HASHED)
  const listed = (isHashed ? written.slice(HASHED.length) : written).split(',').filter((name) => name !== '')
  const keyOf = (name: string) => (isHashed ? hashName(name, hash) : name)
  const knownKeys = new Set(known.map(keyOf))
  return {
    onlyListed: listed.filter((name) => !knownKeys.has(name)).map((name) => (isHashed ? HASHED + name : name)),
    onlyKnown: known.filter((name) => !listed.includes(keyOf(name))).sort(),
  }
}
